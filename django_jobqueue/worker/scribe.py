"""Write the keeper's log and its words to the terminal in a thread of its own.

A write to a pipe whose reader has stopped reading waits for ever: a pager, Ctrl-S, a log driver that is stuck. The
keeper must not wait: it has leases to renew.
"""

from __future__ import annotations

import logging
import queue
import threading
import traceback
from collections.abc import Callable
from functools import partial

LOGGERS = ("django_jobqueue.worker", "django_jobqueue.jobs")
"""What the keeper logs under."""

MAX_LINES = 10_000
"""Lines that wait at most; beyond that the newest are dropped, and counted."""

CLOSE_SECONDS = 1.0
"""At the end what waits has so long to be written."""


class Scribe:
    """A filter on the keeper's loggers that hands each record to a thread, which calls the handlers.

    Their levels, formats and destinations are the project's, and stay so.
    """

    def __init__(self) -> None:
        self.is_stuck = False
        """Whether something is still being written after the end, so that the interpreter cannot end in good order."""
        self._lines: queue.Queue[Callable[[], object] | None] = queue.Queue(MAX_LINES)
        self._dropped = 0
        self._thread = threading.Thread(target=self._write, name="jobqueue-scribe", daemon=True)

    def open(self) -> None:
        """Write from here on."""
        self._thread.start()
        for name in LOGGERS:
            logging.getLogger(name).addFilter(self.filter)

    def filter(self, record: logging.LogRecord) -> bool:
        """Take a record over: its logger does nothing with it any more."""
        self._put(partial(logging.getLogger(record.name).callHandlers, record))
        return False

    def later(self, say: Callable[[str], object]) -> Callable[[str], None]:
        """Return a `say` that does not wait."""
        return lambda line: self._put(partial(say, line))

    def close(self) -> None:
        """Have written what waits, if it can be."""
        for name in LOGGERS:
            logging.getLogger(name).removeFilter(self.filter)
        self._put(None)
        self._thread.join(CLOSE_SECONDS)
        self.is_stuck = self._thread.is_alive()

    def _put(self, line: Callable[[], object] | None) -> None:
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            self._dropped += 1

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                line()
            except Exception:  # a handler of the project's; the next lines may have better luck
                traceback.print_exc()
            if self._dropped and self._lines.empty():
                dropped, self._dropped = self._dropped, 0
                logging.getLogger(LOGGERS[0]).warning("%d lines were dropped: nobody took them in time", dropped)
