"""A worker with the hands of the test: it claims, runs and settles on the test's own connection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass
from datetime import datetime, timedelta
from inspect import iscoroutinefunction
from typing import Any, Literal
from uuid import uuid4

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import connections, transaction
from django.db.models import F, Max, Q, QuerySet
from django.db.models.functions import Now
from django.utils.timezone import is_naive
from psycopg.pq import TransactionStatus

from django_jobqueue import registry, results
from django_jobqueue.backend import JobQueueBackend
from django_jobqueue.compat import TaskResultStatus, task_backends, task_finished
from django_jobqueue.exceptions import InvalidOptions
from django_jobqueue.models import Job
from django_jobqueue.policy.lifecycle import DUE_BY_TIME, TERMINAL, Status
from django_jobqueue.policy.outcomes import Committed, Failed, Outcome
from django_jobqueue.store.admit import ALL_LANES, admit_limited, admit_lock, admit_ordered, admit_shared
from django_jobqueue.store.claim import Serving, claim, queue_pattern
from django_jobqueue.store.promote import promote
from django_jobqueue.store.rates import NO_RATES, claim_rated, rate_lock
from django_jobqueue.store.settle import settle
from django_jobqueue.store.statement import run_on
from django_jobqueue.testing.asked import require_queues
from django_jobqueue.testing.commits import come_to_the_commit
from django_jobqueue.worker import executor
from django_jobqueue.worker.discretion import failure_of
from django_jobqueue.worker.executor import Bounds, Order
from django_jobqueue.worker.flight import Flight
from django_jobqueue.worker.intake import Intake
from django_jobqueue.worker.judge import Judge
from django_jobqueue.worker.pace import Pace

LEASE_SECONDS = 3600.0

Latest = timedelta | datetime | None
"""The last moment whose jobs are run: so far from now, or itself; None is any."""


class JobFailed(AssertionError):
    """A job did not succeed; the text is its traceback."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One attempt that was run: its job as it is afterwards, and how it ended."""

    job: Job
    outcome: str
    message: str = ""
    traceback: str = ""


def run_jobs(
    *queues: str,
    within: timedelta = timedelta(0),
    until: datetime | Literal["all"] | None = None,
    limit: int = 1000,
    check: bool = False,
    backend: str = "default",
) -> list[Ran]:
    """Run what is due, and what becomes due by that, in this process: in claim order, one after the other.

    `queues` are names or prefixes, as `runworker --queue` takes them; none is all. One that no task, no job and no
    QUEUES has is a ValueError. With `check` the first attempt that does not succeed raises JobFailed. Time limits of
    functions are not kept: that takes a process; nor are the rates that code declares: that takes time.

    What waits for a moment `within` that time, or `until` that moment, is run too, as if the time had passed: retries,
    snoozes, jobs for later. "all" is whatever the moment is. What is put off meanwhile waits from the moment at which
    the attempt ran. The clock of the test's own code stays as it is.

    Works inside a TestCase: nothing is committed. Raises AssertionError where more than `limit` attempts are due.
    """
    latest = _latest(within, until)
    hands = Hands(backend, queues)
    require_queues(queues, hands.known_queues())
    ran: list[Ran] = []
    while flight := hands.take(latest):
        if len(ran) == limit:
            raise AssertionError(
                f"{limit} attempts have run, and job {flight.claimed.id} of {flight.claimed.task} is due"
                f"{hands.words_for_passed}, for the {_nth(flight.claimed.attempt_number)} time; does it snooze, or "
                "enqueue itself, for ever?"
            )
        ran.append(hands.settle(flight, hands.run(flight)))
        if check and ran[-1].outcome != "succeeded":
            told = ran[-1].traceback or ran[-1].message
            raise JobFailed(f"job {ran[-1].job.pk} of {ran[-1].job.task} {ran[-1].outcome}: {told}")
    return ran


def _latest(within: Any, until: Any) -> Latest:
    if not isinstance(within, timedelta):
        raise ValueError(f"within is a timedelta; got {within!r}")
    if until is None:
        return within
    if within:
        raise ValueError("say within or until, not both")
    if until != "all" and not isinstance(until, datetime):
        raise ValueError(f'until is a datetime, or "all"; got {until!r}')
    if settings.USE_TZ and isinstance(until, datetime) and is_naive(until):
        raise ValueError(
            f"until has no time zone, and USE_TZ is on: use timezone.now(), or timezone.make_aware(…); got {until!r}"
        )
    return None if until == "all" else until


def _nth(number: int) -> str:
    return f"{number}{'th' if number % 100 in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


class Hands:
    """Claims, runs and settles one job at a time, as a worker does."""

    def __init__(self, backend: str, queues: tuple[str, ...] = ()) -> None:
        found = task_backends[backend]
        if not isinstance(found, JobQueueBackend):
            raise InvalidOptions(
                f"TASKS[{backend!r}] is {type(found).__name__} in these tests; there are jobs to run only with "
                "django_jobqueue.backend.JobQueueBackend"
            )
        found.require_postgresql()
        self._backend, self._options, self.using = backend, found.options, found.database
        self._allowed = found.queues if found.has_own_queues else ()
        self._registry = registry.discover()
        self._judge = Judge(self._registry, self._options)
        self._worker_id = uuid4()
        self._intake = Intake(self._registry, Pace(), self._worker_id)
        self._passed = timedelta(0)
        """How far ahead of the clock the job is that was brought forward last."""
        self._newest = 0
        self.serve(*queues)

    def serve(self, *queues: str) -> None:
        """Take from these queues only; none is all."""
        self._serving = Serving(tuple(queue_pattern(name) for name in queues))
        self._queues = Q()
        for name in queues:
            self._queues |= Q(queue_name__startswith=name[:-1]) if name.endswith("*") else Q(queue_name=name)

    def known_queues(self) -> set[str]:
        """Name the queues of tasks, of jobs, and of QUEUES."""
        come_to_the_commit(self._backend)
        tasks = {task.queue_name for task in self._registry.tasks.values() if task.backend == self._backend}
        jobs = self._jobs.filter(backend=self._backend).values_list("queue_name", flat=True).distinct()
        return tasks | {*jobs} | {*self._allowed}

    def take(self, latest: Latest) -> Flight | None:
        """Claim the next job that is due by then."""
        come_to_the_commit(self._backend)
        self._newest = self._jobs.aggregate(newest=Max("pk"))["newest"] or 0
        return self._claim() or (self._claim() if self._bring_forward(latest) else None)

    @property
    def words_for_passed(self) -> str:
        """Say how far ahead of the clock this is."""
        return f", {timedelta(seconds=round(self._passed.total_seconds()))} from now" if self._passed else ""

    @property
    def _jobs(self) -> QuerySet[Job]:
        return Job.objects.using(self.using)

    @property
    def _waiting(self) -> QuerySet[Job]:
        return self._jobs.filter(backend=self._backend, status=Status.WAITING, waiting_for__in=DUE_BY_TIME)

    def _bring_forward(self, latest: Latest) -> bool:
        """Have the next job that waits for a moment wait no longer, if that is not too late."""
        waiting = self._waiting.filter(self._queues).annotate(ahead=F("run_after") - Now())
        if latest is not None:
            waiting = waiting.filter(run_after__lte=Now() + latest if isinstance(latest, timedelta) else latest)
        found = waiting.order_by("run_after", "pk").values_list("pk", "ahead").first()
        if found is None:
            return False
        pk, ahead = found
        self._passed = max(self._passed, ahead)
        return bool(self._jobs.filter(pk=pk).update(run_after=Now()))

    def _put_off(self, job_id: int) -> None:
        """Have what an attempt has put off, or asked for later, wait from the moment that the attempt ran at."""
        if self._passed:
            put_off = self._waiting.filter(Q(pk=job_id) | Q(pk__gt=self._newest))
            put_off.update(run_after=F("run_after") + self._passed)

    def _claim(self) -> Flight | None:
        # Locks, and what they let the next statements do, last as long as a transaction.
        with transaction.atomic(using=self.using):
            return self._claim_in_turn()

    def _claim_in_turn(self) -> Flight | None:
        connection = connections[self.using]
        run_on(connection, promote())
        run_on(connection, admit_lock())
        run_on(connection, admit_ordered())
        run_on(connection, admit_limited(lanes=ALL_LANES))
        token = uuid4()
        claims = claim(
            backend=self._backend,
            tasks=self._registry.names(),
            versions=self._registry.versions(),
            serving=self._serving,
            limit=1,
            gives_credits=True,
            token=token,
            worker_id=self._worker_id,
            lease_seconds=LEASE_SECONDS,
        )
        run_on(connection, admit_shared(claims, lanes=ALL_LANES))
        if self._jobs.filter(backend=self._backend, status=Status.READY, rate_key__isnull=False).exists():
            # A test waits for no token: none is declared.
            run_on(connection, rate_lock())
            jobs = run_on(connection, claim_rated(claims, NO_RATES)).jobs
        else:
            jobs = run_on(connection, claims)
        for claimed in jobs:
            return self._intake.flight(claimed, token, lease_until=float("inf"))
        return None

    def run(self, flight: Flight) -> Outcome | Committed:
        """Run an attempt here."""
        order = Order.read(*flight.order().split(b"\n"))
        task = self._registry.get(order.task)
        sources = self._options.secret_sources or {}
        bounds = Bounds(self._options.max_result_bytes, self._backend, self.using, secret_sources=sources)
        # In a context of its own: the attempt is not the test's.
        context = Context()
        with _kept_settings(self.using), _savepoint(self.using):
            try:
                if task is not None and iscoroutinefunction(task.func):
                    return context.run(async_to_sync(executor.run_async), order, task, bounds)
                return context.run(executor.run_here, order, task, bounds)
            except BaseException as error:  # a damaged row: as with a worker it ends its attempt, and no more
                return Failed(context.run(failure_of, error, order, task))

    def settle(self, flight: Flight, outcome: Outcome | Committed) -> Ran:
        """Close an attempt, and tell receivers of the end of a job."""
        if not isinstance(outcome, Committed):
            settlement = self._judge.settlement(
                flight.claimed, flight.token, outcome, cancel_requested=flight.cancel_requested
            )
            for statement in settle([settlement]):
                run_on(connections[self.using], statement)
        come_to_the_commit(self._backend)
        self._put_off(flight.claimed.id)
        job = Job.objects.using(self.using).get(pk=flight.claimed.id)
        attempts = job.attempts.using(self.using).order_by("number")
        if job.status in TERMINAL:
            result = results.from_job(job, attempts, self._registry.get(job.task))
            _tell(type(task_backends[self._backend]), result)
        last = attempts.get(number=flight.claimed.attempt_number)
        return Ran(job, last.outcome, last.message, last.traceback)


def _tell(sender: type, result: results.TaskResult) -> None:
    """Send `task_finished`, of a failure as Django sends it: while its exception is handled, which Django logs."""
    if not result.errors or result.status == TaskResultStatus.SUCCESSFUL:
        task_finished.send_robust(sender=sender, task_result=result)
        return
    last = result.errors[-1]
    try:
        raise JobFailed(last.traceback or last.exception_class_path)
    except JobFailed as error:
        # Where it was raised is here, and of no use to whoever reads the log.
        error.__traceback__ = None
        task_finished.send_robust(sender=sender, task_result=result)


@contextmanager
def _savepoint(using: str) -> Iterator[None]:
    """Undo an attempt that has broken the test's transaction; in production a statement would have failed alone."""
    connection = connections[using]
    if not connection.in_atomic_block:
        yield
        return
    point: Any = connection.savepoint()
    try:
        yield
    finally:
        if connection.needs_rollback or connection.connection.info.transaction_status == TransactionStatus.INERROR:
            connection.needs_rollback = False
            connection.savepoint_rollback(point)
        else:
            connection.savepoint_commit(point)


@contextmanager
def _kept_settings(using: str) -> Iterator[None]:
    """Put back what an attempt sets until the end of its transaction, which here is the test's."""
    name = "idle_in_transaction_session_timeout"
    connection = connections[using]
    if not connection.in_atomic_block:
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting(%s)", [name])
        (before,) = cursor.fetchone()
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config(%s, %s, true)", [name, before])
