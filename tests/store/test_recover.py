"""Recover: a worker takes over what it claimed without hearing of it."""

from uuid import uuid4

import pytest

from django_jobqueue.models import Attempt
from tests.store.hands import COMMITS, FINISH, add_job, add_jobs, lease_seconds_left, let_leases_run_out, locked, row

pytestmark = COMMITS


def test_a_claim_whose_reply_was_lost_is_recovered(worker):
    """A running row under the token of a claim that got no answer gets a new token and a fresh lease."""
    job_id = add_job()
    (forgotten,) = worker.claim()
    let_leases_run_out(forgotten)

    (recovered,) = worker.recover(uuid4(), forgotten.token)

    job = row(job_id)
    assert (job["status"], job["lease_token"], job["worker_id"]) == ("RUNNING", recovered.token, worker.id)
    assert lease_seconds_left(job_id) > 0
    assert (recovered.job.attempt_number, recovered.job.worker_id) == (1, worker.id)


def test_a_recovered_job_is_given_back_as_if_never_claimed(worker):
    """A claim whose reply was lost leaves no attempt and no count behind."""
    job_id = add_job()
    before = row(job_id)
    (forgotten,) = worker.claim()

    assert worker.give_back(*worker.recover(forgotten.token)) == {job_id}
    assert row(job_id) == before
    assert not Attempt.objects.exists()


def test_the_lost_token_is_dead(worker):
    """Should the lost reply arrive after all, its token opens nothing any more."""
    add_job()
    (late,) = worker.claim()
    worker.recover(late.token)

    assert worker.settle(late.settled_as(FINISH)) == set()
    assert worker.renew(late).lost == {late.lease}


def test_what_the_worker_heard_of_is_left_alone(worker):
    """Rows under any other token are not touched, the worker's own no more than others'."""
    add_jobs(3)
    known, forgotten, also_known = worker.claim()[0], worker.claim()[0], worker.claim()[0]
    before = row(known.id), row(also_known.id)

    assert [each.id for each in worker.recover(forgotten.token)] == [forgotten.id]
    assert (row(known.id), row(also_known.id)) == before


def test_other_workers_rows_are_left_alone(worker, rival):
    """A worker recovers nothing of another's, not even when its lease ran out."""
    add_job()
    (theirs,) = rival.claim()
    let_leases_run_out(theirs)

    assert worker.recover(theirs.token) == []


@pytest.mark.parametrize("status", ["READY", "WAITING", "SUCCESSFUL", "FAILED", "CANCELLED"])
def test_only_running_rows_are_recovered(worker, status):
    """A row that names the worker but does not run is over."""
    add_job(status=status, worker_id=worker.id)

    assert worker.recover(uuid4()) == []


def test_a_locked_row_is_skipped(worker):
    """A row that somebody else has locked holds no recovery up."""
    first, second = add_jobs(2)
    (held, _) = worker.claim(2)
    with locked(first):
        assert [each.id for each in worker.recover(held.token)] == [second]


def test_a_job_that_was_rescued_from_the_worker_is_not_taken_back(worker, rival):
    """What another worker has rescued is that worker's to settle: the attempt that was lost is not made undone."""
    add_job()
    (held,) = worker.claim()
    let_leases_run_out(held)
    (rescued,) = rival.rescue()

    assert worker.recover(held.token) == []
    assert row(held.id)["lease_token"] == rescued.token


def test_nothing_was_lost(worker):
    """A worker all of whose calls were answered has nothing to recover."""
    add_job()
    worker.claim()

    assert worker.recover() == []
