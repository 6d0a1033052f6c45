"""What waits to be written: decided attempts, and jobs to give back.

Nothing leaves the ledger before PostgreSQL has answered for it. An outage puts a batch back as it was; a refusal
has it halved, again and again, until the row that PostgreSQL will not take is alone, and the others are written. A
row that somebody has locked is kept apart until it is free.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import psycopg

from django_jobqueue.policy.lifecycle import Reason
from django_jobqueue.policy.outcomes import (
    Failure,
    OutcomeName,
)
from django_jobqueue.policy.retry import Bury, Decision, Finish
from django_jobqueue.store.renew import Lease
from django_jobqueue.store.settle import Settlement

logger = logging.getLogger("django_jobqueue.worker")

MAX_BATCH = 1000
"""Rows that one transaction writes at most."""

MAX_BATCH_BYTES = 4 * 1024 * 1024
"""Results that one transaction writes at most, or a single larger one: more would not be written in time."""


_REFUSALS = frozenset({"0A", "22", "23", "54", "XX"})
"""Classes of SQLSTATE that are about what was sent: data, constraints, limits, and what PostgreSQL chokes on."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What one transaction writes."""

    settlements: Sequence[Settlement] = ()
    leases: Sequence[Lease] = ()
    doubtful: Sequence[Settlement] = ()
    """Those of the settlements that may have been written already, in a call whose reply was lost."""

    @property
    def size(self) -> int:
        """How many rows it is."""
        return len(self.settlements) + len(self.leases)


class Ledger:
    """The attempts that are decided and not yet settled."""

    def __init__(self) -> None:
        self._settlements: deque[Settlement] = deque()
        self._leases: deque[Lease] = deque()
        self._locked: list[Settlement | Lease] = []
        self._doubtful: set[tuple[int, UUID]] = set()
        self._limit = MAX_BATCH

    @property
    def is_empty(self) -> bool:
        """Whether everything has been written."""
        return not self.has_batch and not self._locked

    @property
    def has_batch(self) -> bool:
        """Whether something can be written now."""
        return bool(self._settlements or self._leases)

    @property
    def is_isolating(self) -> bool:
        """Whether a bad row is being looked for."""
        # With nothing left to write there is no bad row either.
        return self._limit < MAX_BATCH and self.has_batch

    def leases(self) -> list[Lease]:
        """List the leases of what waits: an outcome that cannot be written yet is worth keeping them for."""
        entries = [*self._settlements, *self._leases, *self._locked]
        return [_lease(entry) for entry in entries]

    def add(self, settlement: Settlement) -> None:
        """Note a decided attempt."""
        self._settlements.append(settlement)

    def give_back(self, lease: Lease) -> None:
        """Note a job that was claimed and never started."""
        self._leases.append(lease)

    def take(self) -> Batch:
        """Take the next batch; it must come back by `written`, `put_back`, `doubt`, `refused` or `set_aside`."""
        settlements = self._take_settlements()
        room = self._limit - len(settlements)
        leases = [self._leases.popleft() for _ in range(min(room, len(self._leases)))]
        doubtful = tuple(s for s in settlements if (s.job_id, s.token) in self._doubtful) if self._doubtful else ()
        return Batch(settlements, leases, doubtful)

    def _take_settlements(self) -> list[Settlement]:
        settlements: list[Settlement] = []
        size = 0
        while self._settlements and len(settlements) < self._limit:
            size += _bytes(self._settlements[0])
            if size > MAX_BATCH_BYTES and settlements:
                break
            settlements.append(self._settlements.popleft())
        return settlements

    def written(self, batch: Batch) -> None:
        """Note that PostgreSQL has answered for a batch."""
        if batch.size:
            self._limit = min(MAX_BATCH, self._limit * 2)
        self._doubtful.difference_update((s.job_id, s.token) for s in batch.doubtful)

    def doubt(self, batch: Batch) -> None:
        """Return a batch that no answer came for: it may have been written all the same."""
        self._doubtful.update((s.job_id, s.token) for s in batch.settlements)
        self.put_back(batch)
        # Perhaps it was too much for the time that a call may take.
        self._limit = max(1, min(self._limit, batch.size // 2)) if batch.size else self._limit

    def put_back(self, batch: Batch) -> None:
        """Return a batch that was not written."""
        self._settlements.extendleft(reversed(batch.settlements))
        self._leases.extendleft(reversed(batch.leases))

    def set_aside(self, batch: Batch) -> None:
        """Keep a batch apart that waited for somebody's lock on one of its rows, until it is known which.

        The next ones are half as large: it may be the server that is slow.
        """
        self._locked += [*batch.settlements, *batch.leases]
        self._limit = max(1, min(self._limit, batch.size // 2))

    def locked(self) -> list[Lease]:
        """Name the leases of what is kept apart."""
        return [_lease(entry) for entry in self._locked]

    def unlock(self, busy: frozenset[Lease]) -> None:
        """Put what was kept apart first in line again, but for the jobs that somebody has locked still."""
        free = [entry for entry in self._locked if _lease(entry) not in busy]
        self._locked = [entry for entry in self._locked if _lease(entry) in busy]
        self._settlements.extendleft(entry for entry in free if isinstance(entry, Settlement))
        self._leases.extendleft(entry for entry in free if isinstance(entry, Lease))

    def refused(self, batch: Batch, error: Exception) -> None:
        """Return a batch that PostgreSQL refuses: in halves, and a row that is alone with as few words as can be."""
        if batch.size > 1:
            self._limit = max(1, batch.size // 2)
            self.put_back(batch)
            return
        for settlement in batch.settlements:
            short = bare(settlement)
            if short == settlement:
                logger.error(
                    "job %s: its outcome cannot be stored (%s); its lease will run out", settlement.job_id, error
                )
                self._doubtful.discard((settlement.job_id, settlement.token))
            else:
                logger.error("job %s: its outcome is refused (%s); a short record is kept", settlement.job_id, error)
                self._settlements.appendleft(short)
        for lease in batch.leases:
            logger.error("job %s cannot be given back (%s); its lease will run out", lease.job_id, error)


def _bytes(settlement: Settlement) -> int:
    # What a failure says is bounded, and short beside a result.
    step = settlement.decision.step
    return len(step.result) if isinstance(step, Finish) else 0


def is_refusal(error: Exception) -> bool:
    """Whether PostgreSQL refuses what it was given, as against not being able to take anything now."""
    if isinstance(error, psycopg.Error) and (error.sqlstate or "")[:2] in _REFUSALS:
        return True
    # Text that cannot even be sent.
    return isinstance(error, psycopg.DataError | UnicodeError)


def is_a_surprise(error: Exception) -> bool:
    """Whether an error is none that a database, a line or text can cause: a mistake in a call, or in a row it reads."""
    return not isinstance(error, psycopg.Error | OSError | UnicodeError)


def waited_for_a_lock(error: Exception) -> bool:
    """Whether a call may have failed because somebody else had locked a row that it writes."""
    errors = psycopg.errors
    return isinstance(error, errors.QueryCanceled | errors.LockNotAvailable | errors.DeadlockDetected)


def _lease(entry: Settlement | Lease) -> Lease:
    return Lease(entry.job_id, entry.token)


def bare(settlement: Settlement) -> Settlement:
    """Write the same decision with nothing in it that could be refused again."""
    decision = settlement.decision
    failure = Failure(_plain(decision.failure.exception_class), "what it said cannot be stored")
    if isinstance(decision.step, Finish):
        decision = Decision(Bury(Reason.INVALID_RESULT), OutcomeName.FAILED, charged=True)
    decision = decision._replace(failure=failure)
    return settlement._replace(decision=decision, owner=_plain(settlement.owner))


def _plain(text: str) -> str:
    return text.encode("ascii", "replace").decode().replace("\0", "?")[:200]
