"""The gate of every claim: what may be claimed is changed while no claim is under way.

Who changes it (`exclusively`) waits until those that have begun are committed; who claims (`hold`) waits for nobody.
"""

from __future__ import annotations

from django.db import connections

from django_jobqueue.store.statement import Row, Statement

LOCK = 0x6A6F_6271_7565_7565
"""Of PostgreSQL's advisory locks in the queue's database; "jobqueue" as a number."""


def hold() -> Statement[bool]:
    """Ask, before the claims of a transaction, whether they are held back because somebody changes the rules.

    They take nothing then, and the answer is True.
    """
    return Statement("hold", {"lock": LOCK}, _read)


def exclusively(using: str) -> None:
    """Wait until no claim is under way, and hold the others back until this transaction ends. One must be open."""
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def _read(rows: list[Row]) -> bool:
    return bool(rows[0][0])
