"""A worker whose clock is wrong: due times, leases and retries are PostgreSQL's, and nothing changes."""

import time
from itertools import pairwise
from pathlib import Path

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from django_jobqueue.models import Attempt, Job, Worker
from tests.scenarios.conftest import SECONDS
from tests.stage import tasks
from tests.waiting import wait_until

LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
HOUR = 3600

pytestmark = [
    pytest.mark.scenario,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(LIBRARY is None, reason="libfaketime is not installed"),
]


class Clock:
    """The time of day of a process, as far from the truth as a file says."""

    def __init__(self, path):
        self._path = path
        self.environment = {
            "LD_PRELOAD": str(LIBRARY),
            "FAKETIME_TIMESTAMP_FILE": str(path),
            "FAKETIME_NO_CACHE": "1",
            # A clock that is set moves the time of day only.
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def set(self, seconds):
        """Be so many seconds ahead."""
        replacement = self._path.with_suffix(".new")
        replacement.write_text(f"{seconds:+d}\n")
        replacement.replace(self._path)


@pytest.fixture
def clock(tmp_path):
    """A clock that can be set."""
    return Clock(tmp_path / "clock")


def outcomes(job):
    """The outcomes of a job's attempts, in order."""
    return list(job.attempts.order_by("number").values_list("outcome", flat=True))


def enqueue_all():
    """Enqueue a job longer than its lease, one for later, one that is retried, and one that says what time it is."""
    later = timezone.now() + timezone.timedelta(seconds=2)
    return (
        tasks.read_the_clock.enqueue(4),
        tasks.start.using(run_after=later).enqueue(),
        tasks.fail_at_first.enqueue(2),
    )


def assert_time_was_postgresqls(job_is, long, later, retried):
    """No lease ran out, nothing ran before it was due, no retry before its back-off was over."""
    long, later, retried = (job_is(result, "SUCCESSFUL") for result in (long, later, retried))
    assert outcomes(long) == ["succeeded"]
    assert later.started_at >= later.run_after
    assert outcomes(retried) == ["failed", "failed", "succeeded"]
    tries = list(retried.attempts.order_by("number"))
    for before, after in pairwise(tries):
        # The back-off of this task is 0.2 s, of which jitter may take a half.
        assert 0.1 <= (after.started_at - before.finished_at).total_seconds() < 60
    assert not Attempt.objects.filter(outcome__in=["lost", "interrupted"]).exists()
    assert not Attempt.objects.filter(finished_at__gt=Now()).exists()
    return long


@pytest.mark.parametrize("ahead", [HOUR, -HOUR], ids=["an_hour_ahead", "an_hour_behind"])
def test_a_clock_that_is_wrong_changes_nothing(start_worker, job_is, clock, ahead):
    """An hour off, beside a worker whose clock is right: leases, due times and retries are as ever."""
    clock.set(ahead)
    wrong = start_worker("--processes", "2", environment=clock.environment)
    wait_until(lambda: Worker.objects.filter(pid=wrong.pid).exists(), seconds=SECONDS)
    jobs = enqueue_all()
    wait_until(lambda: Job.objects.filter(pk=int(jobs[0].id), status="RUNNING").exists(), seconds=SECONDS)
    start_worker("--processes", "1")
    long = assert_time_was_postgresqls(job_is, *jobs)

    assert abs(long.result - time.time() - ahead) < 600, "libfaketime did not bite"
    seen = Worker.objects.get(pid=wrong.pid).last_seen_at
    assert abs((timezone.now() - seen).total_seconds()) < 600


def test_a_clock_that_is_set_back_changes_nothing(start_worker, job_is, clock):
    """From an hour ahead to an hour behind, while jobs run and others wait for their time."""
    clock.set(HOUR)
    worker = start_worker("--processes", "2", environment=clock.environment)
    wait_until(lambda: Worker.objects.filter(pid=worker.pid).exists(), seconds=SECONDS)
    jobs = enqueue_all()
    wait_until(lambda: Job.objects.filter(pk=int(jobs[0].id), status="RUNNING").exists(), seconds=SECONDS)
    clock.set(-HOUR)
    long = assert_time_was_postgresqls(job_is, *jobs)

    assert abs(long.result - time.time() + HOUR) < 600, "libfaketime did not bite"
    assert worker.popen.poll() is None
    assert "the database cannot be used" not in worker.log
