"""Circuit breakers as a project and a person meet them: declared, opened and closed by hand, looked at."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.management import CommandError
from django.db import connection, transaction
from django.utils import timezone

from django_jobqueue import Breaker, operations, registry, task, tasks
from django_jobqueue.any_task import breaker_of
from django_jobqueue.exceptions import InvalidOptions, Refused
from django_jobqueue.models import AuditEntry, CircuitBreaker, Job
from django_jobqueue.store import breakers
from django_jobqueue.store.control import Gate, hold
from django_jobqueue.store.session import Session
from django_jobqueue.store.statement import run_on
from django_jobqueue.watch.why import why
from tests.interleavings.deeds import ANN, claim
from tests.store.hands import COMMITS, TASK, add_job, at
from tests.test_jobqueue_command import jobqueue, jobqueue_json
from tests.test_pause import in_a_thread, someone_waits
from tests.waiting import wait_until

pytestmark = COMMITS

SIGNED = {"by": "ada", "reason": "they have announced a maintenance"}
WHY = ("--reason-text", "they have announced a maintenance")
STRIPE = Breaker("stripe", trips_on=(ConnectionError,))
HELD = Gate(is_held=True, has_pauses=False)


def charge():
    """What a task of these tests would do."""


def refund():
    """What another one would."""


@pytest.fixture(autouse=True)
def charging(monkeypatch):
    """Declare a task with the breaker `stripe`, for one test."""
    monkeypatch.setattr(tasks, "_declared", dict(tasks._declared))
    return task(breaker=STRIPE, task_name=TASK)(charge)


@pytest.fixture
def session():
    """A worker's connection."""
    session = Session("default")
    yield session
    session.close()


def claimed(session):
    """Claim as a worker does that knows the breaker; answer with what the gate said, and with the tasks."""
    gate, _, jobs = session.run(hold(), breakers.standings({TASK: "stripe"}), claim(ANN, 100))
    return gate, [job.task for job in jobs]


# --- Declared


def test_a_breaker_without_a_name_is_that_of_its_task():
    """Its stored name, so that it stays the same when the function moves."""
    alone = task(breaker=Breaker(trips_on=ConnectionError), task_name="shop.refund")(refund)

    assert breaker_of(alone) == Breaker("shop.refund", trips_on=(ConnectionError,))


def test_what_is_no_breaker_is_refused_where_it_is_written():
    """With what to type."""
    with pytest.raises(InvalidOptions, match=r'breaker is a Breaker, as in Breaker\("stripe", trips_on='):
        task(breaker="stripe")(refund)


def test_two_rules_under_one_name_are_a_fault(charging):
    """A worker could only keep one of them."""
    other = task(breaker=Breaker("stripe", trips_on=(ConnectionError,), probes=9))(refund)

    (fault,) = registry.duplicates([charging, other])
    assert "breaker 'stripe' has other rules in tests.test_breakers.refund than in tests.test_breakers.charge" in fault


# --- By hand


def test_who_opens_one_waits_for_claims_and_holds_the_next_ones_back(session):
    """No claim of it is committed after open_breaker() has returned: not one that had begun, and not a later one."""
    add_job(run_after=at(-60)), add_job(run_after=at(-60))
    with ThreadPoolExecutor() as pool:
        with transaction.atomic():
            # A worker that has claimed one, and takes its time to commit.
            run_on(connection, hold())
            run_on(connection, claim(ANN))
            opening = pool.submit(in_a_thread, lambda: operations.open_breaker("stripe", **SIGNED))
            wait_until(someone_waits)
            assert claimed(session) == (HELD, [])
            assert not opening.done()
        opening.result(timeout=30)

    assert claimed(session)[1] == []
    assert Job.objects.filter(status="RUNNING").count() == 1


def test_one_that_was_opened_by_hand_stays_open(session):
    """Before any worker has come by, too; until somebody closes it, and then its jobs start in small numbers."""
    row = operations.open_breaker("stripe", **SIGNED)
    assert (row.state, row.next_probe_at, row.set_by) == ("open", None, "ada")
    assert row.opened_at == row.changed_at

    row = operations.close_breaker("stripe", by="ada", reason="it is over")
    assert (row.state, row.opened_at, row.generation) == ("closed", None, 2)


def test_to_open_it_again_gives_it_the_new_reason_and_moment():
    """It counts as open since the first time."""
    first = operations.open_breaker("stripe", **SIGNED)
    again = operations.open_breaker("stripe", by="bob", reason="two hours, they say", until=timedelta(hours=2))

    assert (again.reason, again.set_by, again.opened_at) == ("two hours, they say", "bob", first.opened_at)
    assert again.next_probe_at - again.changed_at == timedelta(hours=2)


def test_who_opened_and_closed_it_is_on_record():
    """Each has one audit entry, with what it changed."""
    operations.open_breaker("stripe", **SIGNED)
    operations.close_breaker("stripe", by="bob", reason="it is over")

    entries = AuditEntry.objects.order_by("id").values_list("actor", "action", "object", "reason", "before", "after")
    is_open, is_closed = ({"state": state, "next_probe_at": None} for state in ("open", "closed"))
    assert list(entries) == [
        ("ada", "open_breaker", "breaker:stripe", SIGNED["reason"], is_closed, is_open),
        ("bob", "close_breaker", "breaker:stripe", "it is over", is_open, is_closed),
    ]


@pytest.mark.parametrize(
    ("verb", "words", "code", "said"),
    [
        (operations.open_breaker, {"by": "ada", "reason": " "}, "reason_required", "at night"),
        (operations.close_breaker, {"by": "ada", "reason": ""}, "reason_required", "at night"),
        (operations.open_breaker, {"name": "strpe", **SIGNED}, "unknown_breaker", "did you mean stripe?"),
        (operations.close_breaker, {"name": "x" * 300, **SIGNED}, "unknown_breaker", "no task has a breaker"),
        (operations.close_breaker, SIGNED, "not_open", "closed already"),
        (operations.open_breaker, {"until": timedelta(0), **SIGNED}, "until_has_passed", "has passed"),
        (
            operations.open_breaker,
            {"until": timezone.now() - timedelta(days=1), **SIGNED},
            "until_has_passed",
            "passed",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(verb, words, code, said):
    """With a code and what to type; nothing is changed."""
    with pytest.raises(Refused, match=said.replace("?", r"\?")) as refused:
        verb(**{"name": "stripe"} | words)

    assert refused.value.code == code
    assert not CircuitBreaker.objects.exclude(state="closed").exists()
    assert not AuditEntry.objects.exists()


# --- Looked at


def test_a_job_says_that_its_breaker_is_open():
    """Since when, why, and when it is probed next."""
    job_id = add_job(run_after=at(-60))
    CircuitBreaker.objects.create(
        name="stripe", state="open", opened_at=at(-20), next_probe_at=at(11.9), reason="12 of 20 attempts failed"
    )

    (reason,) = [reason for reason in why(job_id, using="default") if reason.code == "breaker"]
    assert reason.text.startswith("circuit breaker stripe is open since 20")
    assert reason.text.endswith(": 12 of 20 attempts failed; next probe in 12 s")
    CircuitBreaker.objects.update(state="closed")
    assert "breaker" not in [reason.code for reason in why(job_id, using="default")]


def listed(name):
    """What the list says of one; others are those of the project."""
    (document,) = [each for each in jobqueue_json("breakers", "list")["breakers"] if each["name"] == name]
    return document


def test_breakers_are_listed_in_a_terminal(charging):
    """Those that a worker has made known, and those that only the code has yet."""
    document = listed("stripe")
    assert document == {"name": "stripe", "state": "closed", "tasks": ["tests.test_breakers.charge"]}
    CircuitBreaker.objects.create(
        name="stripe", state="open", ended=20, tripped=12, reason="12 of 20 attempts failed (builtins.OSError)"
    )

    assert "stripe" in jobqueue("breakers", "list")
    document = listed("stripe")
    assert (document["state"], document["tripped"], document["tasks"]) == ("open", 12, ["tests.test_breakers.charge"])


def test_a_breaker_is_opened_and_closed_in_a_terminal():
    """Each says what it did, and signs."""
    said = jobqueue("breakers", "open", "stripe", "--by", "ada", *WHY)
    assert said == "breaker stripe is open, until somebody closes it; what runs runs on\n"
    document = jobqueue_json("breakers", "open", "stripe", "--until", "2h", "--by", "ada", *WHY)["opened"]
    assert (document["state"], document["set_by"], document["reason"]) == ("open", "ada", SIGNED["reason"])
    assert document["next_probe_at"] is not None

    said = jobqueue("breakers", "close", "stripe", "--by", "bob", *WHY)

    assert said == "breaker stripe is closed; its jobs start in growing numbers\n"
    assert AuditEntry.objects.count() == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("open", "strpe", *WHY), "did you mean stripe?"),
        (("close", "stripe", *WHY), "closed already"),
        (("open", "stripe", "--reason-text", " "), "--reason-text is empty"),
        (("open", "stripe", "--until", "soon", *WHY), "takes a duration such as"),
    ],
)
def test_what_a_terminal_cannot_do_it_says_in_one_line(words, said):
    """And nothing is changed."""
    with pytest.raises(CommandError, match=said.replace("?", r"\?")):
        jobqueue("breakers", *words)

    assert not CircuitBreaker.objects.exists()


def test_what_somebody_wrote_cannot_move_the_cursor():
    """A reason is anybody's text."""
    operations.open_breaker("stripe", by="ada", reason="down\x1b[2J")

    assert "\x1b" not in jobqueue("breakers", "list")
