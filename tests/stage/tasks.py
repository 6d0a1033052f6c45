"""The tasks that real workers run in the scenarios, each named by its fate."""

import asyncio
import ctypes
import os
import re
import resource
import select
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from contextlib import suppress
from contextvars import ContextVar

from asgiref.sync import sync_to_async
from django.db import DatabaseError, IntegrityError, connection, connections, transaction
from django.utils import timezone, translation

from django_jobqueue import Breaker, JobCancelled, Snooze, once, task
from django_jobqueue.backoff import constant
from django_jobqueue.models import Job
from tests.stage import keyholders  # noqa: F401 - its tasks are known with those here
from tests.stage.models import Order, Trace

SOON = constant(0.2)

leaked: list[int] = []


@task(sensitive=("person",), max_attempts=1)
def spill(person, options, note="", **more):
    """Fail, and quote all that was given."""
    try:
        raise KeyError(person)
    except KeyError as error:
        raise ValueError(f"bad {person} {options} {note} {more}") from error


@task(sensitive=("person",), max_attempts=1)
async def spill_from_a_coroutine(person, options, note="", **more):
    """Fail, and quote all that was given."""
    raise ValueError(f"bad {person} {options} {note} {more}")


@task(sensitive=("person",))
def repeat(person, options, note="", **more):
    """Return all that was given, under other names too."""
    return {"person": person, "greeting": f"Dear {person},", "all": [options, note, more]}


tenant: ContextVar[str] = ContextVar("tenant", default="nobody")


def leave_trace(what, context=None):
    """Write down that something happened."""
    job_id = context.job_id if context else None
    attempt = context.attempt if context else None
    Trace.objects.create(what=what, job_id=job_id, attempt=attempt, pid=os.getpid())


@task(takes_context=True)
def start(context):
    """Leave a trace."""
    leave_trace("start", context)


@task(takes_context=True, backoff=SOON)
def sleep(context, seconds):
    """Leave a trace, then sleep."""
    leave_trace("start", context)
    time.sleep(seconds)
    leave_trace("end", context)


PROVIDER = Breaker(
    "provider",
    trips_on=(ConnectionError, TimeoutError),
    minimum=5,
    pause_seconds=1.0,
    max_pause_seconds=2.0,
    probes=2,
)


@task(breaker=PROVIDER, backoff=SOON, max_attempts=5)
def ask_provider(port):
    """Connect, send a line and return the answer; a provider that is down refuses, or hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
        line.sendall(b"hello\n")
        answer = line.recv(100)
    if not answer:
        raise ConnectionResetError("the provider hung up")
    return answer.decode()


VERSION = int(os.environ.get("STAGE_VERSION", "1"))


@task(version=VERSION, upgrade=dict.fromkeys(range(1, VERSION), lambda args, kwargs: (args, kwargs)))
def grow():
    """Have as many versions as the environment says."""
    leave_trace("grown")


@task
def survive_an_error_of_sql():
    """Go on after a statement that fails, as one may outside of a transaction."""
    with suppress(DatabaseError), connection.cursor() as cursor:
        cursor.execute("SELECT 1 / 0")


@task
def refuse_twice(key):
    """Write a row that the database refuses."""
    Order.objects.create(key=key)


@task(takes_context=True, backoff=SOON)
def note_once(context):
    """Leave a trace, once."""
    once(f"note {context.idempotency_key}", leave_trace_of, "noted", context.job_id)


def leave_trace_of(what, job_id):
    """Write down that something happened, in whatever attempt that is."""
    Trace.objects.create(what=what, job_id=job_id, attempt=running_attempt(job_id), pid=os.getpid())


@task(takes_context=True, backoff=SOON)
def pay_once(context):
    """Pay with a provider that honours the key: whoever asks again is told of the first payment."""
    once.external(f"pay {context.idempotency_key}", provide, context.job_id)


def provide(job_id, *, idempotency_key):
    """Be the provider, which has transactions of its own."""
    with transaction.atomic():
        _, is_first = Order.objects.get_or_create(key=idempotency_key)
        if is_first:
            leave_trace_of("paid", job_id)


def running_attempt(job_id):
    return Job.objects.values_list("attempt_count", flat=True).get(pk=job_id)


@task(backoff=SOON)
def nap(seconds):
    """Sleep, and touch nothing."""
    time.sleep(seconds)


@task(takes_context=True, backoff=SOON, concurrency_key="tenant:{tenant}", concurrency_limit=2, max_attempts=8)
def sync(context, tenant, seconds, fails=0):
    """Take a short time, two of a tenant at once; fail so many times."""
    time.sleep(seconds)
    if context.attempt <= fails:
        raise ValueError("the tenant does not answer")


@task(concurrency_key="{tenant}")
def convert(tenant, seconds):
    """Take a short time for a tenant."""
    time.sleep(seconds)


@task(takes_context=True, backoff=SOON, order_key="account:{account}", max_attempts=8)
def post(context, account, number, fails=0):
    """Leave a trace, one of an account after the other; fail so many times."""
    if context.attempt <= fails:
        raise ValueError("the books are closed")
    Trace.objects.create(what=f"{account}:{number}", job_id=context.job_id)


@task(takes_context=True, backoff=SOON)
def be_late_at_first(context, seconds, fails):
    """Leave a trace; the first attempt then sleeps, and raises if told so, the others return at once."""
    leave_trace("start", context)
    if context.attempt == 1:
        time.sleep(seconds)
        if fails:
            raise ValueError("too late")
    return context.attempt


@task(takes_context=True, backoff=SOON)
def kill_its_process(context):
    """Leave a trace, then kill the process it runs in."""
    leave_trace("start", context)
    os.kill(os.getpid(), signal.SIGKILL)


@task(backoff=SOON)
def segfault():
    """Read the address zero."""
    ctypes.string_at(0)


@task(backoff=SOON)
def exit_the_process():
    """Leave the process with the code of success."""
    os._exit(0)


@task(takes_context=True, max_attempts=1)
def die(context, how):
    """End the process it runs in, by a signal or an exit code."""
    leave_trace("start", context)
    if how == "abort":
        os.abort()
    if how == "segfault":
        ctypes.string_at(0)
    if how.startswith("SIG"):
        os.kill(os.getpid(), signal.Signals[how])
        # Another thread may be the one that gets it.
        time.sleep(60)
    os._exit(int(how))


def _start_a_program():
    """Start a process that goes on for ten minutes and has all that is open here, and leave a trace of it."""
    if not (program := os.fork()):
        time.sleep(600)
        os._exit(0)
    Trace.objects.create(what="a program", pid=program)


@task(max_attempts=1)
def start_a_program_and_die():
    """Start a process that goes on, and die."""
    _start_a_program()
    ctypes.string_at(0)


@task(takes_context=True)
def start_a_program_at_first(context, seconds):
    """Start a process that goes on and run for so long; do nothing at later attempts."""
    if context.attempt == 1:
        leave_trace("start", context)
        _start_a_program()
        time.sleep(seconds)


LIST_DESCRIPTORS = """
import os
for fd in os.listdir("/proc/self/fd"):
    if int(fd) > 2 and os.path.exists(f"/proc/self/fd/{fd}"):
        print(os.readlink(f"/proc/self/fd/{fd}"))
"""


@task
def tell_what_a_program_inherits():
    """Return what is open in a program that is given all that it may inherit, but for what it prints to."""
    command = [sys.executable, "-c", LIST_DESCRIPTORS]
    return subprocess.run(command, close_fds=False, capture_output=True, text=True, check=True).stdout.split()


@task(max_attempts=1)
def eat_memory(megabytes):
    """Take so much memory, bit by bit, and never give it back."""
    eaten = []
    for number in range(megabytes // 8):
        eaten.append(bytes([number % 255 + 1]) * (8 << 20))
    return len(eaten)


@task(max_attempts=1)
def fail_for_want(of):
    """Want what cannot be had; returns nothing."""
    if of == "memory":
        bytearray(1 << 62)
    if of == "stack":
        fail_for_want.func(of)
    if of == "descriptors":
        pipes = []
        try:
            while True:
                pipes += os.pipe()
        finally:
            for end in pipes:
                os.close(end)
    if of == "a process":
        if not os.fork():
            raise ValueError("the copy fails")
        raise ChildProcessError("the original fails, too")
    if of == "a way out":
        sys.exit(0)
    if of == "a stop":
        raise KeyboardInterrupt


@task(max_attempts=1)
def leak_descriptors():
    """Open files until there are no more to be had, and keep them."""
    while True:
        leaked.extend(os.pipe())


@task(takes_context=True, max_attempts=1)
def keep_every_descriptor(context, seconds):
    """Open files until there are no more to be had, leave a trace, sleep, and return as if all were well."""
    leave_trace("connected")
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
    with suppress(OSError):
        while True:
            leaked.append(os.open(os.devnull, os.O_RDONLY))
    leave_trace("start", context)
    time.sleep(seconds)


@task(max_attempts=1)
def open_a_file():
    """Need one descriptor, for a moment."""
    os.close(os.open(os.devnull, os.O_RDONLY))


@task
def tell_its_process():
    """Return the process that runs it."""
    return os.getpid()


@task(takes_context=True, max_attempts=1)
def keep_the_gil(context, seconds):
    """Leave a trace, sleep in one call of C that never gives up the GIL, and leave another."""
    leave_trace("start", context)
    ctypes.PyDLL(None).usleep(int(seconds * 1_000_000))
    leave_trace("end", context)


@task(timeout=1.0, backoff=SOON, max_attempts=1)
def hang():
    """Sleep for ten minutes."""
    time.sleep(600)


@task(timeout=1.0, backoff=SOON, max_attempts=1)
def hold_the_gil():
    """Match a regular expression that takes until the end of the world, in one call of C."""
    re.match(r"(a+)+$", "a" * 64 + "b")


@task(timeout=1.0, backoff=SOON, max_attempts=1)
def loop():
    """Loop in Python without end."""
    while True:
        pass


@task(timeout=1.0, backoff=SOON, max_attempts=1)
def stop_its_process():
    """Stop the process that it runs in, with all its threads."""
    os.kill(os.getpid(), signal.SIGSTOP)
    # The stop may reach this thread after the next few lines of it.
    time.sleep(600)


@task(takes_context=True, max_attempts=5, backoff=SOON)
def fail_at_first(context, failures):
    """Raise so many times, then succeed."""
    leave_trace("start", context)
    if context.attempt <= failures:
        raise ConnectionError(f"attempt {context.attempt}")
    return context.attempt


@task
def print_and_sleep(words):
    """Print a line, then sleep for ten minutes."""
    print(words)
    time.sleep(600)


@task
async def print_and_wait(words):
    """Print a line, then wait for ten minutes."""
    print(words)
    await asyncio.sleep(600)


@task(backoff=SOON)
def fail(message="it fails"):
    """Raise, every time."""
    raise ValueError(message)


@task(takes_context=True)
def come_back_at_once(context, times):
    """Ask to be called again, without a wait, so many times."""
    if context.attempt <= times:
        time.sleep(0.3)
        raise Snooze(0)
    return context.attempt


@task(takes_context=True)
def order_once(context, key):
    """Have an effect that a constraint makes happen once, however often it is delivered."""
    leave_trace("delivered", context)
    try:
        with transaction.atomic():
            Order.objects.create(key=key)
    except IntegrityError:
        return "already there"
    return "created"


@task
def leave_everything_changed():
    """Leave a language, a time zone, a context variable and an open transaction behind."""
    translation.activate("ar")
    timezone.activate("Asia/Kathmandu")
    tenant.set("acme")
    connection.set_autocommit(False)
    Trace.objects.create(what="never committed")


@task
def report_what_is_active():
    """Return the language, the time zone and the context variable that it finds."""
    return [translation.get_language(), timezone.get_current_timezone_name(), tenant.get()]


@task(backoff=SOON)
def give_it_back(value):
    """Return what was given."""
    return value


@task
async def return_from_a_coroutine(value):
    """Return what was given."""
    return value


@task
async def count_from_a_coroutine(seconds):
    """Ask the database from the event loop, then wait."""
    count = await Trace.objects.acount()
    await asyncio.sleep(seconds)
    return count


@task(queue_name="other")
def start_elsewhere():
    """Leave a trace, from another queue."""
    leave_trace("elsewhere")


@task(max_attempts=1)
def fork_and_come_back():
    """Fork, and let the copy return as well."""
    child = os.fork()
    if not child:
        return "the copy"
    os.waitpid(child, 0)
    return "the original"


@task(max_attempts=1)
def fork_and_hang_up_in_the_copy():
    """Use the database, and have a forked copy close the connection that both have."""
    Trace.objects.exists()
    child = os.fork()
    if not child:
        connections.close_all()
        os._exit(0)
    os.waitpid(child, 0)
    return "the original"


@task(max_attempts=1)
def close_every_file():
    """Close all files of the process, the runner's own among them."""
    os.closerange(3, 256)


@task(max_attempts=1)
def write_into_every_socket():
    """Send to all sockets of the process what no peer understands."""
    for fd in range(3, 64):
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                os.write(fd, b"\xff\xff\xff\xff not a frame")


@task(max_attempts=1)
async def cancel_itself():
    """Ask for a cancel, and return before it is delivered."""
    asyncio.current_task().cancel()


@task(max_attempts=1)
async def stop_the_loop():
    """Stop the event loop that other coroutines run in."""
    asyncio.get_running_loop().stop()


@task(max_attempts=1)
async def leave_an_exit_behind():
    """Have a callback of the event loop raise SystemExit."""
    asyncio.get_running_loop().call_soon(sys.exit)
    await asyncio.sleep(0.2)


@task(max_attempts=1)
def be_watched_by_one_who_leaves():
    """Return; a receiver raises SystemExit when this starts."""


@task(takes_context=True, backoff=SOON)
def look_whether_cancelled(context, raises):
    """Leave a trace, work until somebody wants it stopped, then stop in one of two ways."""
    leave_trace("start", context)
    while not context.cancelled:
        time.sleep(0.01)
    if raises:
        raise JobCancelled
    return "finished all the same"


@task(takes_context=True, backoff=SOON)
async def wait_for_ever(context):
    """Leave a trace, wait without end, and leave another one on the way out."""
    await sync_to_async(leave_trace)("start", context)
    try:
        await asyncio.sleep(3600)
    finally:
        await sync_to_async(leave_trace)("end", context)


@task(takes_context=True, atomic=True, backoff=SOON)
def book(context, seconds):
    """Write an effect, then take some time in the first attempt; effect and success are one transaction."""
    Trace.objects.create(what="booked", job_id=context.job_id, attempt=context.attempt, pid=os.getpid())
    if context.attempt == 1:
        time.sleep(seconds)


@task(takes_context=True, atomic=True, backoff=SOON)
def book_and_call_back(context, seconds):
    """Write an effect, and leave a callback that takes its time after the commit."""
    words = {"job_id": context.job_id, "attempt": context.attempt, "pid": os.getpid()}
    Trace.objects.create(what="booked", **words)

    def call_back():
        time.sleep(seconds)
        Trace.objects.create(what="called back", **words)

    transaction.on_commit(call_back)


@task
def read_the_clock(seconds=0.0):
    """Wait, then return the time of day, as this process sees it."""
    # time.sleep() waits until a moment, which a library that fakes the clock moves away.
    select.select([], [], [], seconds)
    return time.time()


_held = []


@task(takes_context=True)
def hold_memory(context, megabytes, seconds):
    """Leave a trace, take memory and never give it back."""
    leave_trace("start", context)
    _held.append(b"x" * (megabytes * 1024 * 1024))
    time.sleep(seconds)


@task(takes_context=True, backoff=SOON, max_attempts=5)
def fail_once(context):
    """Leave a trace, and fail in the first attempt."""
    leave_trace("start", context)
    if context.attempt == 1:
        raise ValueError("as it should")


@task(takes_context=True, backoff=SOON)
async def block_the_loop(context, seconds):
    """Leave a trace, then sleep without letting any other coroutine have its turn."""
    await sync_to_async(leave_trace)("start", context)
    time.sleep(seconds)


@task(takes_context=True, backoff=SOON)
async def ask_the_database_for_long(context, seconds):
    """Leave a trace, then keep the thread in which all coroutines use the database."""
    await sync_to_async(leave_trace)("start", context)
    await sync_to_async(_ask_for_long)(seconds)


def _ask_for_long(seconds):
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(%s)", [seconds])


@task(timeout=1.0, max_attempts=1)
def be_quick():
    """Return at once, as it must within a second."""


@task(timeout=1.0, max_attempts=1)
async def be_quick_in_a_coroutine():
    """Return at once, as it must within a second."""


@task(max_attempts=1)
async def read_rows_with_a_pause():
    """Read rows from the server bit by bit, with a pause in the middle; return how many there were."""
    count = 0
    async for _ in Trace.objects.filter(what="a row").aiterator(chunk_size=10):
        count += 1
        if count == 10:
            await _pause()
    return count


@task(max_attempts=1)
async def write_with_a_pause():
    """Begin behind Django's back, write, say so, and commit after a pause."""
    await sync_to_async(_execute)("BEGIN")
    await sync_to_async(leave_trace)("written")
    print("written, and not committed")
    await _wait_to_go_on()
    await sync_to_async(_execute)("COMMIT")


@task(max_attempts=1)
async def wait_to_go_on():
    """Pause."""
    await _pause()


@task(max_attempts=1)
async def leave_a_transaction_in_a_coroutine():
    """Take over transactions, write and forget to commit."""
    await sync_to_async(transaction.set_autocommit)(False)
    await sync_to_async(leave_trace)("never committed")


@task(max_attempts=1)
async def write_in_a_coroutine():
    """Leave a trace."""
    await sync_to_async(leave_trace)("written")


_thread_is_held = threading.Event()


@task(timeout=3.0, max_attempts=1)
async def return_when_the_thread_is_held():
    """Return when another coroutine is in the thread that all of them share."""
    await sync_to_async(leave_trace)("paused")
    while not _thread_is_held.is_set():
        await asyncio.sleep(0.01)


@task(max_attempts=1)
async def hold_the_thread():
    """Keep the thread in which all coroutines use the database, until it may go on."""
    await sync_to_async(_hold_the_thread)()


def _hold_the_thread():
    leave_trace("held")
    _thread_is_held.set()
    while not Trace.objects.filter(what="go on").exists():
        time.sleep(0.02)


async def _pause():
    await sync_to_async(leave_trace)("paused")
    await _wait_to_go_on()


async def _wait_to_go_on():
    while not await Trace.objects.filter(what="go on").aexists():
        await asyncio.sleep(0.02)


def _execute(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)


@task(takes_context=True, backoff=SOON, concurrency_key="tenant:{tenant}", rate_limit="8/s burst 3", max_attempts=50)
def call(context, tenant, fails=0):
    """Call somebody who allows a tenant so many calls in a second, and takes a while to answer; fail so many times."""
    time.sleep(0.15)
    if context.attempt <= fails:
        raise ValueError("the tenant does not answer")
