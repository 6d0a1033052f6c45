"""deliver_twice: a task is really killed around each commit, run again, and what has doubled is named."""

import re
from itertools import count

import pytest
from django.core import mail
from django.db import connection

from django_jobqueue.models import Job
from django_jobqueue.testing import deliver_twice
from tests.kit import tasks
from tests.stage.models import Order, Trace

pytestmark = pytest.mark.django_db(transaction=True)

numbers = count(1)


@pytest.fixture(autouse=True)
def no_traces():
    """The effects; the tables of the tests are not emptied with those of the queue."""
    yield
    Trace.objects.all().delete()
    Order.objects.all().delete()


def arrange():
    return {"number": next(numbers)}


def effects(number):
    """Count what has happened for a number."""
    return {what: Trace.objects.filter(what=f"{what} {number}").count() for what in ("booked", "paid", "mailed")}


@pytest.mark.parametrize("task", [tasks.by_constraint, tasks.by_once, tasks.by_external, tasks.by_atomic])
def test_a_task_that_is_safe_to_run_twice_passes(task):
    """By a unique constraint, by `once`, by `once.external` with a provider that honours the key, by `atomic`."""
    drill = deliver_twice(task, arrange, effects)

    assert drill.is_safe, str(drill)
    assert sum(drill.once.values()) == 1
    assert len(drill.deliveries) >= 3


def test_a_task_that_is_not_safe_is_told_what_doubles_and_when():
    """Two rows in two commits: each doubles when the process dies after its commit."""
    drill = deliver_twice(tasks.carelessly, arrange, effects)

    assert not drill.is_safe
    assert drill.once == {"booked": 1, "paid": 1, "mailed": 0}
    assert drill.doubled == {
        "booked": [
            "killed after commit 1",
            "killed before commit 2",
            "killed after commit 2",
            "run to its end, unheard",
        ],
        "paid": ["killed after commit 2", "run to its end, unheard"],
    }
    assert "DOUBLED paid: killed after commit 2" in str(drill)


def test_an_effect_that_a_second_run_leaves_out_is_missing():
    """A guard that is committed before the effect loses it."""
    drill = deliver_twice(tasks.guard_first, arrange, effects)

    assert drill.missing == {"mailed": ["killed after commit 1", "killed before commit 2"]}
    assert not drill.doubled


def test_a_job_that_does_not_recover_is_named():
    """Whose second run always fails."""
    drill = deliver_twice(tasks.stumble, arrange, effects, allow_none=True)

    assert drill.failed == ["killed after commit 1", "run to its end, unheard"]


def test_the_first_run_must_succeed():
    """There would be nothing to compare with."""
    with pytest.raises(AssertionError, match="a single run does not succeed, but is FAILED: no"):
        deliver_twice(tasks.fail, arrange, effects)


def outbox(number):
    """Count what only the process of the task has seen."""
    return {"mails": len(mail.outbox)}


@pytest.mark.parametrize(
    ("counts", "told"), [(outbox, "{'mails': 0}"), (lambda number: {}, "{}")], ids=["in memory", "nothing"]
)
def test_effects_that_see_nothing_prove_nothing(counts, told):
    """A task that mails twice would be called safe: the mails are in the memory of a process that is gone."""
    with pytest.raises(AssertionError) as failure:
        deliver_twice(tasks.send_a_mail, arrange, counts)

    assert str(failure.value).startswith(
        f"effects() counted nothing after a run that succeeded ({told}); the task runs in another process: count rows, "
        "files, or what a server received, not mail.outbox or a mock"
    )


def test_a_task_that_does_nothing_may_say_so():
    """It is as safe as can be."""
    drill = deliver_twice(tasks.do_nothing, arrange, effects, allow_none=True)

    assert drill.is_safe
    assert sum(drill.once.values()) == 0


@pytest.mark.parametrize(
    ("arranged", "counted", "words"),
    [
        ((1,), {}, "arrange() returns the task's keyword arguments as a dict; got a tuple"),
        (None, {}, "arrange() returns the task's keyword arguments as a dict; got None"),
        ({"number": 0}, 3, "effects() returns counts by name as a dict; got an int"),
        ({"number": 0}, {"total": None}, "effects() returns counts by name as a dict; it has 'total' as None"),
    ],
)
def test_what_is_no_dict_is_told(arranged, counted, words):
    """In words, and not as an error of some line of the drill."""
    with pytest.raises(TypeError, match=re.escape(words)):
        deliver_twice(tasks.do_nothing, lambda: arranged, lambda number: counted)


def test_the_drill_takes_a_task():
    """Not its function."""
    with pytest.raises(TypeError, match=r"^deliver_twice\(\) takes a task; got the function tests\.kit\."):
        deliver_twice(tasks.by_once.func, arrange, effects)


@pytest.mark.django_db(transaction=False)
def test_it_asks_for_committed_data():
    """Inside a TestCase nothing is committed, and a copy of the process would see nothing."""
    with pytest.raises(RuntimeError, match="use TransactionTestCase"):
        deliver_twice(tasks.by_once, arrange, effects)


def test_it_does_not_fork_a_pool(monkeypatch):
    """A copy would take the sessions of Django's pool for its own: the kill would not end them."""
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", {**connection.settings_dict["OPTIONS"], "pool": True})

    with pytest.raises(RuntimeError, match="leave \"pool\" out of DATABASES\\['default'\\] in tests"):
        deliver_twice(tasks.by_once, arrange, effects)

    # Before anybody else opens what the test has closed.
    connection.close()
    connection.close_pool()
    monkeypatch.undo()


def test_nothing_of_the_test_is_lost():
    """The test's own connection lives on, and other jobs are left alone."""
    other = tasks.by_once.enqueue(next(numbers))
    deliver_twice(tasks.by_once, arrange, effects)

    assert Job.objects.get(pk=int(other.id)).status == "READY"
