"""Admit jobs that wait for their turn, or for a slot under a limit: they become ready.

It happens in one transaction at a time, whoever's that is: `admit_lock` asks for it and says whether it was given, and
the two others, in the same transaction, do nothing where it was not. Nothing counts slots or turns but the rows of the
jobs, so that a crash loses none and nothing gives one back twice.
"""

from __future__ import annotations

from django_jobqueue.store.statement import Row, Statement

LOCK = 0x6A6F_6271_6164_6D69
"""Of PostgreSQL's advisory locks in the queue's database; "jobqadmi" as a number."""

LIMIT = 1000
"""Jobs that one statement admits at most."""


def admit_lock() -> Statement[bool]:
    """Ask to be the one that admits, until the transaction ends. Answers whether it is so; waits for nobody."""
    return Statement("admit_lock", {"lock": LOCK}, _granted)


def admit_ordered(*, limit: int = LIMIT) -> Statement[list[str]]:
    """Give the turn to the next job of each order key; answers with the queue of each."""
    return Statement("admit_ordered", {"limit": limit}, _queues)


def admit_limited(*, limit: int = LIMIT) -> Statement[list[str]]:
    """Give the slots that are free, in claim order; answers with the queue of each job that got one."""
    return Statement("admit_limited", {"limit": limit}, _queues)


def _granted(rows: list[Row]) -> bool:
    return bool(rows[0][0])


def _queues(rows: list[Row]) -> list[str]:
    return [row[0] for row in rows]
