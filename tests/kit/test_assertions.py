"""What was enqueued can be asked for in the words of the call."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

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

    with pytest.raises(AssertionError, match=rf"take\(2\) was enqueued; there are 1: job {job.id}\(1\) READY"):
        assert_enqueued(cast.take, 2)
    with pytest.raises(AssertionError, match=rf"job {job.id} of tests\.tasks\.take\(1\) was enqueued"):
        assert_not_enqueued(cast.take, 1)
    with pytest.raises(AssertionError, match="there is none of this task"):
        assert_enqueued(cast.bill, 1)
