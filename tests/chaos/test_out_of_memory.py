"""Fault: jobs eat all the memory that the workers' cgroup has, and the kernel kills their process."""

import pytest

from tests.chaos.conftest import only_in_full
from tests.chaos.harness.checker import Allowed
from tests.chaos.test_deadly_jobs import wait_for
from tests.scenarios.cgroups import MemoryCgroup
from tests.waiting import wait_until

MIX = {"fast": 0.88, "slow": 0.08, "fails": 0.02, "eat_memory": 0.02}
MEGABYTES = 1000
"""For two workers of about 150 each, and the two that eat at a time."""


@pytest.fixture
def cgroup():
    """Make a cgroup for the workers; skip where none can be made."""
    try:
        cgroup = MemoryCgroup(megabytes=MEGABYTES)
    except OSError as error:
        pytest.skip(f"no memory cgroup can be made: {error}")
    yield cgroup
    wait_until(cgroup.remove)


@only_in_full
def test_jobs_that_eat_all_memory_die_alone(drill, times, cgroup):
    """Each is a dead letter after three attempts that say why, the workers live on, and every other job succeeds."""
    with drill("out_of_memory", rate=15, mix=MIX, worker_habits=lambda number: {"under": cgroup.entrance}) as stage:
        report = stage.run(wait_for("eat_memory"), times(8, 40), allowed=Allowed(charges=True))

        assert report.is_good, report.details()
        hungry = [job for job in report.evidence.jobs.values() if "how" in job["kwargs"]]
        assert hungry
        assert {job["status"] for job in hungry} == {"FAILED"}
        ends = [attempt["message"] for job in hungry for attempt in report.evidence.attempts[job["id"]]]
        assert any("out of memory (OOM)" in end for end in ends), ends
