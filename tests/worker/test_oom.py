"""Whether the kernel killed for want of memory, by the count of the memory cgroup."""

import pytest

from django_jobqueue.worker.fate import cause
from django_jobqueue.worker.oom import FORGET_SECONDS, OutOfMemory

VERSION_1 = ("9:name=systemd:/\n4:cpu,memory:/here\n", "memory/here/memory.oom_control", "under_oom 0\noom_kill {}\n")
VERSION_2 = ("0::/here\n", "here/memory.events", "low 0\noom 7\noom_kill {}\n")
OF_A_CONTAINER = ("4:memory:/docker/0123\n", "memory/memory.oom_control", "oom_kill_disable 0\noom_kill {}\n")


class Cgroup:
    """A cgroup that counts as it is told."""

    def __init__(self, folder, membership, file, text):
        (folder / "membership").write_text(membership)
        self.membership, self.root = folder / "membership", folder
        self._file, self._text = folder / file, text
        self._file.parent.mkdir(parents=True)

    def count(self, kills):
        self._file.write_text(self._text.format(kills))


@pytest.fixture(params=[VERSION_1, VERSION_2, OF_A_CONTAINER], ids=["version_1", "version_2", "container"])
def cgroup(request, tmp_path):
    """A cgroup of either version; it has seen two kills."""
    cgroup = Cgroup(tmp_path, *request.param)
    cgroup.count(2)
    return cgroup


def test_each_kill_explains_one_death(cgroup):
    """What was counted before the worker started explains nothing; each one after that, one death."""
    oom = OutOfMemory(cgroup.membership, cgroup.root)
    assert not oom.explains_a_death()
    cgroup.count(4)

    assert [oom.explains_a_death() for _ in range(3)] == [True, True, False]


def test_a_kill_that_hit_somebody_else_is_forgotten(cgroup):
    """Kills that were seen long before explain no later death."""
    oom = OutOfMemory(cgroup.membership, cgroup.root)
    cgroup.count(3)
    for seconds in (1, 2):
        oom.forget(1000.0 + seconds * FORGET_SECONDS)

    assert not oom.explains_a_death()


def test_a_kill_waits_for_the_death_that_it_explains(cgroup):
    """Two runners are killed, and one takes its time to end: that the other is replaced before makes no difference."""
    oom = OutOfMemory(cgroup.membership, cgroup.root)
    cgroup.count(4)
    assert oom.explains_a_death()
    for seconds in (0, 1, 2):
        oom.forget(1000.0 + seconds)

    assert oom.explains_a_death()
    assert not oom.explains_a_death()


def test_only_a_sigkill_is_put_down_to_memory(cgroup):
    """A segmentation fault has its own cause, and leaves the kill to be explained by another death."""
    oom = OutOfMemory(cgroup.membership, cgroup.root)
    cgroup.count(3)

    assert cause(-11, oom) == "signal 11 (SIGSEGV)"
    assert cause(-9, oom).startswith("signal 9 (SIGKILL), out of memory (OOM): ")
    assert cause(-9, oom) == "signal 9 (SIGKILL)"


def test_without_a_cgroup_nothing_is_known(tmp_path):
    """Where there is no such file, or no such system, a SIGKILL stays a SIGKILL."""
    oom = OutOfMemory(tmp_path / "nothing", tmp_path)

    assert cause(-9, oom) == "signal 9 (SIGKILL)"
