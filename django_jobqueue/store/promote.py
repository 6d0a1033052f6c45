"""Make ready what has fallen due."""

from __future__ import annotations

from typing import NamedTuple

from django_jobqueue.store.statement import Row, Statement

LIMIT = 1000
"""Jobs that one statement makes ready at most."""


class Promoted(NamedTuple):
    """How many jobs became ready, and in how many seconds the next one will be due (None: none waits for a time)."""

    moved: int
    next_due_seconds: float | None


def promote(*, limit: int = LIMIT) -> Statement[Promoted]:
    """Move WAITING jobs whose run_after has come to READY, at most `limit` of them."""
    return Statement("promote", {"limit": limit}, _read)


def _read(rows: list[Row]) -> Promoted:
    return Promoted(*rows[0])
