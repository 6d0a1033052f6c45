"""What was enqueued can be asked for in the words of the call."""

import re
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.testing import assert_enqueued, assert_not_enqueued
from tests import tasks as cast

pytestmark = pytest.mark.django_db


def test_a_job_is_found_by_task_and_arguments_however_they_were_passed():
    """By place or by name; the newest of those that match is returned."""
    first = cast.take.enqueue(1, second=2)
    second = cast.take.enqueue(first=1, second=2)

    assert assert_enqueued(cast.take, 1, 2).pk == int(second.id) > int(first.id)
    assert assert_enqueued(cast.take).pk == int(second.id)
    assert_not_enqueued(cast.take, 1)
    assert_not_enqueued(cast.bill)


def test_the_context_is_no_argument():
    """As in the call."""
    cast.fail_then_succeed.enqueue(2)

    assert_enqueued(cast.fail_then_succeed, failures=2)


def test_arguments_of_the_types_that_hints_name_are_compared_as_they_are_stored():
    """A datetime is found by a datetime."""
    at = datetime(2026, 11, 30, tzinfo=UTC)
    cast.settle_up.enqueue(at, Decimal("1.10"))

    assert_enqueued(cast.settle_up, at, amount=Decimal("1.10"))
    assert_not_enqueued(cast.settle_up, at, amount=Decimal("1.1"))


def test_what_is_there_instead_is_told():
    """Jobs of the same task, with their arguments and states."""
    job = cast.take.enqueue(1)

    with pytest.raises(AssertionError, match=rf"no job of .*take\(2\) .*there is 1: job {job.id}\(1\) READY$"):
        assert_enqueued(cast.take, 2)
    with pytest.raises(AssertionError, match=r"^no job of tests\.tasks\.bill was .*; there is none of this task$"):
        assert_enqueued(cast.bill)


def test_what_should_not_be_there_is_told():
    """Each job that matches, with its own arguments, and no other."""
    first, second = cast.take.enqueue(1), cast.take.enqueue(2)

    with pytest.raises(AssertionError) as both:
        assert_not_enqueued(cast.take)
    with pytest.raises(AssertionError) as one:
        assert_not_enqueued(cast.take, first=1)

    assert str(both.value) == (
        f"2 jobs of tests.tasks.take were enqueued: job {second.id}(2) READY, job {first.id}(1) READY"
    )
    assert str(one.value) == f"1 job of tests.tasks.take(first=1) was enqueued: job {first.id}(1) READY"


@pytest.mark.parametrize("ask", [assert_enqueued, assert_not_enqueued])
@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        ((), {"frist": 1}, "kwargs['frist']: is no argument of take(); did you mean 'first'?"),
        ((1, 2, 3), {}, "args[2]: is an argument too many"),
        ((), {"second": 1}, "args and kwargs: take() needs first"),
    ],
)
def test_a_call_that_the_task_would_refuse_is_no_answer(ask, args, kwargs, words):
    """No job can have these arguments: it would be there, or not, because of a mistyped name."""
    with pytest.raises(InvalidPayload, match=re.escape(words)):
        ask(cast.take, *args, **kwargs)


@pytest.mark.parametrize("ask", [assert_enqueued, assert_not_enqueued])
@pytest.mark.parametrize(
    ("what", "words"),
    [
        (cast.take.func, "takes a task; got the function tests.tasks.take: pass the task itself"),
        ("tests.tasks.take", "takes a task; got the text 'tests.tasks.take': pass the task itself"),
        (None, "takes a task; got None: pass the task itself"),
    ],
)
def test_only_a_task_can_be_asked_for(ask, what, words):
    """Its function has no name under which jobs are stored."""
    with pytest.raises(TypeError, match=re.escape(f"{ask.__name__}() {words}")):
        ask(what, 1)
