"""Admit jobs that wait for their turn, for a slot under a limit, or for a place in a queue that tenants share.

They become ready. It happens in one transaction at a time, whoever's that is: `admit_lock` asks for it and says
whether it was given, and the others, in the same transaction, do nothing where it was not. Nothing counts turns, slots
or places but the rows of the jobs, so that a crash loses none and nothing gives one back twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from django.db import connections

from django_jobqueue.store.claim import Claimed
from django_jobqueue.store.park import ALIVE_SECONDS
from django_jobqueue.store.statement import Row, Statement

LOCK = 0x6A6F_6271_6164_6D69
"""Of PostgreSQL's advisory locks in the queue's database; "jobqadmi" as a number."""

LIMIT = 1000
"""Jobs that one statement admits at most."""


LANES = 1000
"""Lanes that one statement looks at; where there are more, the next looks go on from there."""
ALL_LANES = 2**31 - 1


class Lane(NamedTuple):
    """Of jobs that wait for a slot, or a place, those whose backend, queue, task and key are the same."""

    backend: str = ""
    queue_name: str = ""
    task: str = ""
    key: str = ""


FIRST = Lane()
"""Before all others."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """The queues of the jobs that were admitted, one a job; and the lane after which the next look goes on."""

    queues: list[str]
    left_off: Lane = FIRST


class Door(NamedTuple):
    """Whether this transaction may admit jobs, and whether there were any that wait for it."""

    is_ours: bool
    has_queue: bool


def admit_wanted() -> Statement[bool]:
    """Ask whether any job waits to be admitted: where none does, to admit would cost the others milliseconds."""
    return Statement("admit_wanted", {}, _wanted)


def admit_lock() -> Statement[Door]:
    """Ask to be the one that admits, until the transaction ends. Waits for nobody."""
    return Statement("admit_lock", {"lock": LOCK}, _door)


def exclusively(using: str) -> None:
    """Wait until nobody admits, and keep everybody from it until this transaction ends. One must be open."""
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def admit_ordered(*, limit: int = LIMIT) -> Statement[list[str]]:
    """Give the turn to the next job of each order key; answers with the queue of each."""
    return Statement("admit_ordered", {"limit": limit}, _queues)


def admit_limited(*, limit: int = LIMIT, after: Lane = FIRST, lanes: int = LANES) -> Statement[Admitted]:
    """Give the slots that are free, in claim order, to jobs of the next `lanes` lanes after that one."""
    params = {
        "limit": limit,
        "lanes": lanes,
        "after_backend": after.backend,
        "after_queue": after.queue_name,
        "after_task": after.task,
        "after_key": after.key,
    }
    return Statement("admit_limited", params, _admitted)


def admit_shared(claim: Statement[list[Claimed]], *, after: Lane = FIRST, lanes: int = LANES) -> Statement[Admitted]:
    """Give places in queues that tenants share to as many jobs as a claim can take, before it, in its transaction."""
    params = {
        **{name: claim.params[name] for name in ("backend", "tasks", "versions", "served", "excluded", "suspects")},
        # Of probes the limit says how many jobs are looked at.
        "wanted": claim.params.get("at_most", claim.params["limit"]),
        "alive_seconds": ALIVE_SECONDS,
        "lanes": lanes,
        "after_queue": after.queue_name,
        "after_key": after.key,
        "after_task": after.task,
    }
    return Statement("admit_shared", params, _admitted)


def _wanted(rows: list[Row]) -> bool:
    return bool(rows[0][0])


def _door(rows: list[Row]) -> Door:
    return Door(*rows[0])


def _queues(rows: list[Row]) -> list[str]:
    return [row[0] for row in rows]


def _admitted(rows: list[Row]) -> Admitted:
    queues, left_off = rows[0]
    return Admitted(queues, FIRST if left_off is None else Lane(*left_off))
