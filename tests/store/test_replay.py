"""Replay: the same job starts again, with a fresh budget and all of its history."""

from functools import partial

import pytest
from django.db import transaction
from django.db.models.functions import Now

from django_jobqueue.exceptions import Refused
from django_jobqueue.models import AuditEntry, DeadLetter, Job
from django_jobqueue.store.cancel import cancel
from django_jobqueue.store.discard import discard
from django_jobqueue.store.replay import Edit, replay
from tests.factories import add_attempt, at, make_dead_letter, make_job
from tests.law import by_hand
from tests.races import race

pytestmark = pytest.mark.django_db


def replay_it(letter, edit=None):
    return replay(letter.pk, by="ada", reason="the remote side is back", edit=edit or Edit(), using="default")


def refusal_of(letter):
    with pytest.raises(Refused) as refused:
        replay_it(letter)
    return refused.value.code


def test_the_same_job_is_ready_and_due():
    """A replayed job is the same row, READY, due now, and no longer finished."""
    letter = make_dead_letter(due_in=-3600)

    job = replay_it(letter)

    assert (job.pk, job.status, job.waiting_for, job.finished_at) == (letter.job.pk, "READY", "", None)
    assert Job.objects.filter(pk=job.pk, run_after__gt=at(-5), run_after__lte=Now()).exists()


def test_the_budget_is_fresh_and_the_count_of_attempts_is_not():
    """A replay forgives failures, interruptions, snoozes and crashes; attempt numbers keep growing."""
    letter = make_dead_letter(interruption_count=20, snooze_count=5, crash_count=2)

    job = replay_it(letter)

    assert (job.failure_count, job.interruption_count, job.snooze_count, job.crash_count) == (0, 0, 0, 0)
    assert (job.attempt_count, job.started_at) == (3, letter.job.started_at)


def test_history_is_kept():
    """After a replay that succeeds, the old attempts, the letter, and who replayed it when can all still be read."""
    letter = make_dead_letter(attempts=5)
    before = list(letter.job.attempts.values())
    job = replay_it(letter)
    add_attempt(job, "succeeded")

    assert list(job.attempts.order_by("number").values())[:5] == before
    assert [attempt.outcome for attempt in job.attempts.order_by("number")] == ["failed"] * 5 + ["succeeded"]
    letter.refresh_from_db()
    assert (letter.job_id, letter.reason, letter.deaths) == (job.pk, "attempts_exhausted", 1)
    entry = AuditEntry.objects.get(object=f"job:{job.pk}")
    assert (entry.actor, entry.action, entry.reason) == ("ada", "replay", "the remote side is back")
    assert entry.at is not None
    assert (entry.before["status"], entry.after["status"]) == ("FAILED", "READY")
    assert (entry.before["failure_count"], entry.after["failure_count"]) == (5, 0)


@pytest.mark.parametrize("status", ["OPEN", "DISCARDED"])
def test_an_open_or_discarded_letter_becomes_replayed(status):
    """A discarded letter may be replayed after all."""
    letter = make_dead_letter(status)

    replay_it(letter)

    letter.refresh_from_db()
    assert letter.status == "REPLAYED"


def test_a_deadline_that_has_passed_is_dropped():
    """A job that expired would expire again at once if a replay kept its deadline."""
    expired = make_dead_letter(reason="expired", expires_at=at(-10))
    in_time = make_dead_letter(expires_at=at(600))

    assert replay_it(expired).expires_at is None
    assert replay_it(in_time).expires_at == in_time.job.expires_at


def test_a_request_to_cancel_from_an_earlier_life_is_forgotten():
    """A replayed job is not stopped by a request that its earlier run outlived."""
    assert replay_it(make_dead_letter(cancel_requested_at=at(-100))).cancel_requested_at is None


def test_edited_arguments_replace_the_old_and_both_are_on_record():
    """The audit entry of a replay with edited arguments holds the old and the new ones."""
    letter = make_dead_letter(args=[1], kwargs={"color": "rde"})

    job = replay_it(letter, Edit(kwargs='{"color": "red"}'))

    assert (job.args, job.kwargs) == ([1], {"color": "red"})
    entry = AuditEntry.objects.get()
    assert (entry.before["kwargs"], entry.after["kwargs"]) == ({"color": "rde"}, {"color": "red"})


def test_arguments_that_were_not_edited_are_not_copied():
    """An audit entry outlives its job, so it holds no arguments without need."""
    replay_it(make_dead_letter(kwargs={"card": "4111"}))

    assert "4111" not in str(AuditEntry.objects.values().get())


@pytest.mark.parametrize(("status", "code"), [("REPLAYED", "already_replayed"), ("RESOLVED", "already_resolved")])
def test_a_letter_that_was_answered_is_refused(status, code):
    """Who replays a letter that was replayed before is told so, and nothing changes."""
    letter = make_dead_letter(status)
    before = Job.objects.values().get()

    assert refusal_of(letter) == code
    assert Job.objects.values().get() == before
    assert not AuditEntry.objects.exists()


def test_a_letter_that_is_gone_is_refused():
    """Replaying a pruned letter says that there is none."""
    letter = make_dead_letter()
    Job.objects.all().delete()

    assert refusal_of(letter) == "not_found"


def test_a_job_that_is_not_dead_is_refused():
    """Rows that somebody edited by hand do not make a running job start twice."""
    letter = make_dead_letter()
    with by_hand():
        Job.objects.update(status="SUCCESSFUL")

    assert refusal_of(letter) == "not_dead"


@pytest.mark.parametrize("status", ["WAITING", "READY", "RUNNING"])
def test_a_key_that_a_live_twin_holds_is_refused(status):
    """A replay whose unique key is taken leaves the letter as it was, and the caller's transaction goes on."""
    letter = make_dead_letter(task="tasks.bill", unique_key="invoice:42")
    twin = make_job(status, task="tasks.bill", unique_key="invoice:42")

    with transaction.atomic():
        with pytest.raises(Refused, match=f"job {twin.pk} holds") as refused:
            replay_it(letter)
        still_works = make_job()

    assert refused.value.code == "unique_key_taken"
    assert Job.objects.filter(pk=still_works.pk).exists()
    letter.refresh_from_db()
    assert (letter.status, letter.job.status) == ("OPEN", "FAILED")
    assert not AuditEntry.objects.exists()


def test_a_key_that_a_finished_twin_held_is_free():
    """A twin that has ended does not stand in the way."""
    letter = make_dead_letter(task="tasks.bill", unique_key="invoice:42")
    make_job("SUCCESSFUL", task="tasks.bill", unique_key="invoice:42")

    assert replay_it(letter).status == "READY"


def test_a_replay_vanishes_with_the_callers_transaction():
    """Replay and audit entry commit or roll back together with what the caller does."""
    letter = make_dead_letter()

    with transaction.atomic():
        replay_it(letter)
        transaction.set_rollback(True)

    letter.refresh_from_db()
    assert letter.status == "OPEN"
    assert not AuditEntry.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_ten_replays_at_once_one_wins():
    """Ten people who replay the same letter at the same moment start one run; nine are told that it was replayed."""
    letter = make_dead_letter()

    answers = race(*[lambda: replay_it(letter).status] * 10)

    assert sorted(answers) == ["READY"] + ["already_replayed"] * 9
    assert AuditEntry.objects.count() == 1
    assert Job.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_replay_meets_discard():
    """Replay and discard at once end in a replayed letter: a discarded one may be replayed, not the reverse."""
    for _ in range(5):
        letter = make_dead_letter()

        replayed, discarded = race(
            partial(replay_it, letter), partial(discard, letter.pk, by="bob", reason="old", using="default")
        )

        assert discarded == "already_replayed" or discarded.status == "DISCARDED"
        assert replayed.status == "READY"
        letter.refresh_from_db()
        assert (letter.status, letter.job.status) == ("REPLAYED", "READY")


@pytest.mark.django_db(transaction=True)
def test_replay_meets_cancel():
    """Replay and cancel at once end in a job that is READY with a replayed letter, or CANCELLED with a resolved one."""
    for _ in range(5):
        letter = make_dead_letter()

        replayed, cancelled = race(
            partial(replay_it, letter), partial(cancel, letter.job.pk, by="bob", reason="", using="default")
        )

        letter.refresh_from_db()
        assert replayed.status == "READY"
        end = ("REPLAYED", "READY") if cancelled == "finished" else ("RESOLVED", cancelled.status)
        assert (letter.status, letter.job.status) == end
        assert letter.job.status in ("READY", "CANCELLED")


@pytest.mark.django_db(transaction=True)
def test_two_dead_twins_replayed_at_once_never_both_live():
    """Two dead jobs of one unique key, replayed at the same moment: one lives, the other is refused."""
    letters = [make_dead_letter(task="tasks.bill", unique_key="invoice:42") for _ in range(2)]

    answers = race(*[lambda letter=letter: replay_it(letter).status for letter in letters])

    assert sorted(answers) == ["READY", "unique_key_taken"]
    assert sorted(DeadLetter.objects.values_list("status", flat=True)) == ["OPEN", "REPLAYED"]
