"""Claim what is under a rate: a start takes a token of each bucket of its queue, task and key.

One transaction at a time spends tokens, whoever's that is: `rate_lock` asks for it, and `claim_rated`, the next
statement, takes plain jobs alone where it was not given. How fast a bucket fills is said by the worker that claims,
from its own code, where no person has set it (`Limit`); what is left in it is in its row (`RateBucket`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django_jobqueue.policy.rate import Rate
from django_jobqueue.store.breakers import NO_BREAKER
from django_jobqueue.store.claim import Claimed, read_claimed
from django_jobqueue.store.statement import Row, Statement, array, text_array

LOCK = 0x6A6F_6271_7261_7465
"""Of PostgreSQL's advisory locks in the queue's database; "jobqrate" as a number."""

SWEPT = 1000
"""Buckets that one statement throws away at most."""


@dataclass(frozen=True, slots=True)
class TaskRate:
    """The rate of a task, for all of its jobs or for those of each key; `target` is its name, whatever its aliases."""

    target: str
    rate: Rate
    by_key: bool = False


@dataclass(frozen=True, slots=True)
class Rates:
    """What the code of a worker declares: rates by the names of queues, and by all names of tasks."""

    queues: Mapping[str, Rate] = field(default_factory=dict)
    tasks: Mapping[str, TaskRate] = field(default_factory=dict)

    def params(self) -> dict[str, str]:
        """Write them as arrays, in one order each."""
        queues, tasks = list(self.queues.values()), list(self.tasks.values())
        whole = [None if each.by_key else each.rate for each in tasks]
        keyed = [each.rate if each.by_key else None for each in tasks]
        return {
            "rated_queues": text_array([*self.queues]),
            "queue_paces": _paces(queues),
            "queue_bursts": _bursts(queues),
            "rated_tasks": text_array([*self.tasks]),
            "task_targets": text_array([each.target for each in tasks]),
            "task_paces": _paces(whole),
            "task_bursts": _bursts(whole),
            "key_paces": _paces(keyed),
            "key_bursts": _bursts(keyed),
        }


NO_RATES = Rates()


class RatedClaim(NamedTuple):
    """What was claimed, and in how many seconds there may be a token for something else; None: nothing waits for one.

    0 is at once: more was left in a bucket than there was room for.
    """

    jobs: list[Claimed]
    next_seconds: float | None


def rate_lock() -> Statement[bool]:
    """Ask to be the one that spends tokens, until the transaction ends. Waits for nobody."""
    return Statement("rate_lock", {"lock": LOCK}, _is_ours)


def claim_rated(claim: Statement[list[Claimed]], rates: Rates) -> Statement[RatedClaim]:
    """Make a claim of plain jobs one of them and of jobs under a rate, in claim order, as many as there are tokens.

    A token is spent by whatever is claimed, also where it is given back without a start.
    """
    return Statement("claim_rated", {**NO_BREAKER, **claim.params, **rates.params()}, _read, claim.inner)


class Bucket(NamedTuple):
    """What one job takes a token of: in how many seconds there is one, and the rate, if a person has set it."""

    kind: str
    target: str
    set_rate: str | None
    next_seconds: float


def buckets_of(*, backend: str, queue_name: str, task: str, rate_key: str, rates: Rates) -> Statement[list[Bucket]]:
    """Read the buckets of a job."""
    job = {"backend": backend, "queue_name": queue_name, "task": task, "rate_key": rate_key}
    return Statement("buckets_of", {**job, **rates.params()}, lambda rows: [Bucket(*row) for row in rows])


def sweep_buckets(*, limit: int = SWEPT) -> Statement[int]:
    """Throw away buckets that have long been full, at most `limit`, in a transaction that has the lock."""
    return Statement("sweep_buckets", {"limit": limit}, _count)


def _paces(rates: Sequence[Rate | None]) -> str:
    return array(["NULL" if rate is None else str(rate.pace_microseconds) for rate in rates])


def _bursts(rates: Sequence[Rate | None]) -> str:
    return array(["NULL" if rate is None else str(rate.burst) for rate in rates])


def _is_ours(rows: list[Row]) -> bool:
    return bool(rows[0][0])


def _read(rows: list[Row]) -> RatedClaim:
    next_seconds = rows[0][0]
    return RatedClaim(read_claimed([row[1:] for row in rows if row[1] is not None]), next_seconds)


def _count(rows: list[Row]) -> int:
    return len(rows)
