"""The gate of every claim: what may be claimed is changed while no claim is under way.

Who changes it (`exclusively`) waits until those that have begun are committed; who claims (`hold`) waits for nobody.
"""

from __future__ import annotations

from typing import NamedTuple

from django.db import connections

from django_jobqueue.store.statement import Row, Statement

LOCK = 0x6A6F_6271_7565_7565
"""Of PostgreSQL's advisory locks in the queue's database; "jobqueue" as a number."""


class Gate(NamedTuple):
    """What claims find before them."""

    is_held: bool
    """Somebody changes the rules: the claims of this transaction take nothing, and have not looked."""
    has_pauses: bool
    """Something is paused, so that jobs may lie about that nobody takes."""
    has_rated: bool = False
    """Jobs under a rate are ready: it takes a claim of another kind to see them."""


OPEN = Gate(is_held=False, has_pauses=False)


def hold() -> Statement[Gate]:
    """Ask, before the claims of a transaction, whether they are held back; have them know."""
    return Statement("hold", {"lock": LOCK}, _read)


def exclusively(using: str) -> None:
    """Wait until no claim is under way, and hold the others back until this transaction ends. One must be open."""
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def _read(rows: list[Row]) -> Gate:
    return Gate(*rows[0])
