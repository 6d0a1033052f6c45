"""Tasks that end in every way there is; each is named by its fate."""

import asyncio
import os
import socket
import sys
from contextlib import nullcontext
from contextvars import ContextVar
from functools import wraps

from django.db import connection, transaction
from django.utils import timezone, translation

from django_jobqueue import JobCancelled, Reject, Retry, Snooze, once, task
from django_jobqueue.backoff import constant
from tests.stage.models import Trace

tenant = ContextVar("tenant", default="nobody")


class Odd(BaseException):
    """A BaseException of the project's own."""


class Boom(Exception):
    """An ordinary error."""


class BigBoom(Boom):
    """A kind of it."""


class Shy(Exception):
    """Will not say what it is."""

    @property
    def __class__(self):
        raise RuntimeError("not telling")


class HalfMade(Snooze):
    """Has forgotten what its base needs."""

    def __init__(self):
        pass


class NeverEnding(Snooze):
    """Has changed its mind to nonsense."""

    def __init__(self, seconds):
        super().__init__(1)
        self.seconds = seconds


class Moody(type):
    """A class of exceptions that raises when it is asked what belongs to it."""

    def __subclasscheck__(cls, other):
        raise RuntimeError("do not ask")


class Touchy(Exception, metaclass=Moody):
    """An exception that cannot be compared."""


ENDS = {
    "exit 0": lambda: sys.exit(0),
    "exit 1": lambda: sys.exit(1),
    "exit with words": lambda: sys.exit("goodbye"),
    "interrupt": KeyboardInterrupt,
    "generator exit": GeneratorExit,
    "cancelled": asyncio.CancelledError,
    "odd": lambda: Odd("odd"),
    "boom": lambda: Boom("boom"),
    "big boom": lambda: BigBoom("big"),
    "stop": StopIteration,
    "memory": MemoryError,
    "recursion": RecursionError,
    "group": lambda: ExceptionGroup("many", [Boom("one"), Boom("two")]),
    "shy": Shy,
    "half made": HalfMade,
    "snooze for nan": lambda: NeverEnding(float("nan")),
    "snooze for words": lambda: NeverEnding("a while"),
    "surrogate": lambda: Boom("half a pair: \ud800 and \0"),
}


def come_to(end):
    """End as told."""
    raised = ENDS[end]()
    raise raised


@task
def end(how):
    """End as told."""
    come_to(how)


@task
async def end_async(how):
    """End as told, in the event loop."""
    come_to(how)


@task
def give(value=None):
    """Return what was given."""
    return value


@task
async def give_async(value=None):
    """Return what was given."""
    return value


@task
def give_object():
    """Return what cannot be stored."""
    return object()


@task
def give_much(size):
    """Return a long text."""
    return "x" * size


@task
def retry(after=None):
    """Ask for another attempt."""
    raise Retry(after=after)


@task
def snooze(seconds):
    """Ask to be called later."""
    raise Snooze(seconds)


@task
async def snooze_async(seconds):
    """Ask to be called later, from the event loop."""
    raise Snooze(seconds)


@task
def reject(reason="no good"):
    """Go to the dead letters."""
    raise Reject(reason)


@task
def add(a, b=1, *, c=2):
    """Add up to three numbers."""
    return a + b + c


def logged(function):
    """Pass on whatever it gets, as decorators of projects do."""

    @wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@task
@logged
def add_decorated(a, b=1, *, c=2):
    """Add up to three numbers."""
    return a + b + c


def narrowed(function):
    """Take less than the function does."""

    @wraps(function)
    def wrapper(a):
        return function(a)

    return wrapper


@task
@narrowed
def add_narrowed(a, b=1, *, c=2):
    """Add up to three numbers; called with one."""
    return a + b + c


def with_client(function):
    """Give a function its first argument."""

    @wraps(function)
    def wrapper(*args, **kwargs):
        return function("a client", *args, **kwargs)

    return wrapper


@task
@with_client
def misuse_what_is_given(client, a):
    """Raise a TypeError from inside; called with one argument, given two."""
    return len(a)


@task
@with_client
def add_with_client(client, a=1):
    """Return what was given besides a client."""
    return a


def misusing(function):
    """Make a mistake of its own, or have another function make one."""

    def call(with_what):
        return function(with_what)

    @wraps(function)
    def wrapper(by_another):
        return call(1) if by_another else function(len(5))

    return wrapper


@task
@misusing
def misuse_in_a_decorator(*, by_another):
    """Must not be called."""
    raise AssertionError("it was called")


@task
def misuse():
    """Raise a TypeError from inside."""
    return len(5)


@task(retry_on=(Boom,), never_retry=(BigBoom,))
def choosy(how):
    """End as told; only some errors are worth another attempt."""
    come_to(how)


@task(never_retry=(Touchy,))
def touchy():
    """Fail under a rule that cannot be asked."""
    raise Boom("boom")


ANSWERS = {"ten": 10, "none": None, "negative": -5, "nan": float("nan"), "inf": float("inf"), "words": "soon"}


def ask(exception, task_result):
    """Answer as the exception says, or raise what it says."""
    how = exception.args[0]
    if how in ANSWERS:
        return ANSWERS[how]
    if how == "sum up":
        return len(task_result.id) + task_result.attempts
    come_to(how)


@task(backoff=ask)
def fail_and_ask(how):
    """Fail, and have the back-off answer as told."""
    raise Boom(how)


@task(backoff=constant(7))
def fail_with_policy():
    """Fail under a declared back-off."""
    raise Boom("boom")


@task(takes_context=True)
def tell_context(context, *args, **kwargs):
    """Return what the context knows."""
    result = context.task_result
    return {
        "attempt": context.attempt,
        "job_id": context.job_id,
        "key": context.idempotency_key,
        "status": result.status.value,
        "worker_ids": result.worker_ids,
        "enqueued_at": result.enqueued_at.isoformat(),
        "args": args,
        "kwargs": kwargs,
    }


@task(timeout=0.05)
async def hang():
    """Wait for ever."""
    await asyncio.Event().wait()


@task(timeout=60)
async def time_out_by_itself():
    """Raise TimeoutError long before the limit."""
    raise TimeoutError("the bank does not answer")


@task(timeout=0.05)
async def tidy_up_when_cancelled():
    """Fail on the way out of a cancellation."""
    try:
        await asyncio.Event().wait()
    finally:
        raise Boom("could not tidy up")


@task(timeout=0.05)
async def hide_when_cancelled():
    """Answer a cancellation with an exception that will not say what it is."""
    try:
        await asyncio.Event().wait()
    finally:
        raise Shy


@task
def leave_atomic_open():
    """Enter an atomic block and never leave it."""
    transaction.atomic().__enter__()
    count_traces()


@task
def leave_atomic_open_and_close():
    """Enter an atomic block, close the connection in it and never leave it."""
    transaction.atomic().__enter__()
    connection.close()


@task
def leave_autocommit_off():
    """Take over transactions, write and forget to commit."""
    transaction.set_autocommit(False)
    leave_trace()


@task
def leave_raw_begin():
    """Begin behind Django's back."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
    leave_trace()


@task
def leave_aborted():
    """Begin behind Django's back and break the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        try:
            cursor.execute("SELECT 1 / 0")
        except Exception:
            return "swallowed"


@task
def swallow_an_error_in_atomic():
    """Swallow a database error inside atomic and query on."""
    with transaction.atomic():
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1 / 0")
        except Exception:
            count_traces()


@task
def terminate_own_connection():
    """Lose the connection."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


@task
def hang_up_unseen():
    """Cut the connection without a word to Django."""
    connection.ensure_connection()
    with socket.socket(fileno=os.dup(connection.connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


@task
def write():
    """Write a row, as a good task does."""
    leave_trace()
    return count_traces()


@task
def change_the_mood():
    """Change language, time zone and a context variable."""
    translation.activate("ar")
    timezone.activate("Asia/Kathmandu")
    tenant.set("mallory")
    return mood()


@task
def tell_mood():
    """Return language, time zone and a context variable."""
    return mood()


def mood():
    return [translation.get_language(), timezone.get_current_timezone_name(), tenant.get()]


def leave_trace():
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO django_jobqueue_job (task) VALUES ('a trace') RETURNING id")


def count_traces():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM django_jobqueue_job WHERE task = 'a trace'")
        return cursor.fetchone()[0]


@task(owner="billing")
def owned():
    """Belong to somebody."""


@task(takes_context=True)
def tell_its_key(context):
    """Return the key that the job shows to others."""
    return context.idempotency_key


@task(takes_context=True)
def tell_whether_cancelled(context):
    """Return what the context says."""
    return context.cancelled


@task
def stop_itself():
    """Give up as a job that was cancelled does."""
    raise JobCancelled("enough")


@task
async def stop_itself_async():
    """The same, as a coroutine that is cancelled from outside would end."""
    raise asyncio.CancelledError


@task(atomic=True)
def write_atomically():
    """Write a trace."""
    Trace.objects.create(what="written")
    return "written"


@task(atomic=True)
def write_and_fail():
    """Write a trace, and fail."""
    Trace.objects.create(what="written")
    raise Boom


@task(atomic=True)
def write_and_return_an_object():
    """Write a trace, and return what cannot be stored."""
    Trace.objects.create(what="written")
    return object()


@task(atomic=True)
def break_at_commit():
    """Write a trace, and break a constraint that is looked at when everything is over."""
    Trace.objects.create(what="written")
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE late (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        cursor.execute("INSERT INTO late VALUES (1), (1)")


@task(atomic=True)
def fail_after_the_commit():
    """Have a callback fail."""

    def fail():
        raise Boom

    transaction.on_commit(fail)


@task(atomic=True)
def do_once_after_the_commit(what, how=""):
    """Do a thing once when this is committed, and say what was answered; or try to in ways that are refused."""

    def do():
        if how == "external":
            once.external(what, Trace.objects.create)
        with transaction.atomic() if how == "atomic" else nullcontext():
            answer = once(what, write_trace, what)
        Trace.objects.create(what=answer)

    transaction.on_commit(do)


def write_trace(what):
    """Have an effect, and say so."""
    Trace.objects.create(what=what)
    return f"did {what}"


@task(atomic=True)
def tell_isolation():
    """Return the isolation of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_isolation")
        return cursor.fetchone()[0]


@task
async def give_up_async():
    """Must not be called."""
    raise AssertionError("it was called")
