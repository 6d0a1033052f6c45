"""The keeper's line to the database: a thread that makes one call at a time, watched from outside.

A call may hang for ever: a peer that acknowledges packets and never answers is beyond every time-out of TCP and of
the server. So calls run in a thread of their own, and the main thread cuts the line when one has overstayed.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django_jobqueue.store.session import DEFAULTS, Session
from django_jobqueue.worker import clock

CALL_SECONDS, SHORTEST_CALL_SECONDS = 5.0, 1.5
"""No call takes longer than the first; then its connection is cut. A short lease shortens that, down to the second:
more than what a statement may wait for a lock."""

CUT_AGAIN_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call came to: its answer, or the error that it raised. `sent_at` is from before the call."""

    call: Any
    sent_at: float
    seconds: float
    answer: Any = None
    error: Exception | None = None


def call_seconds(lease_seconds: float) -> float:
    """Say how long a call may take under such a lease.

    A worker that waited on a silent line for longer than its lease would come back and rescue from the others what they
    have only had no chance to renew. An outage it must notice as one, and half a lease leaves time to try again.
    """
    return max(SHORTEST_CALL_SECONDS, min(CALL_SECONDS, lease_seconds / 2))


def longest_call_seconds(lease_seconds: float) -> float:
    """Say how long after it was sent a call under such a lease has ended, whatever becomes of the line.

    Where it has to connect first it cannot be cut in that time, and is looked at again at intervals.
    """
    return max(call_seconds(lease_seconds), float(DEFAULTS["connect_timeout"])) + CUT_AGAIN_SECONDS


class Link:
    """A thread that makes calls on a Session, none longer than `call_seconds`; `wake` is called with each reply."""

    def __init__(self, session: Session, wake: Callable[[], None], *, call_seconds: float = CALL_SECONDS) -> None:
        self._session = session
        self._wake = wake
        self._call_seconds = call_seconds
        self._calls: queue.SimpleQueue[tuple[Any, Callable[[Session], Any]] | None] = queue.SimpleQueue()
        self._replies: queue.SimpleQueue[Reply] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="jobqueue-link", daemon=True)
        self._deadline: float | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a call has been sent and its reply not been taken."""
        return self._deadline is not None

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def send(self, call: Any, work: Callable[[Session], Any]) -> None:
        """Make a call: `work` runs in the thread; its reply names `call`. One at a time."""
        if self.is_busy:
            raise RuntimeError("a call is under way")
        self._deadline = clock.now() + self._call_seconds
        self._calls.put((call, work))

    def take(self) -> Reply | None:
        """Take the reply, if it has come."""
        try:
            reply = self._replies.get_nowait()
        except queue.Empty:
            return None
        self._deadline = None
        return reply

    def deadline(self) -> float | None:
        """Say when the call under way must be cut, or None."""
        return self._deadline

    def cut(self) -> None:
        """Cut the line under the call that is under way; its reply will be an error.

        A call that is still connecting has no line to cut: it ends by its connect_timeout, and is looked at again
        and again until then.
        """
        self._session.abandon()
        self._deadline = clock.now() + CUT_AGAIN_SECONDS

    def close(self) -> None:
        """End the thread and the connection. Waits for no call."""
        self._calls.put(None)
        self._thread.join(timeout=0.5)

    def _run(self) -> None:
        while (item := self._calls.get()) is not None:
            call, work = item
            sent_at = clock.now()
            try:
                answer, failure = work(self._session), None
            except Exception as error:  # handed to the main thread, which knows what to do about each
                answer, failure = None, error
            self._replies.put(Reply(call, sent_at, clock.now() - sent_at, answer, failure))
            self._wake()
        self._session.close()
