"""Where runners' processes come from: one launcher at a time, and another one when it dies or must not fork."""

from __future__ import annotations

import logging
import math
import socket
import sys
from collections.abc import Callable, Iterator

from django_jobqueue.worker import clock
from django_jobqueue.worker.launcher import (
    Broken,
    Exited,
    Forkserver,
    Gone,
    Launcher,
    NotStarted,
    Spawner,
    Started,
    Unsafe,
)
from django_jobqueue.worker.restarts import Restarts
from django_jobqueue.worker.runner import RunnerPlan
from django_jobqueue.worker.wakeup import Wakeup

logger = logging.getLogger("django_jobqueue.worker")


SLOW_SECONDS = 30.0
"""A process that imports for longer is named in the log: it may hang, and would do so in silence."""

UNHEARD_SECONDS, UNHEARD_AT_THE_END_SECONDS = 2.0, 0.3
"""A runner may be dead for so long before the process that started it says so; the other when the worker leaves."""

SILENT_SECONDS = 10.0
"""Who starts runners may leave a request for one unanswered for so long.

To end it takes every job in hand down, and it may only be slow: swapped out, where memory is short.
"""


class Nursery:
    """Starts processes. `on_news` is called when `events` has something to say."""

    def __init__(self, plan: RunnerPlan, wakeup: Wakeup, restarts: Restarts, on_news: Callable[[], None]) -> None:
        self._plan, self._wakeup, self._restarts, self._on_news = plan, wakeup, restarts, on_news
        self._use_spawn = sys.platform != "linux"
        self._is_broken = False
        self._is_needed = True
        self._reopen_at: float | None = None
        self._opened_at = 0.0
        self._slow: set[int] = set()
        self._not_started: set[int | None] = set()  # runners by their numbers; None is the launcher
        self._launcher: Launcher
        self._open()

    @property
    def is_open(self) -> bool:
        """Whether it can start a process now."""
        return self._reopen_at is None

    def launch(self, number: int) -> socket.socket | None:
        """Start a runner, and return the keeper's end of its socket; None if the system has no room for it now."""
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            self._note_failure(number, str(error))
            return None
        try:
            self._launcher.launch(number, theirs)
        except OSError as error:
            ours.close()
            self._note_failure(number, str(error))
            return None
        ours.setblocking(False)
        return ours

    def events(self) -> Iterator[Started | NotStarted | Exited | Broken | Gone]:
        """Take what has happened to processes. After Gone every one of them is dead or dying, and nothing follows."""
        if not self.is_open:
            return
        for event in self._launcher.events():
            match event:
                case Unsafe(names):
                    logger.warning(
                        "threads are alive after the imports (%s): runners are spawned, not forked", ", ".join(names)
                    )
                    self._use_spawn = True
                    self._lose(0.0)
                    # What the old one said after that concerns nobody.
                    yield Gone()
                    return
                case Gone():
                    if self._is_broken:
                        self._lose(math.inf)
                    else:
                        delay = self._restarts.start_failed()
                        if self._is_needed:
                            logger.warning("the process that starts runners died; it is started again in %.1f s", delay)
                        self._lose(delay)
                    yield event
                    return
                case Broken():
                    self._is_broken = True
                    yield event
                case NotStarted(number, error):
                    self._note_failure(number, error)
                    yield event
                case Started(number):
                    self._note_success(number)
                    yield event
                case _:
                    yield event

    def take_unheard(self, now: float, patience: float) -> list[int]:
        """Take the runners, by number, that have been dead for so long without a word of it from who started them."""
        return self._launcher.unheard(now, patience) if self.is_open else []

    def is_silent(self, now: float, patience: float) -> bool:
        """Whether a process was asked for, and for so long there has been no answer to that or to anything else."""
        return self.is_open and self._launcher.is_silent(now, patience)

    def kill(self) -> None:
        """Kill what starts processes and does not answer; `events` tells when it is gone, and then it is replaced."""
        logger.error("the process that starts runners has not answered for long; it is killed, and its runners with it")
        self._launcher.kill()

    def note_slow(self, now: float, pid: int, since: float) -> None:
        """Name a process that has been importing since `since`, once, if that is long."""
        if now > since + SLOW_SECONDS and pid not in self._slow:
            self._slow.add(pid)
            logger.warning("process %d has been importing the code for %.0f s and is not ready", pid, now - since)

    def look(self, now: float) -> None:
        """Look whether the launcher hangs."""
        if self.is_open and (pid := self._launcher.importing) is not None:
            self.note_slow(now, pid, self._opened_at)

    def reopen(self, now: float) -> None:
        """Open again, if the wait for it is over."""
        if self._reopen_at is not None and now >= self._reopen_at:
            self._reopen_at = None
            self._open()

    def stop(self) -> None:
        """Say nothing of a launcher's death from now on: the worker stops, and starts no other."""
        self._is_needed = False

    def close(self) -> None:
        """Start nothing more."""
        if self.is_open:
            self._forget()

    def _open(self) -> None:
        try:
            self._launcher = Spawner(self._plan) if self._use_spawn else Forkserver(self._plan)
        except OSError as error:
            self._reopen_at = clock.now() + self._restarts.start_failed()
            self._note_failure(None, str(error))
            return
        self._opened_at = clock.now()
        self._note_success(None)
        if (fd := self._launcher.fileno()) is not None:
            self._wakeup.watch(fd, lambda _events: self._on_news())

    def _note_failure(self, number: int | None, error: str) -> None:
        if not self._not_started:
            logger.warning("no process can be started: %s; jobs in hand go on, and it is tried again", error)
        self._not_started.add(number)

    def _note_success(self, number: int | None) -> None:
        if number in self._not_started:
            self._not_started.remove(number)
            if not self._not_started:
                logger.warning("processes can be started again")

    def _lose(self, delay: float) -> None:
        self._forget()
        self._reopen_at = clock.now() + delay

    def _forget(self) -> None:
        if (fd := self._launcher.fileno()) is not None:
            self._wakeup.forget(fd)
        self._launcher.close()
