"""Deaths of runners that the keeper sees for itself: it is not their parent, and their parent may have been stopped."""

from __future__ import annotations

import os
import select
from contextlib import suppress


class Deaths:
    """Watches processes by a descriptor each, where the system has such. Moments are the caller's clock."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._fds: dict[int, int] = {}
        self._seen_at: dict[int, float] = {}

    def watch(self, pid: int) -> None:
        """Look after a process that was just started."""
        # Without a descriptor, as on another system or where there are none left, its parent's word must do.
        with suppress(AttributeError, OSError):
            fd = os.pidfd_open(pid)
            self._fds[pid] = fd
            self._poll.register(fd, select.POLLIN)

    def forget(self, pid: int) -> None:
        """Let go of a process: its end is known."""
        self._seen_at.pop(pid, None)
        if (fd := self._fds.pop(pid, None)) is not None:
            self._poll.unregister(fd)
            os.close(fd)

    def unheard(self, now: float, patience: float) -> list[int]:
        """Say which processes have been seen dead for longer than `patience`, and are not forgotten yet."""
        if self._fds:
            dead = {fd for fd, _ in self._poll.poll(0)}
            for pid, fd in self._fds.items():
                if fd in dead:
                    self._seen_at.setdefault(pid, now)
        return [pid for pid, at in self._seen_at.items() if now - at > patience]

    def close(self) -> None:
        """Look after nothing more."""
        for pid in list(self._fds):
            self.forget(pid)
