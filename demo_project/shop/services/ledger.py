"""A book with one line per idempotency key, on disk, for services that must not act twice."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

SCHEMA = """
CREATE TABLE IF NOT EXISTS entry (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    document TEXT NOT NULL,
    reference TEXT NOT NULL
)
"""


class KeyReused(Exception):
    """A key came back with another document. Answering it would hide a fault of the caller's."""


class Ledger:
    """What a service did. Safe for many threads: each call opens the file anew, SQLite locks it."""

    def __init__(self, path: Path, prefix: str) -> None:
        self.path = path
        self.prefix = prefix
        with closing(self._connect()) as connection, connection:
            connection.execute(SCHEMA)

    def reference_for(self, key: str, document: str) -> str | None:
        """Find what was done under a key. Raises KeyReused if it was done for another document."""
        with closing(self._connect()) as connection:
            return self._find(connection, key, document)

    def write(self, key: str, document: str) -> tuple[str, bool]:
        """Do it under a key, once: answer with the reference, and whether this call did it."""
        with closing(self._connect()) as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            known = self._find(connection, key, document)
            if known is not None:
                return known, False
            (count,) = connection.execute("SELECT count(*) FROM entry").fetchone()
            reference = f"{self.prefix}-{count + 1:05}"
            connection.execute(
                "INSERT INTO entry (key, document, reference) VALUES (?, ?, ?)",
                (key, document, reference),
            )
            return reference, True

    def documents(self) -> list[tuple[str, str]]:
        """List (reference, document) of all that was done, in order."""
        with closing(self._connect()) as connection:
            return connection.execute("SELECT reference, document FROM entry ORDER BY id").fetchall()

    def _find(self, connection: sqlite3.Connection, key: str, document: str) -> str | None:
        row = connection.execute("SELECT document, reference FROM entry WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        if row[0] != document:
            raise KeyReused(key)
        return str(row[1])

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=10, isolation_level=None)
