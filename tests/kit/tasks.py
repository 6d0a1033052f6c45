"""Tasks that are safe to run twice, and tasks that are not."""

from django.core import mail
from django.db import transaction

from django_jobqueue import once, task
from tests.stage.models import Order, Trace


def leave(what):
    """Have an effect that nothing makes unique."""
    Trace.objects.create(what=what)


@task
def by_constraint(number):
    """One row that the database refuses to have twice, and an effect with it."""
    with transaction.atomic():
        if Order.objects.get_or_create(key=f"order {number}")[1]:
            leave(f"booked {number}")


@task
def by_once(number):
    """An effect with its record."""
    once(f"book {number}", leave, f"booked {number}")


@task
def by_external(number):
    """An effect elsewhere."""
    once.external(f"pay {number}", provide, number)


def provide(number, *, idempotency_key):
    """Be a provider that honours the key."""
    with transaction.atomic():
        if Order.objects.get_or_create(key=idempotency_key)[1]:
            leave(f"paid {number}")


@task(atomic=True)
def by_atomic(number):
    """An effect with the record of the job's success."""
    leave(f"booked {number}")


@task
def carelessly(number):
    """Two effects in two commits."""
    leave(f"booked {number}")
    leave(f"paid {number}")


@task
def guard_first(number):
    """Note that it is done, then do it."""
    if Order.objects.get_or_create(key=f"guard {number}")[1]:
        leave(f"mailed {number}")


@task(max_attempts=2)
def stumble(number):
    """Refuse to run a second time."""
    Order.objects.create(key=f"stumble {number}")


@task(max_attempts=1)
def fail(number):
    """Raise ValueError."""
    raise ValueError("no")


@task
def send_a_mail(number):
    """Send one more mail each time."""
    mail.send_mail("Hello", "", None, [f"{number}@example.com"])


@task
def do_nothing(number):
    """Have no effect at all."""
