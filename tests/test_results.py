"""Jobs and attempts, as Django's TaskResult."""

import timeit
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from django_jobqueue import results
from django_jobqueue.compat import TaskResult as DjangoTaskResult
from django_jobqueue.compat import TaskResultStatus
from django_jobqueue.exceptions import JobCancelled, JobQueueError
from django_jobqueue.models import Attempt, Job
from tests import tasks as cast

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FIRST, SECOND, THIRD = (uuid.UUID(int=n) for n in (1, 2, 3))


def job(**fields):
    """Build a job as its row may be, without a database."""
    defaults = {
        "pk": 7,
        "task": "tests.tasks.succeed",
        "backend": "default",
        "queue_name": "default",
        "priority": 0,
        "args": [],
        "kwargs": {},
        "status": "READY",
        "attempt_count": 0,
        "enqueued_at": NOON,
        "run_after": NOON,
    }
    return Job(**(defaults | fields))


def attempt(number, outcome="failed", worker_id=FIRST, **fields):
    """Build a closed attempt as its row may be, without a database."""
    texts = {"exception_class": "", "message": "", "traceback": ""}
    return Attempt(number=number, outcome=outcome, worker_id=worker_id, **(texts | fields))


def read(status, *attempts, **fields):
    """Return the result of a job in this status with these attempts."""
    return results.from_job(job(status=status, **fields), attempts, cast.succeed)


@pytest.mark.parametrize(
    ("status", "seen"),
    [
        ("WAITING", "READY"),
        ("READY", "READY"),
        ("RUNNING", "RUNNING"),
        ("SUCCESSFUL", "SUCCESSFUL"),
        ("FAILED", "FAILED"),
        ("CANCELLED", "FAILED"),
    ],
)
def test_every_status_has_one_of_djangos(status, seen):
    """Each status of a job is one that Django knows."""
    assert read(status).status == TaskResultStatus(seen)


def test_every_status_is_mapped():
    """No job can be in a state that get_result does not understand."""
    assert set(results._STATUSES) == set(Job.Status.values)


def test_a_result_is_djangos_and_more():
    """A TaskResult of ours is one of Django's, on every version, and knows whether it is new."""
    result = read("READY")

    assert isinstance(result, DjangoTaskResult)
    assert result.created is True


def test_attempts_count_the_closed_and_the_open():
    """worker_ids has one entry an attempt, the running one included."""
    result = read(
        "RUNNING",
        attempt(1, worker_id=FIRST),
        attempt(2, worker_id=SECOND),
        attempt_count=3,
        worker_id=THIRD,
    )

    assert result.worker_ids == [str(FIRST), str(SECOND), str(THIRD)]
    assert result.attempts == 3


def test_an_attempt_closed_in_between_counts_once():
    """Where the open attempt was closed after its job was read, it is not counted twice."""
    result = read("RUNNING", attempt(1, worker_id=FIRST), attempt_count=1, worker_id=FIRST)

    assert result.worker_ids == [str(FIRST)]


def test_an_attempt_of_nobody_counts():
    """An attempt without a worker still is an attempt."""
    assert read("WAITING", attempt(1, worker_id=None)).worker_ids == [""]


def test_errors_are_those_of_failed_attempts():
    """Failures, time-outs and losses are errors; interruptions and snoozes are not."""
    outcomes = [value for value in Attempt.Outcome.values if value != "cancelled"]
    attempts = [attempt(n, outcome) for n, outcome in enumerate(outcomes, 1)]
    failed = {"failed", "timed_out", "lost"}

    assert len(read("FAILED", *attempts).errors) == len(failed & set(outcomes)) == 3


def test_an_error_names_its_class():
    """A TaskError leads to the exception that was raised, with its traceback."""
    (error,) = read("FAILED", attempt(1, exception_class="builtins.ValueError", traceback="Traceback …")).errors

    assert error.exception_class is ValueError
    assert error.traceback == "Traceback …"


@pytest.mark.parametrize("exception_class", ["", "Lost"])
def test_an_error_without_an_exception_has_a_class_too(exception_class):
    """A worker that vanished raised nothing; its error still names a class that can be imported."""
    (error,) = read("FAILED", attempt(1, "lost", exception_class=exception_class)).errors

    assert error.exception_class is JobQueueError
    assert error.traceback == "attempt 1: lost"


def test_a_cancelled_job_says_so():
    """CANCELLED is FAILED to Django, with an error that tells the difference."""
    result = read("CANCELLED", finished_at=NOON)

    assert [error.exception_class for error in result.errors] == [JobCancelled]
    assert result.is_finished
    with pytest.raises(ValueError, match="failed"):
        _ = result.return_value


def test_a_return_value_is_given_when_there_is_one():
    """The value of a successful job can be read, None included."""
    assert read("SUCCESSFUL", result={"a": 1}).return_value == {"a": 1}
    assert read("SUCCESSFUL", result=None).return_value is None
    with pytest.raises(ValueError, match="not finished"):
        _ = read("RUNNING", result=None).return_value


def test_the_task_is_as_it_was_enqueued():
    """Queue and priority of the result's task are the job's, even if they are no longer allowed."""
    result = read("READY", queue_name="long gone", priority=9)

    assert (result.task.queue_name, result.task.priority) == ("long gone", 9)
    assert result.task.func is cast.succeed.func


def test_run_after_is_told_while_it_lies_ahead():
    """A deferred job says until when; a retry's wait is not what was asked for."""
    later = NOON + timedelta(hours=1)

    assert read("WAITING", run_after=later).task.run_after == later
    assert read("READY").task.run_after is None
    assert read("WAITING", attempt(1), run_after=later, attempt_count=1).task.run_after is None


def test_a_task_nobody_knows_has_a_placeholder():
    """A removed task is named, and cannot be called."""
    result = results.from_job(job(task="charge"), [], None)

    assert result.task.module_path == "charge"
    assert result.task.name == "charge"
    with pytest.raises(LookupError, match="'charge'"):
        result.task.call()


@pytest.mark.parametrize("args", [None, "text", 5])
def test_a_row_of_the_wrong_shape_can_be_read(args):
    """Somebody's SQL may have broken a row; its result can be had all the same."""
    assert read("READY", args=args, kwargs=args).args == args


def attempt_result(**changes):
    """Build the result of an attempt as a runner does."""
    values = {
        "id": "7",
        "task": cast.tell_context,
        "backend": "default",
        "args": [1],
        "kwargs": {"a": {"b": [1, 2, 3]}},
        "attempt_number": 3,
        "worker_id": "c",
        "earlier_worker_ids": ["a", "b"],
        "enqueued_at": "2026-01-01 12:00:00.5+00",
        "started_at": NOON,
    }
    return results.for_attempt(**(values | changes))


def test_the_result_of_an_attempt_is_running():
    """A task sees its own attempt as the one that runs now."""
    result = attempt_result()

    assert result.status == TaskResultStatus.RUNNING
    assert (result.worker_ids, result.attempts) == (["a", "b", "c"], 3)
    assert result.enqueued_at == NOON + timedelta(milliseconds=500)
    assert result.started_at == NOON
    assert result.finished_at is None


def test_moments_are_naive_where_the_project_says_so(settings):
    """Without USE_TZ a task sees the times that Django would give it."""
    settings.USE_TZ = False
    settings.TIME_ZONE = "Asia/Tokyo"

    assert attempt_result().enqueued_at == datetime(2026, 1, 1, 21, 0, 0, 500_000)


@pytest.mark.parametrize("earlier", [[], ["b"]])
def test_the_number_of_an_attempt_holds_without_its_history(earlier):
    """Django counts attempts by worker_ids: attempts whose worker is not known still count."""
    assert attempt_result(earlier_worker_ids=earlier).attempts == 3


def test_the_context_knows_the_job():
    """A task with takes_context gets the job's id, and a key that outlives attempts."""
    context = results.TaskContext(task_result=attempt_result())

    assert context.attempt == 3
    assert context.job_id == 7
    assert context.idempotency_key == "7"
    assert cast.tell_context.call(context) == {
        "attempt": 3,
        "id": "7",
        "job_id": 7,
        "idempotency_key": "7",
    }


def test_the_result_of_an_attempt_is_cheap():
    """Building it does not copy or check the arguments again: a large payload costs nothing."""
    large = {"rows": [{"n": n} for n in range(20_000)]}
    small = min(timeit.repeat(attempt_result, number=100, repeat=5))
    big = min(timeit.repeat(lambda: attempt_result(kwargs=large), number=100, repeat=5))

    assert big < small * 5
    assert attempt_result(kwargs=large).kwargs is large
