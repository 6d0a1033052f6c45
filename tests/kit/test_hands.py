"""What happens around an attempt that a test runs with its own hands."""

import pytest
from django.db import DatabaseError, connection

from django_jobqueue.models import Job
from django_jobqueue.policy.outcomes import Failed
from django_jobqueue.testing.hands import Hands
from django_jobqueue.worker import executor
from tests import tasks as cast

pytestmark = pytest.mark.django_db

SETTING = "idle_in_transaction_session_timeout"


def setting():
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting(%s)", [SETTING])
        return cursor.fetchone()[0]


@pytest.mark.parametrize("task", [cast.give_back, cast.give_back_async], ids=["function", "coroutine"])
def test_a_row_that_cannot_be_read_fails_its_attempt(task):
    """As it does with a worker: a moment that Python has no date for is no reason to end the test."""
    job = task.enqueue(1)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE django_jobqueue_job SET enqueued_at = 'infinity' WHERE id = %s", [job.id])
    hands = Hands("default")

    outcome = hands.run(hands.take(None))

    assert isinstance(outcome, Failed)
    assert outcome.failure.exception_class == "builtins.ValueError"
    assert "Invalid isoformat string: 'infinity'" in outcome.failure.message


@pytest.mark.parametrize("breaks", [True, False], ids=["broken", "whole"])
def test_what_breaks_around_an_attempt_leaves_nothing_behind(monkeypatch, breaks):
    """Neither a broken transaction nor a setting, whatever is raised, and wherever."""

    def break_down(*_):
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL {SETTING} = '7s'")
            if breaks:
                with pytest.raises(DatabaseError):
                    cursor.execute("SELECT 1 / 0")
        raise RuntimeError("it does not run")

    def cannot_say(*_):
        raise OSError("nor can it be told")

    cast.succeed.enqueue()
    hands, before = Hands("default"), setting()
    flight = hands.take(None)
    monkeypatch.setattr(executor, "run_here", break_down)
    monkeypatch.setattr("django_jobqueue.testing.hands.failure_of", cannot_say)
    with pytest.raises(OSError):
        hands.run(flight)

    assert setting() == before
    assert Job.objects.get().status == Job.Status.RUNNING
