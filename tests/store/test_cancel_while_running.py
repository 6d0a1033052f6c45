"""A running job that a person wants cancelled: success stands, and nothing else follows."""

import pytest

from django_jobqueue.models import Attempt, DeadLetter, Job
from django_jobqueue.policy.outcomes import OutcomeName
from django_jobqueue.policy.retry import Cancel, Decision
from django_jobqueue.store.cancel import cancel
from tests.store.hands import (
    BURY,
    COMMITS,
    FINISH,
    LOST,
    RELEASE,
    RETRY,
    SNOOZE,
    add_job,
    let_leases_run_out,
    replay,
    row,
)

pytestmark = COMMITS

CANCELLED = Decision(Cancel(), OutcomeName.CANCELLED)


def ask(job_id, **how):
    cancel(job_id, by="ada", reason="", using="default", **how)


@pytest.mark.parametrize(
    "decision",
    [RETRY, SNOOZE, RELEASE, LOST, BURY, CANCELLED],
    ids=["retry", "snooze", "release", "lost", "bury", "cancel"],
)
def test_any_end_but_success_is_cancelled(worker, decision):
    """Whatever the worker decides, and whether it has heard of the request or not: no retry, no letter, one attempt."""
    job_id = add_job()
    (held,) = worker.claim()
    before = row(job_id)
    ask(job_id)

    assert worker.settle(held.settled_as(decision)) == {job_id}

    after = row(job_id)
    assert (after["status"], after["waiting_for"], after["finished_at"] is not None) == ("CANCELLED", "", True)
    assert (after["lease_token"], after["run_after"]) == (None, before["run_after"])
    assert Attempt.objects.get(job_id=job_id).outcome == decision.outcome
    assert not DeadLetter.objects.exists()


def test_success_stands(worker):
    """A job that was asked to stop and succeeded is SUCCESSFUL, with its result."""
    job_id = add_job()
    (held,) = worker.claim()
    ask(job_id, force=True)

    worker.settle(held.settled_as(FINISH))

    assert (row(job_id)["status"], row(job_id)["result"]) == ("SUCCESSFUL", {"paid": True})


def test_what_was_not_started_is_cancelled_when_it_is_given_back(worker):
    """A read-ahead that a person cancels meanwhile does not become READY again."""
    job_id = add_job()
    (held,) = worker.claim()
    ask(job_id)

    assert worker.give_back(held) == {job_id}
    assert (row(job_id)["status"], row(job_id)["attempt_count"]) == ("CANCELLED", 0)
    assert worker.claim() == []


def test_a_rescue_brings_no_cancelled_job_back_to_life(worker, rival):
    """The worker dies with the request in the row: whoever rescues the job knows of it, and it ends."""
    job_id = add_job()
    (held,) = worker.claim()
    ask(job_id)
    let_leases_run_out(held)

    (rescued,) = rival.rescue()
    rival.settle(rescued.settled_as(LOST))

    assert rescued.job.is_unwanted
    assert row(job_id)["status"] == "CANCELLED"


@pytest.mark.parametrize("road", ["settle", "give_back"])
def test_the_letter_of_an_earlier_death_is_resolved(worker, road):
    """A replayed job that is cancelled while it runs leaves no letter that waits for its end."""
    job_id = add_job()
    worker.settle(worker.claim()[0].settled_as(BURY))
    replay(job_id)
    (held,) = worker.claim()
    ask(job_id)
    if road == "settle":
        worker.settle(held.settled_as(RETRY))
    else:
        worker.give_back(held)

    assert DeadLetter.objects.get().status == "RESOLVED"


def test_others_of_a_batch_are_settled_as_decided(worker):
    """One cancelled job in a batch changes nothing for the others."""
    jobs = [add_job() for _ in range(3)]
    held = worker.claim(3)
    ask(jobs[1])

    worker.settle(*[each.settled_as(BURY) for each in held])

    assert [row(job_id)["status"] for job_id in jobs] == ["FAILED", "CANCELLED", "FAILED"]
    assert set(DeadLetter.objects.values_list("job_id", flat=True)) == {jobs[0], jobs[2]}
    assert Job.objects.filter(lease_token__isnull=False).count() == 0
