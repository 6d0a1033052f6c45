"""The journal: one line in the log for each end of an attempt that was written."""

import logging
from uuid import uuid4

import pytest

from django_jobqueue.conf import Options
from django_jobqueue.policy.outcomes import Failed, Failure, Interrupted, Lost, Snoozed, Succeeded, TimedOut, Verdict
from django_jobqueue.policy.retry import Tally
from django_jobqueue.registry import Registry
from django_jobqueue.store.settle import Settled
from django_jobqueue.worker import journal
from django_jobqueue.worker.judge import Judge
from tests.worker import cast
from tests.worker.flights import claimed

BOOM = Failure("shop.Boom", "the till is on fire")


@pytest.fixture
def written(caplog):
    """Judge an outcome, write it down as settled so, and answer with the record."""
    caplog.set_level(logging.DEBUG, "django_jobqueue.jobs")
    task = cast.fail_with_policy
    judge = Judge(Registry({task.module_path: task}), Options(max_interruptions=2, max_snoozes=3))

    def write(outcome, settled=Settled("WAITING", 1, 3), *, tally=None, **fields):  # noqa: B008 - a value
        job = claimed(task=task.module_path, tally=Tally(**(tally or {})), max_attempts=3, **fields)
        journal.write(judge.settlement(job, uuid4(), outcome), settled)
        (record,) = caplog.records
        return record

    return write


LEVELS = [
    (Succeeded("null"), {}, "DEBUG"),
    (Snoozed(5.0), {}, "DEBUG"),
    (Interrupted(), {}, "INFO"),
    (Lost(BOOM), {}, "INFO"),
    (Failed(BOOM), {}, "WARNING"),
    (TimedOut(BOOM), {}, "WARNING"),
    (Lost(BOOM, crashed=True), {}, "WARNING"),
    (Failed(BOOM), {"failure_count": 2}, "ERROR"),
    (Failed(BOOM, Verdict.REJECTED), {}, "ERROR"),
    (TimedOut(BOOM), {"failure_count": 2}, "ERROR"),
    (Lost(BOOM), {"failure_count": 2}, "ERROR"),
    (Interrupted(), {"interruption_count": 2}, "ERROR"),
    (Snoozed(5.0), {"snooze_count": 3}, "ERROR"),
]


@pytest.mark.parametrize(("outcome", "tally", "level"), LEVELS, ids=str)
def test_an_error_in_the_log_is_a_dead_letter(written, outcome, tally, level):
    """Only a dead letter is an ERROR, for which somebody must look; what will be tried again is at most a WARNING."""
    record = written(outcome, tally=tally)

    assert record.levelname == level
    assert ("dead letter" in record.getMessage()) == (level == "ERROR")


@pytest.mark.parametrize(("outcome", "tally", "level"), LEVELS[1:], ids=str)
def test_a_job_that_was_cancelled_meanwhile_is_no_dead_letter(written, outcome, tally, level):
    """The row says CANCELLED, whatever the worker had decided before it heard of the request: nobody must look."""
    record = written(outcome, Settled("CANCELLED", 1, 3), tally=tally)

    assert record.levelname == "INFO"
    assert record.getMessage().endswith("; cancelled, as was asked for")
    assert not record.will_retry


def test_a_line_says_what_a_person_needs(written):
    """A line names job, task, attempt, error and what follows, in words and as fields."""
    record = written(Failed(BOOM), Settled("FAILED", 3, 3), id=42, attempt_number=5, tally={"failure_count": 2})

    assert record.getMessage() == (
        "job 42 tests.worker.cast.fail_with_policy failed at attempt 5 (shop.Boom: the till is on fire);"
        " dead letter: attempts_exhausted"
    )
    assert (record.job_id, record.task, record.attempt) == (42, cast.fail_with_policy.module_path, 5)
    assert (record.max_attempts, record.will_retry) == (3, False)


def test_a_line_of_a_retry_says_when(written):
    """The line of a failure that will be tried again says how many there were and when the next attempt is due."""
    record = written(Failed(BOOM, after_seconds=12.0), Settled("WAITING", 2, 3))

    assert record.getMessage().endswith("2 of 3 failures, again in 12.0 s")


def test_a_long_message_is_cut_in_the_log(written):
    """A megabyte of message makes no megabyte of log."""
    assert len(written(Failed(Failure("E", "x" * 1_000_000))).getMessage()) < 500
