"""The one place where the keeper waits, and what wakes it: a signal, a reply from the database, a NOTIFY, a runner.

Every wake-up is only a hint. Whoever misses one finds out at the next poll.
"""

from __future__ import annotations

import operator
import os
import selectors
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import psycopg


class Wakeup:
    """A selector with a pipe of its own, so that signals and other threads can wake it."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        os.set_blocking(self._write_end, False)
        self._selector.register(self._read_end, selectors.EVENT_READ, self._drain)
        self._urgent = selectors.DefaultSelector()
        self._urgent.register(self._read_end, selectors.EVENT_READ)
        self._previous: dict[int, Any] = {}
        self._on_signal: dict[int, Callable[[], object]] = {}

    def wake(self) -> None:
        """End the wait that is under way, or the next one. Safe in any thread."""
        # A full pipe wakes as well as one byte more.
        with suppress(BlockingIOError, OSError):
            os.write(self._write_end, b"\0")

    def catch(self, signals: Iterable[signal.Signals], on_signal: Callable[[], object]) -> None:
        """Have these signals end the wait, which then calls `on_signal` for each."""
        for number in signals:
            self._on_signal[number] = on_signal
            # Does nothing, in C: one in Python would be interrupted by the next signal, and so on until there is no
            # stack left.
            self._previous[number] = signal.signal(number, operator.is_)
        # The interpreter writes a signal's number here the moment it arrives: one that comes just before the wait does
        # not sleep through it.
        signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)

    def watch(self, fileobj: Any, on_ready: Callable[[int], None], *, write: bool = False) -> None:
        """Call `on_ready` with the events when `fileobj` can be read, or also when it can be written."""
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if write else 0)
        try:
            self._selector.modify(fileobj, events, on_ready)
        except KeyError:
            self._selector.register(fileobj, events, on_ready)

    def forget(self, fileobj: Any) -> None:
        """Watch `fileobj` no longer."""
        with suppress(KeyError, ValueError):
            self._selector.unregister(fileobj)

    def wait(self, seconds: float) -> None:
        """Wait for something to happen, at most so long, and call whom it concerns."""
        for key, events in self._selector.select(max(0.0, seconds)):
            # One may end another: that a runner died is told by its starter and by its own socket, in the same moment.
            if self._is_watched(key.fileobj):
                key.data(events)

    def rest(self, seconds: float) -> None:
        """Let what can wait gather for so long; `wake` and signals end it."""
        self._urgent.select(seconds)

    def close(self) -> None:
        """Put the signals' handlers back and close what is open."""
        if self._previous:
            signal.set_wakeup_fd(-1)
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._selector.close()
        self._urgent.close()
        os.close(self._read_end)
        os.close(self._write_end)

    def _is_watched(self, fileobj: Any) -> bool:
        try:
            self._selector.get_key(fileobj)
        except (KeyError, ValueError):  # ValueError: it is closed
            return False
        return True

    def _drain(self, _events: int) -> None:
        with suppress(BlockingIOError):
            while numbers := os.read(self._read_end, 4096):
                for number in numbers:
                    if number in self._on_signal:
                        self._on_signal[number]()


class Ear:
    """A connection that LISTENs. Reads without ever waiting."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        # Kept, because a connection that is lost no longer tells, and must still be unregistered.
        self._fd = connection.pgconn.socket

    def fileno(self) -> int:
        """The socket, for a selector."""
        return self._fd

    def heard(self) -> frozenset[str]:
        """Take in what has arrived and answer with the payloads of the notifications among it.

        Raises psycopg.OperationalError when the connection is gone.
        """
        pgconn = self._connection.pgconn
        pgconn.consume_input()
        payloads = set()
        while (notification := pgconn.notifies()) is not None:
            payloads.add(notification.extra.decode("utf-8", "replace"))
        return frozenset(payloads)

    def close(self) -> None:
        """Close the connection."""
        with suppress(psycopg.Error):
            self._connection.close()
