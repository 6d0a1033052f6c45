"""Cancel: a job that has not started never will; one that runs is asked, and comes to no other end but success."""

from functools import partial
from uuid import uuid4

import pytest

from django_jobqueue.exceptions import Refused
from django_jobqueue.models import AuditEntry, Job
from django_jobqueue.store import enqueue
from django_jobqueue.store.cancel import cancel
from django_jobqueue.store.claim import Serving, claim
from django_jobqueue.store.session import Session
from tests.factories import make_dead_letter, make_job
from tests.races import race

pytestmark = pytest.mark.django_db


def cancel_it(job_id, *, force=False):
    return cancel(job_id, by="ada", reason="sent by hand", force=force, using="default")


@pytest.mark.parametrize("status", ["WAITING", "READY"])
def test_a_job_that_has_not_started_is_cancelled(status):
    """A waiting or ready job is CANCELLED at once, with the moment and who did it."""
    job = cancel_it(make_job(status).pk)

    assert (job.status, job.waiting_for, job.finished_at is not None) == ("CANCELLED", "", True)
    entry = AuditEntry.objects.get(object=f"job:{job.pk}")
    assert (entry.actor, entry.action, entry.reason) == ("ada", "cancel", "sent by hand")
    assert (entry.before["status"], entry.after["status"]) == (status, "CANCELLED")


def test_cancelling_a_replayed_job_resolves_its_letter():
    """A letter whose replayed job is cancelled is RESOLVED, and the entry says so."""
    letter = make_dead_letter("REPLAYED")

    cancel_it(letter.job.pk)

    letter.refresh_from_db()
    assert letter.status == "RESOLVED"
    entry = AuditEntry.objects.get()
    assert (entry.before["letter_status"], entry.after["letter_status"]) == ("REPLAYED", "RESOLVED")


def test_a_cancelled_job_gives_its_key_up():
    """After a cancel the unique key is free for the next job."""
    cancel_it(make_job(unique_key="invoice:42").pk)

    assert make_job(unique_key="invoice:42").status == "READY"


@pytest.mark.parametrize(
    ("status", "code"),
    [("SUCCESSFUL", "finished"), ("FAILED", "finished"), ("CANCELLED", "already_cancelled")],
)
def test_any_other_job_is_refused(status, code):
    """A job that has ended is left as it is."""
    job = make_job(status)

    with pytest.raises(Refused) as refused:
        cancel_it(job.pk)

    assert refused.value.code == code
    job.refresh_from_db()
    assert job.status == status
    assert not AuditEntry.objects.exists()


def test_a_running_job_is_asked_to_stop():
    """A running job stays RUNNING, with the moment of the request, and who asked is on record."""
    job = make_job("RUNNING")

    asked = cancel_it(job.pk)

    assert (asked.status, asked.cancel_requested_at is not None, asked.cancel_forced) == ("RUNNING", True, False)
    assert asked.lease_token == job.lease_token
    entry = AuditEntry.objects.get()
    assert (entry.before["cancel_requested"], entry.after["cancel_requested"]) == (False, True)


def test_to_ask_again_is_refused_unless_it_is_with_force():
    """The moment of the first request stays; only force adds something to it."""
    job = make_job("RUNNING")
    first = cancel_it(job.pk)
    with pytest.raises(Refused) as refused:
        cancel_it(job.pk)
    assert refused.value.code == "already_requested"

    second = cancel_it(job.pk, force=True)

    assert (second.cancel_requested_at, second.cancel_forced) == (first.cancel_requested_at, True)
    for force in (False, True):
        with pytest.raises(Refused):
            cancel_it(job.pk, force=force)


def test_a_job_that_is_gone_is_refused():
    """Cancelling a job that does not exist says so."""
    with pytest.raises(Refused) as refused:
        cancel_it(10**12)

    assert refused.value.code == "not_found"


@pytest.mark.django_db(transaction=True)
def test_cancel_meets_claim():
    """A cancel and a claim at the same moment: either the job never starts, or it runs with the request in its row."""

    def claim_it():
        session = Session("default")
        try:
            (claimed,) = session.run(
                claim(
                    backend="default",
                    tasks=["tasks.mail"],
                    serving=Serving(),
                    limit=1,
                    token=uuid4(),
                    worker_id=uuid4(),
                    lease_seconds=30,
                )
            )
            return len(claimed)
        finally:
            session.close()

    for _ in range(5):
        (job,) = enqueue.enqueue([enqueue.NewJob(task="tasks.mail")], using="default")

        cancelled, claimed = race(partial(cancel_it, job.id), claim_it)

        row = Job.objects.get(pk=job.id)
        assert cancelled.status == row.status == ("RUNNING" if claimed else "CANCELLED")
        assert (row.cancel_requested_at is not None) == bool(claimed)
