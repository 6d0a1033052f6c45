"""A worker as the store knows it: an id, a session, and the verbs.

Jobs reach every state by the verbs themselves, so a test's rows look as the queue would have left them.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Barrier
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db.models.functions import Now

from django_jobqueue.models import DeadLetter, Job
from django_jobqueue.policy.lifecycle import Reason, WaitingFor
from django_jobqueue.policy.outcomes import Failure, OutcomeName
from django_jobqueue.policy.retry import Bury, Decision, Finish, Release, Wait
from django_jobqueue.store.admit import admit_limited, admit_lock, admit_ordered, admit_shared
from django_jobqueue.store.claim import Claimed, Serving, claim
from django_jobqueue.store.control import hold
from django_jobqueue.store.give_back import give_back
from django_jobqueue.store.promote import promote
from django_jobqueue.store.rates import NO_RATES, Rates, claim_rated, rate_lock
from django_jobqueue.store.renew import Lease, renew
from django_jobqueue.store.replay import replay as store_replay
from django_jobqueue.store.rescue import TakenOver, recover, rescue
from django_jobqueue.store.session import Session, connect
from django_jobqueue.store.settle import Settlement, settle
from django_jobqueue.store.statement import Statement

# Emptying the queue's own tables is a tenth of the work of flushing every app's.
COMMITS = pytest.mark.django_db(transaction=True, available_apps=["django_jobqueue"])

TASK = "shop.charge"

FAILURE = Failure("builtins.ValueError", "it fails", 'Traceback:\n  File "shop.py", line 3, in charge\n')

FINISH = Decision(Finish('{"paid": true}'), OutcomeName.SUCCEEDED)
RETRY = Decision(Wait(60.0, WaitingFor.RETRY), OutcomeName.FAILED, FAILURE, charged=True)
RETRY_NOW = Decision(Wait(0.0, WaitingFor.RETRY), OutcomeName.FAILED, FAILURE, charged=True)
SNOOZE = Decision(Wait(60.0, WaitingFor.SNOOZE), OutcomeName.SNOOZED, snoozed=True)
RELEASE = Decision(Release(), OutcomeName.INTERRUPTED, Failure("", "a deploy"), interrupted=True)
LOST = Decision(Release(), OutcomeName.LOST, Failure("WorkerLost", "its lease ran out"), charged=True)
BURY = Decision(Bury(Reason.ATTEMPTS_EXHAUSTED), OutcomeName.FAILED, FAILURE, charged=True)


@dataclass(frozen=True)
class Held:
    """A job in a worker's hands, and the lease that it is held under."""

    job: Claimed | TakenOver
    token: UUID

    @property
    def id(self) -> int:
        return self.job.id

    @property
    def lease(self) -> Lease:
        return Lease(self.id, self.token)

    def settled_as(self, decision: Decision, **words: str) -> Settlement:
        return Settlement(self.id, self.token, decision, **{"task": self.job.task, **words})


@dataclass(eq=False)
class Hand:
    """One worker."""

    id: UUID = field(default_factory=uuid4)
    session: Session = field(default_factory=lambda: Session("default"))
    by_group: bool = False
    next_seconds: float | None = None
    gives_credits: bool = True

    def _run(self, *statements):
        # A verb that waits for somebody's lock is a failure, not a test without an end.
        return self.session.run(*statements, statement_timeout_ms=20_000)

    def claim(self, limit: int = 1, **options: Any) -> list[Held]:
        token = uuid4()
        _, jobs = self._run(hold(), self.claim_of(limit, token, **options))
        return [Held(job, token) for job in jobs]

    def claim_rated(self, limit: int = 1, rates: Rates = NO_RATES, **options: Any) -> list[Held]:
        """Claim what is under a rate too; `next_seconds` is kept."""
        token = uuid4()
        _, _, (jobs, self.next_seconds) = self._run(
            hold(), rate_lock(), claim_rated(self.claim_of(limit, token, **options), rates)
        )
        return [Held(job, token) for job in jobs]

    def claim_of(
        self,
        limit: int,
        token: UUID,
        *,
        tasks: tuple[str, ...] = (TASK,),
        serving: Serving = Serving(),  # noqa: B008 - a frozen value
        backend: str = "default",
        lease_seconds: float = 30.0,
        suspects: bool = True,
        versions: Mapping[str, int] = MappingProxyType({}),
        aging_seconds: float | None = None,
    ) -> Statement[list[Claimed]]:
        return claim(
            backend=backend,
            tasks=tasks,
            serving=serving,
            limit=limit,
            token=token,
            worker_id=self.id,
            lease_seconds=lease_seconds,
            suspects=suspects,
            by_group=self.by_group,
            versions=versions,
            gives_credits=self.gives_credits,
            aging_seconds=aging_seconds,
        )

    def renew(self, *held: Held, lease_seconds: float = 30.0):
        (renewal,) = self._run(renew([h.lease for h in held], lease_seconds=lease_seconds))
        return renewal

    def settle(self, *settlements: Settlement) -> frozenset[int]:
        return frozenset().union(*self._run(*settle(settlements)))

    def rescue(self, *held: Held, lease_seconds: float = 30.0, **options: Any) -> list[Held]:
        token = uuid4()
        tokens = {each.token for each in held}
        options = {"backend": "default", **options}
        (jobs,) = self._run(rescue(held_tokens=tokens, token=token, lease_seconds=lease_seconds, **options))
        return [Held(job, token) for job in jobs]

    def recover(self, *lost_tokens: UUID) -> list[Held]:
        token = uuid4()
        (jobs,) = self._run(recover(worker_id=self.id, lost_tokens=lost_tokens, token=token, lease_seconds=30.0))
        return [Held(job, token) for job in jobs]

    def give_back(self, *held: Held) -> frozenset[int]:
        (statuses,) = self._run(give_back([h.lease for h in held]))
        return frozenset(statuses)

    def admit(self) -> int:
        """Give turns and slots; answers with how many moves that were."""
        door, ordered, limited = self._run(admit_lock(), admit_ordered(), admit_limited())
        assert door.is_ours or not (ordered or limited.queues)
        return len(ordered) + len(limited.queues)

    def share_out(self, wanted: int, **options: Any) -> list[Held]:
        """Give places in queues that tenants share to as many, and claim as many."""
        token = uuid4()
        claims = claim(
            **{"backend": "default", "tasks": (TASK,), "serving": Serving(), **options},
            limit=wanted,
            token=token,
            worker_id=self.id,
            lease_seconds=30.0,
        )
        *_, jobs = self._run(admit_lock(), admit_ordered(), admit_limited(), hold(), admit_shared(claims), claims)
        return [Held(job, token) for job in jobs]

    def promote(self, **options: int):
        (promoted,) = self._run(promote(**options))
        return promoted


@dataclass(frozen=True)
class Ask:
    """A statement of a test's own."""

    sql: str
    params: Any = None

    def read(self, rows: list[Any]) -> list[Any]:
        return rows


def at(seconds: float):
    """Return the moment so many seconds from now, by PostgreSQL's clock."""
    return Now() + timedelta(seconds=seconds)


def add_job(**columns: Any) -> int:
    """Add a READY job, or one with these columns; answer with its id."""
    return Job.objects.create(**{"task": TASK, **columns}).pk


def add_jobs(count: int, **columns: Any) -> list[int]:
    """Add READY jobs that are all alike; answer with their ids, in claim order."""
    jobs = Job.objects.bulk_create([Job(**{"task": TASK, **columns}) for _ in range(count)])
    return [job.pk for job in jobs]


def let_leases_run_out(*held: Held) -> None:
    """Put the end of these leases a minute into the past."""
    assert Job.objects.filter(pk__in=[h.id for h in held]).update(lease_expires_at=at(-60)) == len(held)


def replay(job_id: int) -> None:
    """Answer the dead letter of a job."""
    letter = DeadLetter.objects.get(job_id=job_id)
    store_replay(letter.pk, by="ada", reason="the bank is back", using="default")


def row(job_id: int) -> dict[str, Any]:
    """Read a job's columns."""
    return Job.objects.values().get(pk=job_id)


def lease_seconds_left(job_id: int) -> float | None:
    """Say how many seconds a lease still has, by PostgreSQL's clock."""
    job = Job.objects.annotate(now=Now()).get(pk=job_id)
    return None if job.lease_expires_at is None else (job.lease_expires_at - job.now).total_seconds()


@contextmanager
def locked(job_id: int):
    """Hold a job's row locked by somebody else's transaction."""
    with connect("default") as stranger, stranger.transaction():
        stranger.execute('SELECT FROM "django_jobqueue_job" WHERE id = %s FOR UPDATE', [job_id])
        yield


def at_once(*calls):
    """Start all calls at the same moment, each in a thread; answer with what each returned, or its database error."""
    start = Barrier(len(calls))

    def run(call):
        start.wait(timeout=30)
        try:
            return call()
        except psycopg.Error as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))
