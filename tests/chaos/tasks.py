"""The tasks of the chaos. Each writes into the ledger what really happens, and nothing into the queue.

They touch no database, so that an outage is never their own failure: whatever an outage costs, the queue has spent.
The atomic one does, and is for the faults that spare the database.
"""

import asyncio
import ctypes
import os
import select
import time

from django.db import transaction

from django_jobqueue import once, task
from django_jobqueue.backoff import constant
from tests.chaos.harness.ledger import Ledger
from tests.stage.models import Order, Trace

SOON = constant(0.2)
TIMEOUT_SECONDS = 1.0

ledger = Ledger.of_environment()


def enter(context, intent, how=""):
    """Write down that an attempt runs, what it does to its process, and what its clock shows, before it does it."""
    facts = {"pid": os.getpid(), "intent": intent, "how": how, "clock": time.time()}
    ledger.write("start", job=context.job_id, attempt=context.attempt, **facts)


def leave(context, intent, failures):
    """Write down the effect and return what only this attempt can return; or fail."""
    if context.attempt <= failures:
        raise ValueError(f"attempt {context.attempt} fails")
    ledger.write("effect", job=context.job_id, attempt=context.attempt, pid=os.getpid(), intent=intent)
    return {"intent": intent, "attempt": context.attempt}


@task(takes_context=True, backoff=SOON, max_attempts=4)
def work(context, intent, seconds=0.0, failures=0):
    """Take some time; fail so many times."""
    enter(context, intent)
    # time.sleep() waits until a moment, which a library that fakes the clock moves away.
    select.select([], [], [], seconds)
    return leave(context, intent, failures)


@task(takes_context=True, backoff=SOON, max_attempts=4)
async def work_async(context, intent, seconds=0.0, failures=0):
    """Take some time in the event loop; fail so many times."""
    enter(context, intent)
    await asyncio.sleep(seconds)
    return leave(context, intent, failures)


@task(takes_context=True, max_attempts=1)
def work_once(context, intent, seconds=0.0, failures=0):
    """Take some time; fail for good."""
    enter(context, intent)
    select.select([], [], [], seconds)
    return leave(context, intent, failures)


@task(takes_context=True, backoff=SOON, max_attempts=4, atomic=True)
def work_atomic(context, intent, seconds=0.0, failures=0):
    """Write a row that can be there once, take some time; fail so many times."""
    enter(context, intent)
    Order.objects.create(key=f"atomic {intent}")
    select.select([], [], [], seconds)
    return leave(context, intent, failures)


@task(takes_context=True, backoff=SOON, max_attempts=8, concurrency_key="tenant:{tenant}", concurrency_limit=2)
def work_of_a_tenant(context, intent, tenant, seconds=0.0, failures=0):
    """Take some time, two of a tenant at once; fail so many times."""
    enter(context, intent)
    select.select([], [], [], seconds)
    return leave(context, intent, failures)


@task(takes_context=True, backoff=SOON, max_attempts=8, concurrency_limit=3)
def work_in_few(context, intent, seconds=0.0, failures=0):
    """Take some time, three at once; fail so many times."""
    enter(context, intent)
    select.select([], [], [], seconds)
    return leave(context, intent, failures)


@task(takes_context=True, backoff=SOON, max_attempts=8, queue_name="narrow")
def work_in_a_narrow_queue(context, intent, seconds=0.0, failures=0):
    """Take some time, in a queue for which a run may declare a limit; fail so many times."""
    enter(context, intent)
    select.select([], [], [], seconds)
    return leave(context, intent, failures)


@task(takes_context=True, backoff=SOON, max_attempts=8, order_key="account:{account}")
def work_in_line(context, intent, account, seconds=0.0, failures=0):
    """Take some time, one of an account after the other; fail so many times."""
    enter(context, intent)
    select.select([], [], [], seconds)
    return leave(context, intent, failures)


@task(takes_context=True, backoff=SOON, max_attempts=4)
def work_keyed(context, intent, seconds=0.0, failures=0):
    """Take some time, and write a row that anybody could write twice, once."""
    enter(context, intent)
    select.select([], [], [], seconds)
    once(f"once {intent}", note, f"once {intent}")
    return leave(context, intent, failures)


@task(takes_context=True, backoff=SOON, max_attempts=4)
def work_external(context, intent, seconds=0.0, failures=0):
    """Ask a provider that honours the key."""
    enter(context, intent)
    once.external(f"external {intent}", provide, seconds)
    return leave(context, intent, failures)


def note(what):
    """Have an effect in the queue's database."""
    Trace.objects.create(what=what)


def provide(seconds, *, idempotency_key):
    """Be the provider: take some time, and do each thing once, in a transaction of its own."""
    select.select([], [], [], seconds)
    with transaction.atomic():
        if Order.objects.get_or_create(key=idempotency_key)[1]:
            note(idempotency_key)


@task(takes_context=True, backoff=SOON, max_attempts=3)
def die(context, intent, how):
    """End the process, in a way that no handler sees."""
    enter(context, intent, how)
    match how:
        case "exit":
            os._exit(0)
        case "segfault":
            ctypes.string_at(0)
        case "abort":
            os.abort()
        case "eat_memory":
            eaten = []
            while True:
                eaten.append(b"x" * (8 << 20))


@task(takes_context=True, backoff=SOON, max_attempts=2, timeout=TIMEOUT_SECONDS)
def hang(context, intent, how):
    """Go on for ever, in Python or in C that keeps the GIL: no other thread of the process does anything then."""
    enter(context, intent, how)
    match how:
        case "spin":
            while True:
                pass
        case "keep_gil":
            ctypes.PyDLL(None).sleep(3600)
