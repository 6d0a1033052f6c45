"""A side: a thread with a connection of its own, which takes one step when it is told to.

A step is a statement that names the queue's tables, one that asks for an advisory lock, or a COMMIT. What touches no
row (SET, SAVEPOINT, the record in the audit) rides along: no other side can tell when it happens.
"""

from __future__ import annotations

import queue
import re
import time
from collections.abc import Callable
from threading import Semaphore, Thread
from typing import Any

from django.db import connection, connections

from django_jobqueue.exceptions import Refused

_OURS = r"(django_jobqueue_(job|attempt|deadletter|pause|limit|credit)\b|_advisory_)"

TOUCHES_ROWS = re.compile(_OURS)

WRITES_OR_LOCKS = re.compile(rf"^(?!SELECT(?!.*( FOR |_advisory_))).*{_OURS}", re.DOTALL)
"""The same without plain reads, for deeds that are so long that their orders would be too many."""

PATIENCE_SECONDS = 20


class Side:
    """One of the two."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.answer: Any = None
        self.is_done = True
        self.is_blocked = False
        self.steps = TOUCHES_ROWS
        self._deeds: queue.Queue[Callable[[], Any] | None] = queue.Queue()
        self._arrivals: queue.Queue[str] = queue.Queue()
        self._leave = Semaphore(0)
        self._thread = Thread(target=self._live, daemon=True)
        self._thread.start()
        self._pid = self._arrivals.get(timeout=PATIENCE_SECONDS)

    def start(self, deed: Callable[[], Any]) -> None:
        """Begin a deed, up to its first step."""
        self.is_done = self.is_blocked = False
        self._deeds.put(deed)
        self._arrive()

    def step(self) -> None:
        """Take the next step; return when it is taken, or waits for the other side."""
        self._leave.release()
        self.look()

    def look(self) -> None:
        """Find out whether the step that was begun is taken, or waits for somebody's lock."""
        end = time.monotonic() + PATIENCE_SECONDS
        self.is_blocked = False
        while time.monotonic() < end:
            try:
                return self._arrive(timeout=0.002)
            except queue.Empty:
                with connection.cursor() as cursor:
                    cursor.execute("SELECT cardinality(pg_blocking_pids(%s)) > 0", [self._pid])
                    self.is_blocked = cursor.fetchone()[0]
                if self.is_blocked:
                    return
        raise TimeoutError(f"side {self.name} neither goes on nor waits for a lock")

    def end(self) -> None:
        """Let the deed run to its end, if there is one, and close the connection."""
        self._leave.release(1000)
        self._deeds.put(None)
        self._thread.join(timeout=PATIENCE_SECONDS)

    def _arrive(self, timeout: float = PATIENCE_SECONDS) -> None:
        self.is_done = self._arrivals.get(timeout=timeout) == "done"

    # --- In the thread

    def _live(self) -> None:
        mine = connections["default"]
        mine.ensure_connection()
        commit = mine._commit

        def stepped_commit() -> None:
            self._wait()
            commit()

        mine._commit = stepped_commit
        self._arrivals.put(mine.connection.info.backend_pid)
        with mine.execute_wrapper(self._stepped):
            while (deed := self._deeds.get()) is not None:
                self.answer = self._answer(deed)
                self._arrivals.put("done")
        mine.close()

    def _answer(self, deed: Callable[[], Any]) -> Any:
        try:
            return deed()
        except Refused as refusal:
            return refusal.code
        except Exception as error:
            # No serial order answers so: it is reported with the order in which it happened.
            return repr(error)

    def _stepped(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if self.steps.search(sql):
            self._wait()
        return execute(sql, params, many, context)

    def _wait(self) -> None:
        self._arrivals.put("at a step")
        self._leave.acquire()
