"""Where the code of a task commits: each COMMIT of a transaction, and each writing statement outside of any."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from django.db import connections

Moment = tuple[int, str]
"""A commit by its number, from 1, and "before" or "after" it."""

_READS = ("SELECT", "SET", "SHOW", "EXPLAIN", "SAVEPOINT", "RELEASE", "ROLLBACK", "BEGIN", "DECLARE", "FETCH", "CLOSE")


class CommitPoints:
    """Counts the commits of this process, and kills it at one of them."""

    def __init__(self, moment: Moment | None) -> None:
        self._moment = moment
        self.count = 0

    def watch(self) -> None:
        """Watch every connection of this thread, for good."""
        for connection in connections.all():
            connection._commit = self._around(connection._commit)  # type: ignore[attr-defined]
            connection.execute_wrappers.append(self._execute)

    def _around(self, commit: Callable[[], Any]) -> Callable[[], Any]:
        def counted() -> Any:
            self._come("before")
            answer = commit()
            self._come("after")
            return answer

        return counted

    def _execute(self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:
        connection = context["connection"]
        words = str(sql).lstrip("( \n").split(None, 1)
        is_reading = not words or words[0].upper() in _READS
        if is_reading or connection.in_atomic_block or not connection.get_autocommit():
            return execute(sql, params, many, context)
        return self._around(lambda: execute(sql, params, many, context))()

    def _come(self, when: str) -> None:
        if when == "before":
            self.count += 1
        if self._moment == (self.count, when):
            os.kill(os.getpid(), signal.SIGKILL)
