"""What a failed attempt says leaves the runner without the secrets that the attempt was given."""

import logging

import pytest

from django_jobqueue import task
from django_jobqueue.compat import task_started
from django_jobqueue.policy.outcomes import Failed, Verdict
from django_jobqueue.worker import discretion
from tests.worker import orders

IBAN = "DE89370400440532013000"
TOKEN = "sk-proj-unlikely-4f9a1c77e2"


def raise_plainly(iban):
    raise ValueError(f"no account {iban}")


def raise_from_another(iban):
    try:
        raise KeyError(iban)
    except KeyError as error:
        raise ValueError("it fails") from error


def raise_with_a_note(iban):
    error = ValueError("it fails")
    error.add_note(f"{'x' * 490} {iban}")
    raise error


def raise_a_group(iban):
    raise ExceptionGroup("two", [ValueError(iban), KeyError(iban)])


def raise_at_length(iban):
    raise ValueError("x" * 1_990 + iban + "x" * 60_000_000)


def raise_what_it_changed(iban):
    raise ValueError({"account": [iban]})


async def raise_from_the_loop(iban):
    raise ValueError(f"no account {iban}")


ERRORS = [raise_plainly, raise_from_another, raise_with_a_note, raise_a_group, raise_at_length, raise_what_it_changed]


def said(outcome):
    assert isinstance(outcome, Failed)
    return f"{outcome.failure.message}\n{outcome.failure.traceback}"


def pay_somebody(person, iban):
    raise ValueError(f"no account {iban}")


def test_an_error_does_not_quote_what_an_older_version_called_otherwise():
    """A job that was stored before the task took a person: its only argument is the account."""
    upgrade = {1: lambda args, kwargs: ([0, *args], kwargs)}
    newer = task(sensitive=("iban",), version=2, upgrade=upgrade)(pay_somebody)

    assert IBAN not in said(orders.run(newer, IBAN, version=1))


@pytest.mark.parametrize("function", [*ERRORS, raise_from_the_loop], ids=lambda function: function.__name__)
def test_an_error_does_not_quote_a_sensitive_argument(function):
    """Not in its message, its traceback, its cause, its notes or its members, and not where it is shortened."""
    declared = task(sensitive=("iban",))(function)
    run = orders.run_async if function is raise_from_the_loop else orders.run

    words = said(run(declared, IBAN))

    assert IBAN[:8] not in words
    assert IBAN[-8:] not in words
    assert f"in {function.__name__}" in words


def test_a_value_of_the_settings_is_not_quoted(settings):
    """A password of the project's own is covered in the error of any task."""
    settings.PARTNER_API_KEY = TOKEN

    words = said(orders.run(task(raise_plainly), f"{TOKEN}"))

    assert TOKEN not in words
    assert "no account" in words


@task(sensitive=("iban",))
def take_one(iban):
    """Take one argument."""


def test_stored_arguments_that_do_not_fit_are_not_quoted():
    """What refuses them may name what it met: unreadable, of another kind, too many."""
    unreadable = orders.run(take_one, args=orders.Text(f'["{IBAN}'))
    unknown = orders.run(take_one, kwargs={"iban": IBAN, f"{IBAN}": 1})

    assert unreadable.verdict is unknown.verdict is Verdict.INVALID_PAYLOAD
    assert IBAN not in said(unreadable) + said(unknown)


def test_a_result_that_cannot_be_stored_is_not_quoted():
    """The path to what is wrong in a result may lead through a sensitive key."""

    outcome = orders.run(task(sensitive=("iban",))(return_an_odd_dict), IBAN)

    assert outcome.verdict is Verdict.INVALID_RESULT
    assert IBAN not in said(outcome)


def return_an_odd_dict(iban):
    return {iban: object()}


def test_a_receiver_that_fails_is_logged_without_them(caplog, monkeypatch):
    """What is logged of the project's code around an attempt is covered too."""

    def receiver(task_result, **_):
        raise SystemExit(f"no room for {task_result.args[0]}")

    caplog.set_level(logging.ERROR, "django_jobqueue.worker")
    task_started.connect(receiver)
    try:
        orders.run(take_one, IBAN)
    finally:
        task_started.disconnect(receiver)

    assert "a receiver of task_started raised" in caplog.text
    assert IBAN not in caplog.text


def test_a_success_looks_for_no_secret(monkeypatch):
    """Only a failure is searched."""
    monkeypatch.setattr(discretion.shown, "veil_of", None)

    orders.run(take_one, IBAN)
    assert isinstance(orders.run(task(raise_plainly), IBAN), Failed)
