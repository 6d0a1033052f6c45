"""Why a job comes back: what a task says of it, or what had happened before it asked."""

import pytest

from django_jobqueue import Reject, Retry, Snooze, task
from django_jobqueue.policy.fingerprint import fingerprint
from django_jobqueue.policy.outcomes import NO_FAILURE, Snoozed
from django_jobqueue.worker.wire import read_outcome, wire
from tests.worker.orders import run

ERRORS = {"connect": ConnectionError("refused by bank"), "look": KeyError("rate"), "silent": TimeoutError()}


@task
def retry_from(name):
    """Ask for another attempt because of an error."""
    try:
        raise ERRORS[name]
    except Exception as error:
        raise Retry(after=60) from error


@task
def retry_in_a_handler(name):
    """Ask for another attempt where an error is handled, without `from`."""
    try:
        raise ERRORS[name]
    except Exception:
        raise Retry  # noqa: B904


@task
def retry_alone(name):
    """Say that the error has nothing to do with it."""
    try:
        raise ERRORS[name]
    except Exception:
        raise Retry(after=60) from None


@task
def retry_because(reason):
    """Say why."""
    raise Retry(reason=reason)


@task
def snooze_from(name):
    """Come back because of an error."""
    raise Snooze(5, reason="not yet") from ERRORS[name]


@task
def snooze_because(reason):
    """Say why."""
    raise Snooze(5, reason=reason)


class NotNowError(Snooze):
    def __init__(self, seconds):
        self.seconds = seconds


@task
def snooze_of_my_own(seconds):
    """Come back, by a class that says no more."""
    raise NotNowError(seconds)


@task
def reject_from(name):
    """Give up because of an error."""
    raise Reject("no use") from ERRORS[name]


@task(sensitive=("key",))
def leak(key):
    """Say the value, in every way."""
    raise Retry(reason=f"no {key}") from ValueError(f"bad {key}")


@pytest.mark.parametrize(
    ("made", "given", "message"),
    [
        (retry_from, "connect", "retry after 60 s (ConnectionError: refused by bank)"),
        (retry_from, "silent", "retry after 60 s (TimeoutError)"),
        (retry_in_a_handler, "connect", "retry (ConnectionError: refused by bank)"),
        (retry_alone, "connect", "retry after 60 s"),
        (retry_because, "the bank is closed", "retry: the bank is closed"),
        (snooze_from, "connect", "snooze for 5 s: not yet (ConnectionError: refused by bank)"),
        (snooze_because, "not ready", "snooze for 5 s: not ready"),
        (reject_from, "connect", "no use"),
    ],
)
def test_the_message_of_an_attempt_says_why(made, given, message):
    """It is what lists and letters show; the traceback is a page further."""
    outcome = run(made, given)

    assert outcome.failure.message == message
    assert read_outcome(wire(outcome)) == outcome


def test_a_snooze_without_a_reason_leaves_no_words():
    """As often as it comes: it is no failure."""
    assert run(snooze_because, "").failure == NO_FAILURE


def test_the_message_is_bounded_and_masked_like_others():
    """Whatever the cause said, and however much."""
    ERRORS["long"] = ValueError("x" * 100_000)

    assert len(run(retry_from, "long").failure.message) <= 4000
    assert "hunter2-hunter2" not in run(leak, "hunter2-hunter2").failure.message
    assert run(leak, "hunter2-hunter2").failure.message.count("••••••") == 2


def test_a_snooze_of_the_project_s_own_may_know_no_reason():
    """Its class need not call that of Snooze."""
    assert run(snooze_of_my_own, 7) == Snoozed(7.0)


@pytest.mark.parametrize("made", [retry_from, retry_in_a_handler, snooze_from, reject_from])
def test_causes_that_have_nothing_in_common_are_two_kinds_of_death(made):
    """Both were raised in one line, as one class; letters of one cause are one kind."""
    kinds = [fingerprint("t", "r", run(made, name).failure) for name in ("connect", "look", "connect")]

    assert kinds[0] == kinds[2] != kinds[1]
