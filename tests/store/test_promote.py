"""Promote: what has fallen due becomes READY."""

import pytest

from django_jobqueue.models import Job
from tests.store.hands import COMMITS, add_job, add_jobs, at, locked, row

pytestmark = COMMITS

DUE_BY_TIME = ("time", "retry", "snooze")


def add_waiting(due_in, waiting_for="time", **columns):
    return add_job(status="WAITING", waiting_for=waiting_for, run_after=at(due_in), **columns)


@pytest.mark.parametrize("waiting_for", DUE_BY_TIME)
def test_a_job_that_has_fallen_due_becomes_ready(worker, waiting_for):
    """A job that waits for a time is READY once run_after has come, and waits for nothing."""
    job_id = add_waiting(-1, waiting_for)
    before = row(job_id)

    assert worker.promote().moved == 1
    assert row(job_id) == before | {"status": "READY", "waiting_for": ""}


@pytest.mark.parametrize("waiting_for", ["worker", "limit", "rate", "order", "depth", "breaker", "batch"])
def test_a_job_that_waits_for_something_else_stays(worker, waiting_for):
    """A job that waits for anything but a time is not promoted by the clock."""
    job_id = add_waiting(-1, waiting_for)

    assert worker.promote() == (0, None)
    assert row(job_id)["status"] == "WAITING"


def test_a_future_job_waits(worker):
    """A job is not promoted before run_after, and the answer says in how many seconds that is."""
    job_id = add_waiting(60)
    add_waiting(600)

    promoted = worker.promote()

    assert promoted.moved == 0
    assert 50 < promoted.next_due_seconds <= 60
    assert row(job_id)["status"] == "WAITING"


def test_no_job_waits_for_a_time(worker):
    """Where no job waits for a time there is no next moment."""
    add_job()

    assert worker.promote() == (0, None)


@pytest.mark.parametrize("status", ["READY", "RUNNING", "SUCCESSFUL", "FAILED", "CANCELLED"])
def test_only_waiting_jobs_are_promoted(worker, status):
    """A job in any other state stays in it, whatever run_after says."""
    job_id = add_job(status=status, run_after=at(-60))

    assert worker.promote().moved == 0
    assert row(job_id)["status"] == status


def test_the_limit_takes_those_that_are_due_longest(worker):
    """At most `limit` jobs are promoted in a call: the oldest first, by id where they are of an age."""
    late = add_waiting(-10)
    early = add_waiting(-100)
    middle = add_jobs(3, status="WAITING", waiting_for="retry", run_after=at(-50))

    assert worker.promote(limit=3).moved == 3
    assert set(Job.objects.filter(status="READY").values_list("pk", flat=True)) == {early, *middle[:2]}
    assert row(late)["status"] == "WAITING"


def test_a_locked_job_is_left_alone(worker):
    """A row that somebody else has locked is skipped, and promoted the next time."""
    held, free = add_waiting(-20), add_waiting(-10)
    with locked(held):
        assert worker.promote().moved == 1
        assert row(free)["status"] == "READY"

    assert worker.promote().moved == 1
    assert row(held)["status"] == "READY"
