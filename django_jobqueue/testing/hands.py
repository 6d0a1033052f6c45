"""A worker with the hands of the test: it claims, runs and settles on the test's own connection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass
from datetime import timedelta
from inspect import iscoroutinefunction
from typing import Any
from uuid import uuid4

from asgiref.sync import async_to_sync
from django.db import connections
from django.db.models import Q
from django.db.models.functions import Now
from psycopg.pq import TransactionStatus

from django_jobqueue import registry, results
from django_jobqueue.backend import JobQueueBackend
from django_jobqueue.compat import task_backends, task_finished
from django_jobqueue.exceptions import InvalidOptions
from django_jobqueue.models import Job
from django_jobqueue.policy.lifecycle import DUE_BY_TIME, TERMINAL, Status
from django_jobqueue.policy.outcomes import Committed, Outcome
from django_jobqueue.store.claim import Serving, claim, queue_pattern
from django_jobqueue.store.promote import promote
from django_jobqueue.store.settle import settle
from django_jobqueue.store.statement import run_on
from django_jobqueue.testing.commits import come_to_the_commit
from django_jobqueue.worker import executor
from django_jobqueue.worker.executor import Bounds, Order
from django_jobqueue.worker.flight import Flight
from django_jobqueue.worker.intake import Intake
from django_jobqueue.worker.judge import Judge
from django_jobqueue.worker.pace import Pace

LEASE_SECONDS = 3600.0


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
    *queues: str, within: timedelta = timedelta(0), limit: int = 1000, check: bool = False, backend: str = "default"
) -> list[Ran]:
    """Run what is due, and what becomes due by that, in this process: in claim order, one after the other.

    `queues` are names or prefixes, as `runworker --queue` takes them; none is all. What waits for a moment `within`
    that time is run too, retries included. With `check` the first attempt that does not succeed raises JobFailed.
    Time limits of functions are not kept: that takes a process.

    Works inside a TestCase: nothing is committed. Raises AssertionError where more than `limit` attempts are due.
    """
    hands = Hands(backend, queues)
    ran: list[Ran] = []
    while flight := hands.take(within):
        if len(ran) == limit:
            raise AssertionError(
                f"{limit} attempts have run, and job {flight.claimed.id} is due; does one enqueue itself?"
            )
        ran.append(hands.settle(flight, hands.run(flight)))
        if check and ran[-1].outcome != "succeeded":
            told = ran[-1].traceback or ran[-1].message
            raise JobFailed(f"job {ran[-1].job.pk} of {ran[-1].job.task} {ran[-1].outcome}: {told}")
    return ran


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
        self._registry = registry.discover()
        self._judge = Judge(self._registry, self._options)
        self._worker_id = uuid4()
        self._intake = Intake(self._registry, Pace(), self._worker_id)
        self.serve(*queues)

    def serve(self, *queues: str) -> None:
        """Take from these queues only; none is all."""
        self._serving = Serving(tuple(queue_pattern(name) for name in queues))
        self._queues = Q()
        for name in queues:
            self._queues |= Q(queue_name__startswith=name[:-1]) if name.endswith("*") else Q(queue_name=name)

    def take(self, within: timedelta) -> Flight | None:
        """Claim the next job that is due within that time."""
        come_to_the_commit(self._backend)
        return self._claim() or (self._claim() if self._bring_forward(within) else None)

    def _bring_forward(self, within: timedelta) -> bool:
        """Have the next job that waits for a moment wait no longer, if it is within that time."""
        waiting = Job.objects.using(self.using).filter(
            self._queues, backend=self._backend, status=Status.WAITING, waiting_for__in=DUE_BY_TIME
        )
        next_ids = waiting.filter(run_after__lte=Now() + within).order_by("run_after", "pk").values("pk")[:1]
        return bool(Job.objects.using(self.using).filter(pk__in=next_ids).update(run_after=Now()))

    def _claim(self) -> Flight | None:
        connection = connections[self.using]
        run_on(connection, promote())
        token = uuid4()
        claims = claim(
            backend=self._backend,
            tasks=self._registry.names(),
            versions=self._registry.versions(),
            serving=self._serving,
            limit=1,
            token=token,
            worker_id=self._worker_id,
            lease_seconds=LEASE_SECONDS,
        )
        for claimed in run_on(connection, claims):
            return self._intake.flight(claimed, token, lease_until=float("inf"))
        return None

    def run(self, flight: Flight) -> Outcome | Committed:
        """Run an attempt here."""
        order = Order.read(*flight.order().split(b"\n"))
        task = self._registry.get(order.task)
        bounds = Bounds(self._options.max_result_bytes, self._backend, self.using)
        with _kept_settings(self.using), _savepoint(self.using):
            if task is not None and iscoroutinefunction(task.func):
                # In a context of its own: the attempt is not the test's.
                return Context().run(async_to_sync(executor.run_async), order, task, bounds)
            return Context().run(executor.run_here, order, task, bounds)

    def settle(self, flight: Flight, outcome: Outcome | Committed) -> Ran:
        """Close an attempt, and tell receivers of the end of a job."""
        if not isinstance(outcome, Committed):
            settlement = self._judge.settlement(
                flight.claimed, flight.token, outcome, cancel_requested=flight.cancel_requested
            )
            for statement in settle([settlement]):
                run_on(connections[self.using], statement)
        job = Job.objects.using(self.using).get(pk=flight.claimed.id)
        attempts = job.attempts.using(self.using).order_by("number")
        if job.status in TERMINAL:
            result = results.from_job(job, attempts, self._registry.get(job.task))
            task_finished.send_robust(sender=type(task_backends[self._backend]), task_result=result)
        last = attempts.get(number=flight.claimed.attempt_number)
        return Ran(job, last.outcome, last.message, last.traceback)


@contextmanager
def _savepoint(using: str) -> Iterator[None]:
    """Undo an attempt that has broken the test's transaction; in production a statement would have failed alone."""
    connection = connections[using]
    if not connection.in_atomic_block:
        yield
        return
    point: Any = connection.savepoint()
    yield
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
    yield
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config(%s, %s, true)", [name, before])
