"""Give back: what was claimed and never started is READY as if nothing had happened."""

from uuid import uuid4

from django_jobqueue.models import Attempt
from tests.store.hands import COMMITS, FINISH, RETRY_NOW, Held, add_job, add_jobs, let_leases_run_out, row

pytestmark = COMMITS


def test_a_job_given_back_is_as_before_the_claim(worker):
    """No column of a job tells that it was claimed and given back, and there is no attempt."""
    job_id = add_job()
    before = row(job_id)

    assert worker.give_back(*worker.claim()) == {job_id}
    assert row(job_id) == before
    assert not Attempt.objects.exists()


def test_a_later_attempt_given_back_keeps_the_first_start(worker, rival):
    """After a real attempt, a claim that is given back leaves started_at and the count of attempts as they were."""
    job_id = add_job()
    worker.settle(worker.claim()[0].settled_as(RETRY_NOW))
    worker.promote()
    before = row(job_id)

    rival.give_back(*rival.claim())

    after = row(job_id)
    assert (after["attempt_count"], after["started_at"]) == (1, before["started_at"])
    assert (after["status"], after["failure_count"], after["run_after"]) == ("READY", 1, before["run_after"])
    assert (after["lease_token"], after["lease_expires_at"]) == (None, None)


def test_the_next_claim_has_the_same_number(worker, rival):
    """A read-ahead that was given back is no attempt: the next one has its number."""
    add_job()
    worker.give_back(*worker.claim())

    (held,) = rival.claim()

    assert held.job.attempt_number == 1
    assert rival.settle(held.settled_as(FINISH)) == {held.id}


def test_a_job_keeps_its_place(worker):
    """What is given back is claimed again before what was behind it."""
    first, second = add_jobs(2)
    worker.give_back(*worker.claim())

    assert [each.id for each in worker.claim(2)] == [first, second]


def test_a_stale_token_gives_nothing_back(worker, rival):
    """A worker that lost its lease changes nothing; in a batch, the others are given back."""
    add_jobs(3)
    late, wrong, good = worker.claim(3)
    let_leases_run_out(late)
    rival.rescue()
    before = row(late.id), row(wrong.id)

    assert worker.give_back(late, Held(wrong.job, uuid4()), good) == {good.id}
    assert (row(late.id), row(wrong.id)) == before


def test_giving_back_twice_does_it_once(worker):
    """When the reply was lost and the call is made again, the second one changes nothing."""
    add_job()
    held = worker.claim()
    worker.give_back(*held)

    assert worker.give_back(*held) == set()
