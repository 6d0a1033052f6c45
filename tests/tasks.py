"""The cast of the tests: each task is named by its fate."""

from datetime import datetime
from decimal import Decimal

from django_jobqueue import Reject, Retry, Snooze, task
from tests.payload import shapes


@task
def succeed():
    """Return nothing."""


@task
def give_back(value=None):
    """Return what was given."""
    return value


@task
async def give_back_async(value=None):
    """Return what was given, from the event loop."""
    return value


@task
def take(first, second=None, *, value=None):
    """Take up to three arguments, and return nothing."""


@task
def take_gross(amount: shapes.Gross):
    """Take an amount that its class changes."""


@task(takes_context=True)
def take_any_name(context, **named):
    """Take whatever has a name."""


@task(sensitive=("name", "iban"))
def keep_quiet(name=None, *rest, **named):
    """Say in an error what was given."""
    raise ValueError(f"no account for {name} {rest} {named}")


@task(
    version=3,
    upgrade={
        1: lambda args, kwargs: ([], {"amount": args[0]}),
        2: lambda args, kwargs: (args, kwargs | {"currency": "EUR"}),
    },
)
def pay(amount, currency, note=""):
    """Return what was to be paid; older jobs had no currency, and their amount by place."""
    return f"{amount} {currency}"


@task(unique_key="invoice:{invoice_id}")
def bill(invoice_id, note=""):
    """Be the only one of its invoice."""


@task(unique_key="reminder:{invoice_id}", unique_until="started")
def remind(invoice_id):
    """Be the only one of its invoice that has not started."""


@task
def settle_up(at: datetime, amount: Decimal):
    """Take a moment and an amount."""


@task
def snooze_for_ever():
    """Come back, and back."""
    raise Snooze(1)


@task
def meet(person: shapes.OneWay):
    """Take a model that cannot read what it writes."""


@task
def fail(message="it fails"):
    """Raise ValueError, every time."""
    raise ValueError(message)


@task
async def fail_async(message="it fails"):
    """Raise ValueError from the event loop, every time."""
    raise ValueError(message)


@task(max_attempts=5, takes_context=True)
def fail_then_succeed(context, failures=1):
    """Fail so many times, then return the number of the attempt."""
    if context.attempt <= failures:
        raise ValueError(f"attempt {context.attempt} fails")
    return context.attempt


@task(never_retry=(PermissionError,))
def fail_for_good():
    """Raise what the task says is never worth another attempt."""
    raise PermissionError("not this time, and not the next")


@task
def fail_without_words():
    """Raise an exception that cannot be printed."""

    class UnprintableError(Exception):
        def __str__(self):
            raise RuntimeError("no text")

        __repr__ = __str__

    raise UnprintableError


@task
def retry(after=None):
    """Ask for another attempt, every time."""
    raise Retry(after=after)


@task
def snooze(seconds=60):
    """Ask to be called later, every time."""
    raise Snooze(seconds)


@task
def reject(reason="no good"):
    """Go to the dead letters."""
    raise Reject(reason)


@task
def return_unserializable():
    """Return what cannot be stored."""
    return object()


@task(takes_context=True)
def tell_context(context, *args, **kwargs):
    """Return what the context knows."""
    return {
        "attempt": context.attempt,
        "id": context.task_result.id,
        "job_id": context.job_id,
        "idempotency_key": context.idempotency_key,
    }
