"""The death of a runner, however it comes, is on record; and what must not be the death of one is not."""

import psutil
import pytest

from django_jobqueue.models import Attempt
from tests.scenarios.cgroups import MemoryCgroup
from tests.scenarios.conftest import SECONDS, TERM
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]

DEATHS = {
    "SIGKILL": "signal 9 (SIGKILL)",
    "segfault": "signal 11 (SIGSEGV)",
    "abort": "signal 6 (SIGABRT)",
    "SIGILL": "signal 4 (SIGILL)",
    "0": "exit code 0",
    "3": "exit code 3",
}


def test_each_death_is_recorded_by_its_exit_code_or_signal(start_worker, job_is):
    """SIGKILL, segfault, abort, an illegal instruction and exits with any code: lost, charged, and no success."""
    worker = start_worker("--processes", "2")
    dead = {words: tasks.die.enqueue(how) for how, words in DEATHS.items()}
    others = [tasks.start.enqueue() for _ in range(10)]

    for words, result in dead.items():
        attempt = job_is(result, "FAILED").attempts.get()
        assert (attempt.outcome, attempt.charged) == ("lost", True)
        assert attempt.message == f"its process died: {words}"
        assert f"died: {words}; jobs in it: {result.id}\n" in worker.log
    for other in others:
        assert job_is(other, "SUCCESSFUL").failure_count == 0


def test_a_runner_that_the_kernel_killed_for_memory_is_recorded_as_that(start_worker, job_is):
    """In a memory cgroup with a limit the attempt's message names OOM, and the next job runs."""
    try:
        cgroup = MemoryCgroup(megabytes=400)
    except OSError as error:
        pytest.skip(f"no memory cgroup can be made: {error}")
    worker = start_worker("--processes", "1", under=cgroup.entrance)
    hungry = job_is(tasks.eat_memory.enqueue(2000), "FAILED")
    job_is(tasks.start.enqueue(), "SUCCESSFUL")
    killed = job_is(tasks.die.enqueue("SIGKILL"), "FAILED")

    assert "SIGKILL), out of memory (OOM)" in hungry.attempts.get().message
    assert hungry.attempts.get().outcome == "lost"
    assert "OOM" not in killed.attempts.get().message
    worker.send(TERM)
    assert worker.wait() == 0
    wait_until(cgroup.remove, seconds=SECONDS)


WANTS = {
    "memory": "builtins.MemoryError",
    "stack": "builtins.RecursionError",
    "descriptors": "builtins.OSError",
    "a process": "builtins.ChildProcessError",
    "a way out": "builtins.SystemExit",
    "a stop": "builtins.KeyboardInterrupt",
}


def test_what_a_job_lacks_is_a_failed_attempt_and_not_a_death(start_worker, job_is):
    """No memory, stack or descriptors left, a fork, sys.exit: each fails its own attempt, and its runner lives on."""
    worker = start_worker("--processes", "1")
    before = job_is(tasks.tell_its_process.enqueue(), "SUCCESSFUL").result
    results = {exception_class: tasks.fail_for_want.enqueue(of) for of, exception_class in WANTS.items()}
    for exception_class, result in results.items():
        attempt = job_is(result, "FAILED").attempts.get()
        assert (attempt.outcome, attempt.exception_class) == ("failed", exception_class)
    after = job_is(tasks.tell_its_process.enqueue(), "SUCCESSFUL").result

    assert before == after
    assert "died" not in worker.log


def test_a_job_that_keeps_every_descriptor_spoils_no_other_job(start_worker, job_is):
    """A process that has none left can run nothing: it is replaced, and the jobs behind the guilty one succeed."""
    worker = start_worker("--processes", "1", "--threads", "2")
    job_is(tasks.start.enqueue(), "SUCCESSFUL")
    neighbour = tasks.nap.enqueue(1)
    guilty = tasks.leak_descriptors.enqueue()
    others = [tasks.start.enqueue() for _ in range(5)]

    attempt = job_is(guilty, "FAILED").attempts.latest("number")
    assert (attempt.outcome, attempt.exception_class) == ("failed", "builtins.OSError")
    for result in [neighbour, *others]:
        assert job_is(result, "SUCCESSFUL").failure_count == 0
    assert "no file descriptor is left" in worker.log


def test_a_job_that_keeps_every_descriptor_and_succeeds_spoils_no_other_job(start_worker, job_is):
    """What it has kept is looked for after a success too: the next job has a process in which it can open a file."""
    worker = start_worker("--processes", "1")
    guilty = tasks.keep_every_descriptor.enqueue(0)
    others = [tasks.open_a_file.enqueue() for _ in range(5)]

    for result in [guilty, *others]:
        assert [attempt.outcome for attempt in job_is(result, "SUCCESSFUL").attempts.all()] == ["succeeded"]
    assert "no file descriptor is left" in worker.log


def test_a_job_beside_one_that_keeps_every_descriptor_is_not_charged(start_worker, job_is):
    """Who of two has kept them nobody can say: the one that fails is interrupted, and runs alone."""
    start_worker("--processes", "1", "--threads", "2")
    guilty = tasks.keep_every_descriptor.enqueue(3)
    wait_until(lambda: Trace.objects.filter(what="start").exists(), seconds=SECONDS)
    other = job_is(tasks.open_a_file.enqueue(), "SUCCESSFUL")

    assert list(other.attempts.order_by("number").values_list("outcome", "charged")) == [
        ("interrupted", False),
        ("succeeded", False),
    ]
    assert other.interruption_count == 0
    job_is(guilty, "SUCCESSFUL")


def test_an_interrupted_job_starts_again_also_with_one_attempt(start_worker, job_is):
    """max_attempts=1 bounds what is charged: a deploy interrupts the job, and another worker runs it again."""
    first = start_worker("--processes", "1", "--grace", "0")
    result = tasks.keep_the_gil.enqueue(2)
    wait_until(lambda: Trace.objects.filter(what="start").exists(), seconds=SECONDS)
    first.send(TERM)
    assert first.wait() == 0
    start_worker("--processes", "1")
    job = job_is(result, "SUCCESSFUL")

    assert list(job.attempts.order_by("number").values_list("outcome", "charged")) == [
        ("interrupted", False),
        ("succeeded", False),
    ]
    assert not Attempt.objects.filter(charged=True).exists()


@pytest.mark.parametrize("thread", [False, True], ids=["forked", "spawned"])
def test_the_programs_of_a_runner_die_with_it(start_worker, job_is, thread):
    """A runner that dies by itself takes the programs along that its jobs have started, before the job is retried."""
    start_worker("--processes", "1", thread=thread)
    result = tasks.start_a_program_and_die.enqueue()
    job_is(result, "FAILED")
    (program,) = Trace.objects.filter(what="a program").values_list("pid", flat=True)

    wait_until(
        lambda: not psutil.pid_exists(program) or psutil.Process(program).status() == psutil.STATUS_ZOMBIE,
        seconds=SECONDS,
    )


@pytest.mark.parametrize("thread", [False, True], ids=["forked", "spawned"])
def test_a_program_that_a_job_starts_has_no_line_to_the_keeper(start_worker, job_is, thread):
    """It inherits no socket of its runner: it can say nothing in its name, and does not hide its end."""
    start_worker("--processes", "1", thread=thread)

    assert job_is(tasks.tell_what_a_program_inherits.enqueue(), "SUCCESSFUL").result == []
