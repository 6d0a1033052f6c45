"""Settle: an attempt is closed by a decision, once, by the holder of the lease."""

import json
from datetime import timedelta
from uuid import uuid4

import pytest

from django_jobqueue.models import Attempt, DeadLetter, Job
from django_jobqueue.policy.lifecycle import Reason, WaitingFor
from django_jobqueue.policy.outcomes import Failure, OutcomeName
from django_jobqueue.policy.retry import Bury, Decision, Finish, Wait
from tests.store.hands import (
    BURY,
    COMMITS,
    FAILURE,
    FINISH,
    LOST,
    RELEASE,
    RETRY,
    RETRY_NOW,
    SNOOZE,
    add_job,
    add_jobs,
    let_leases_run_out,
    replay,
    row,
)

pytestmark = COMMITS

DECISIONS = [FINISH, RETRY, SNOOZE, RELEASE, LOST, BURY]
NAMES = ["finish", "retry", "snooze", "release", "lost", "bury"]
COUNTERS = ("attempt_count", "failure_count", "interruption_count", "snooze_count", "crash_count")


def counters(job_id):
    return {name: count for name, count in row(job_id).items() if name in COUNTERS and count}


@pytest.fixture
def held(worker):
    """A job in the worker's hands."""
    add_job(tags=["a"], metadata={"b": 1})
    return worker.claim()[0]


@pytest.mark.parametrize("decision", DECISIONS, ids=NAMES)
def test_every_decision_ends_the_lease_and_closes_the_attempt(worker, held, decision):
    """After any decision the job has no lease, and its attempt stands with outcome, times and words."""
    opened = row(held.id)

    assert worker.settle(held.settled_as(decision)) == {held.id}
    job = row(held.id)
    assert (job["lease_token"], job["lease_expires_at"]) == (None, None)
    attempt = Attempt.objects.get(job_id=held.id)
    assert (attempt.number, attempt.outcome, attempt.charged) == (1, decision.outcome, decision.charged)
    assert (attempt.worker_id, attempt.started_at) == (worker.id, opened["last_attempted_at"])
    assert attempt.finished_at > attempt.started_at
    assert (attempt.exception_class, attempt.message, attempt.traceback) == (
        decision.failure.exception_class,
        decision.failure.message,
        decision.failure.traceback,
    )


def test_finish_stores_the_result(worker, held):
    """A finished job is SUCCESSFUL with its result and its end, and has no letter."""
    worker.settle(held.settled_as(FINISH))

    job = row(held.id)
    assert (job["status"], job["result"]) == ("SUCCESSFUL", {"paid": True})
    assert job["finished_at"] == Attempt.objects.get().finished_at
    assert not DeadLetter.objects.exists()
    assert counters(held.id) == {"attempt_count": 1}


@pytest.mark.parametrize(("decision", "waiting_for"), [(RETRY, "retry"), (SNOOZE, "snooze")])
def test_wait_sets_the_next_moment(worker, held, decision, waiting_for):
    """A job that waits is due so many seconds after the settle, by PostgreSQL's clock."""
    worker.settle(held.settled_as(decision))

    job = row(held.id)
    assert (job["status"], job["waiting_for"], job["finished_at"]) == ("WAITING", waiting_for, None)
    assert job["run_after"] == Attempt.objects.get().finished_at + timedelta(seconds=60)


@pytest.mark.parametrize("seconds", [0.0, 0.25, 1e-9, 30 * 24 * 3600.0])
def test_any_wait_that_the_policy_allows_can_be_stored(worker, held, seconds):
    """From nothing to thirty days, a wait is stored to the microsecond."""
    worker.settle(held.settled_as(Decision(Wait(seconds, WaitingFor.RETRY), OutcomeName.FAILED, charged=True)))

    waits = row(held.id)["run_after"] - Attempt.objects.get().finished_at
    assert waits == timedelta(seconds=round(seconds, 6))


def test_release_keeps_the_place_in_the_queue(worker, held):
    """A released job is READY at once, and as old as it was."""
    before = row(held.id)

    worker.settle(held.settled_as(RELEASE))

    job = row(held.id)
    assert (job["status"], job["waiting_for"], job["finished_at"]) == ("READY", "", None)
    assert job["run_after"] == before["run_after"]


def test_bury_opens_a_letter(worker, held):
    """A buried job is FAILED, and its letter is open with reason, owner and one death."""
    worker.settle(held.settled_as(BURY, owner="billing"))

    job = row(held.id)
    assert job["status"] == "FAILED"
    letter = DeadLetter.objects.get()
    assert (letter.job_id, letter.status, letter.reason, letter.owner) == (
        held.id,
        "OPEN",
        "attempts_exhausted",
        "billing",
    )
    assert (letter.deaths, letter.note, len(letter.fingerprint)) == (1, "", 16)
    assert letter.first_died_at == letter.last_died_at == job["finished_at"]


@pytest.mark.parametrize("reason", list(Reason))
def test_a_letter_has_room_for_every_reason(worker, held, reason):
    """Each reason of the policy can be written on a letter."""
    worker.settle(held.settled_as(Decision(Bury(reason), OutcomeName.FAILED, FAILURE, charged=True)))

    assert DeadLetter.objects.get().reason == reason


@pytest.mark.parametrize("outcome", [name for name in OutcomeName if name != "succeeded"])
def test_an_attempt_has_room_for_every_outcome(worker, held, outcome):
    """Each outcome of the policy can be written on an attempt."""
    worker.settle(held.settled_as(Decision(Wait(1.0, WaitingFor.RETRY), outcome, FAILURE)))

    assert Attempt.objects.get().outcome == outcome


@pytest.mark.parametrize(
    ("flag", "counter"),
    [
        ("charged", "failure_count"),
        ("interrupted", "interruption_count"),
        ("snoozed", "snooze_count"),
        ("crash", "crash_count"),
    ],
)
def test_each_flag_adds_one_to_its_count(worker, held, flag, counter):
    """A decision adds to the counts that it names, and to no other."""
    worker.settle(held.settled_as(Decision(Wait(0.0, WaitingFor.RETRY), OutcomeName.FAILED, **{flag: True})))

    assert counters(held.id) == {"attempt_count": 1, counter: 1}


def test_attempts_are_numbered_through(worker):
    """Attempts of a job count from 1 without gaps, whatever they end in."""
    job_id = add_job()
    for decision in (RETRY_NOW, RELEASE, LOST, RETRY_NOW, FINISH):
        worker.settle(worker.claim()[0].settled_as(decision))
        worker.promote()

    attempts = Attempt.objects.filter(job_id=job_id).order_by("number").values_list("number", "outcome")
    assert list(attempts) == [(1, "failed"), (2, "interrupted"), (3, "lost"), (4, "failed"), (5, "succeeded")]
    assert counters(job_id) == {"attempt_count": 5, "failure_count": 3, "interruption_count": 1}


def test_a_mixed_batch_is_settled_in_one_call(worker):
    """Decisions of every kind in one batch, in any order, each reach their own job."""
    add_jobs(12)
    held = worker.claim(12)
    plan = dict(zip([each.id for each in held], DECISIONS * 2, strict=True))

    changed = worker.settle(*[each.settled_as(plan[each.id]) for each in reversed(held)])

    assert changed == set(plan)
    assert {job_id: (row(job_id)["status"], row(job_id)["waiting_for"]) for job_id in plan} == {
        job_id: EXPECTED[NAMES[DECISIONS.index(decision)]] for job_id, decision in plan.items()
    }
    assert {a.job_id: a.outcome for a in Attempt.objects.all()} == {
        job_id: decision.outcome for job_id, decision in plan.items()
    }
    assert DeadLetter.objects.count() == 2


EXPECTED = {
    "finish": ("SUCCESSFUL", ""),
    "retry": ("WAITING", "retry"),
    "snooze": ("WAITING", "snooze"),
    "release": ("READY", ""),
    "lost": ("READY", ""),
    "bury": ("FAILED", ""),
}


@pytest.mark.parametrize("decision", DECISIONS, ids=NAMES)
@pytest.mark.parametrize("now", ["rescued", "claimed by another", "finished", "a wrong token"])
def test_a_stale_token_changes_nothing(worker, rival, held, decision, now):
    """A worker that lost its lease cannot settle: no job, attempt or letter changes, and it is told so."""
    late = held
    match now:
        case "rescued":
            let_leases_run_out(held)
            rival.rescue()
        case "claimed by another":
            worker.settle(held.settled_as(RELEASE))
            rival.claim()
        case "finished":
            worker.settle(held.settled_as(FINISH))
        case "a wrong token":
            late = type(held)(held.job, uuid4())
    before = everything()

    assert worker.settle(late.settled_as(decision)) == set()
    assert everything() == before


def test_a_stale_token_holds_up_no_other(worker, rival):
    """In a batch with a late outcome the others are written."""
    add_jobs(2)
    late, good = worker.claim(2)
    let_leases_run_out(late)
    rival.rescue()

    assert worker.settle(late.settled_as(BURY), good.settled_as(BURY)) == {good.id}
    assert list(DeadLetter.objects.values_list("job_id", flat=True)) == [good.id]


def test_an_outcome_written_twice_is_written_once(worker, held):
    """When the reply to a settle is lost and it is sent again, the second one changes nothing."""
    worker.settle(held.settled_as(BURY))

    assert worker.settle(held.settled_as(BURY)) == set()
    assert (Attempt.objects.count(), DeadLetter.objects.get().deaths) == (1, 1)


def test_a_job_that_dies_again_has_one_letter(worker, held):
    """A replayed job that dies opens its own letter again, with one death more and what it died of now."""
    worker.settle(held.settled_as(BURY, owner="billing"))
    first = DeadLetter.objects.get()
    DeadLetter.objects.update(note="called the bank")
    replay(held.id)
    rejected = Decision(Bury(Reason.REJECTED), OutcomeName.FAILED, Failure("x.Reject", "no"), charged=True)

    worker.settle(worker.claim()[0].settled_as(rejected, owner="shop"))

    letter = DeadLetter.objects.get()
    assert (letter.pk, letter.status, letter.deaths) == (first.pk, "OPEN", 2)
    assert (letter.reason, letter.owner, letter.note) == ("rejected", "shop", "called the bank")
    assert letter.fingerprint != first.fingerprint
    assert letter.first_died_at == first.first_died_at < letter.last_died_at


def test_success_resolves_a_replayed_letter(worker, held):
    """The letter of a replayed job is RESOLVED when the job succeeds; other letters stay."""
    worker.settle(held.settled_as(BURY))
    replay(held.id)
    add_job()
    others = worker.claim(2)
    worker.settle(*[each.settled_as(BURY) for each in others if each.id != held.id])

    worker.settle(*[each.settled_as(FINISH) for each in others if each.id == held.id])

    letters = dict(DeadLetter.objects.values_list("job_id", "status"))
    assert letters.pop(held.id) == "RESOLVED"
    assert list(letters.values()) == ["OPEN"]


@pytest.mark.parametrize("decision", [RETRY, SNOOZE, RELEASE, LOST], ids=["retry", "snooze", "release", "lost"])
def test_a_replayed_letter_waits_while_the_job_lives(worker, held, decision):
    """As long as a replayed job has attempts before it, its letter stays REPLAYED."""
    worker.settle(held.settled_as(BURY))
    replay(held.id)

    worker.settle(worker.claim()[0].settled_as(decision))

    letter = DeadLetter.objects.get()
    assert (letter.status, letter.deaths) == ("REPLAYED", 1)


HOSTILE = [
    "",
    "NULL",
    "null",
    '"quoted"',
    "back\\slash \\\\ \\n \\",
    "{braces},{commas}",
    "line one\nline two\r\n\ttab",
    "Ünïcødé 漢字 🎈 \u202e \u2028",
    "'; DROP TABLE django_jobqueue_job; --",
    "%s %(id)s %% {job} {attempt}",
    " leading and trailing ",
    "\x01\x1f\x7f",
    "}" * 50 + '"' * 50 + "\\" * 50,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_stored_as_it_is(worker, held, text):
    """Whatever an exception says, its words are stored as they are, and so is the owner of the task."""
    failure = Failure(f"shop.{text}"[:255], text, f"Traceback:\n{text}")
    buried = Decision(Bury(Reason.REJECTED), OutcomeName.FAILED, failure, charged=True)

    worker.settle(held.settled_as(buried, task=text, owner=text))

    attempt = Attempt.objects.get()
    assert (attempt.exception_class, attempt.message, attempt.traceback) == (
        failure.exception_class,
        failure.message,
        failure.traceback,
    )
    assert DeadLetter.objects.get().owner == text


def test_hostile_texts_keep_apart(worker):
    """In one batch each hostile text stays with its own job."""
    ids = add_jobs(len(HOSTILE))
    held = worker.claim(len(HOSTILE))

    worker.settle(
        *[
            each.settled_as(Decision(Wait(1.0, WaitingFor.RETRY), OutcomeName.FAILED, Failure("E", text), charged=True))
            for each, text in zip(held, HOSTILE, strict=True)
        ]
    )

    assert dict(Attempt.objects.values_list("job_id", "message")) == dict(zip(ids, HOSTILE, strict=True))


@pytest.mark.parametrize(
    "result", ["null", "[]", '"{\\"a\\", NULL}"', '{"a\\\\b": ["}", "\\n", 1.5]}', '"漢字 \U0001f388"']
)
def test_any_result_is_stored_as_it_is(worker, held, result):
    """A result is the JSON that the runner wrote, whatever is in it."""
    worker.settle(held.settled_as(Decision(Finish(result), OutcomeName.SUCCEEDED)))

    assert Job.objects.get(pk=held.id).result == json.loads(result)


def test_nothing_to_settle_is_no_statement(worker):
    """An empty batch asks PostgreSQL nothing."""
    assert worker.settle() == frozenset()


def everything():
    return [list(model.objects.order_by("pk").values()) for model in (Job, Attempt, DeadLetter)]
