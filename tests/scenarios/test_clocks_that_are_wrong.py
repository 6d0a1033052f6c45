"""A worker whose clock is wrong: due times, leases and retries are PostgreSQL's, and nothing changes."""

import time
from itertools import pairwise

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from django_jobqueue.models import Attempt, Job, Worker
from tests.scenarios.clock import HOUR, LIBRARY, Clock
from tests.scenarios.conftest import SECONDS, wait_for_signs_of_life
from tests.stage import tasks
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.scenario,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(LIBRARY is None, reason="libfaketime is not installed"),
]


@pytest.fixture
def clock(tmp_path):
    """Return a function that makes a clock that is so many seconds ahead."""
    return lambda name, ahead: Clock(tmp_path / name, ahead)


def outcomes(job):
    """The outcomes of a job's attempts, in order."""
    return list(job.attempts.order_by("number").values_list("outcome", flat=True))


def enqueue_all(*queues):
    """Enqueue a job longer than a lease to each of these queues, one for later, and one that is retried."""
    later = timezone.now() + timezone.timedelta(seconds=2)
    return (
        [tasks.read_the_clock.using(queue_name=name).enqueue(6) for name in queues],
        tasks.start.using(run_after=later).enqueue(),
        tasks.fail_at_first.enqueue(2),
    )


def are_running(results):
    """Whether all of these jobs run."""
    ids = [int(result.id) for result in results]
    return Job.objects.filter(pk__in=ids, status="RUNNING").count() == len(ids)


def assert_time_was_postgresqls(job_is, longs, later, retried):
    """No lease ran out, nothing ran before it was due, no retry before its back-off was over."""
    later, retried = job_is(later, "SUCCESSFUL"), job_is(retried, "SUCCESSFUL")
    assert later.started_at >= later.run_after
    assert outcomes(retried) == ["failed", "failed", "succeeded"]
    for before, after in pairwise(retried.attempts.order_by("number")):
        # The back-off of this task is 0.2 s, of which jitter may take a half.
        assert 0.1 <= (after.started_at - before.finished_at).total_seconds() < 60
    longs = [job_is(long, "SUCCESSFUL") for long in longs]
    assert [outcomes(long) for long in longs] == [["succeeded"]] * len(longs)
    assert not Attempt.objects.filter(finished_at__gt=Now()).exists()
    return [long.result - time.time() for long in longs]


def is_about(seconds, expected):
    """Whether a clock is as far ahead as it should be, give or take ten minutes."""
    return abs(seconds - expected) < 600


LEASE = {"lease_seconds": 5, "renew_seconds": 1}


def test_clocks_that_are_wrong_change_nothing(start_worker, job_is, clock):
    """Two workers, one an hour ahead, one an hour behind: leases, due times and retries are PostgreSQL's for both."""
    ahead, behind = clock("ahead", HOUR), clock("behind", -HOUR)
    for name, its_clock in (("ahead", ahead), ("behind", behind)):
        start_worker(
            "--processes", "2", "--queue", name, "--queue", "default",
            environment=its_clock.environment, options=LEASE,
        )  # fmt: skip
    wait_until(lambda: Worker.objects.count() == 2, seconds=SECONDS)
    first, second = assert_time_was_postgresqls(job_is, *enqueue_all("ahead", "behind"))

    assert is_about(first, HOUR), "libfaketime did not bite"
    assert is_about(second, -HOUR), "libfaketime did not bite"
    for worker in Worker.objects.all():
        assert is_about((worker.last_seen_at - timezone.now()).total_seconds(), 0)


def test_a_clock_that_is_set_back_changes_nothing(start_worker, job_is, clock):
    """From an hour ahead to an hour behind while a job runs: polls and renewals go on, though nobody wakes it."""
    its_clock = clock("set back", HOUR)
    options = LEASE | {"notify": False}
    worker = start_worker("--processes", "2", environment=its_clock.environment, options=options)
    during = tasks.read_the_clock.enqueue(8)
    wait_until(lambda: are_running([during]), seconds=SECONDS)
    its_clock.set(-HOUR)
    # It says that it lives twice a second, and looks at its clock's file once. To give it something to do would set it
    # going.
    wait_for_signs_of_life(worker, 4)
    _, later, retried = enqueue_all()
    (behind,) = assert_time_was_postgresqls(job_is, [during], later, retried)

    assert is_about(behind, -HOUR), "libfaketime did not bite"
    assert "the database cannot be used" not in worker.log
    ends = dict(Job.objects.values_list("pk", "finished_at"))
    assert max(ends[int(later.id)], ends[int(retried.id)]) < ends[int(during.id)], "it did not look for jobs meanwhile"
