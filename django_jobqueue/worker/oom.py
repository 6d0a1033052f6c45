"""Whether it was the kernel that killed a runner, for want of memory.

A SIGKILL does not say who sent it. The memory cgroup that a worker lives in counts the processes in it that the kernel
killed; the count moves before their end is seen. A guess all the same: it may have been another process of the cgroup.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MEMBERSHIP = Path("/proc/self/cgroup")
ROOT = Path("/sys/fs/cgroup")

FORGET_SECONDS = 10.0
"""So long after a kill was counted the death that it explains must have been seen; a large process is slow to end."""


class OutOfMemory:
    """The kernel's count of such kills, and how many of them have been laid at somebody's door."""

    def __init__(self, membership: Path = MEMBERSHIP, root: Path = ROOT) -> None:
        self._file = next((file for file in _candidates(membership, root) if _read(file) is not None), None)
        self._accounted = self._noted = self._count()
        self._noted_at = 0.0

    def explains_a_death(self) -> bool:
        """Whether there was a kill that explains no other death. Each explains one."""
        if self._count() <= self._accounted:
            return False
        self._accounted += 1
        return True

    def forget(self, now: float) -> None:
        """Let kills that were counted long ago explain nothing any more: whoever they killed was not a runner."""
        if now - self._noted_at >= FORGET_SECONDS:
            self._accounted = max(self._accounted, self._noted)
            self._noted, self._noted_at = self._count(), now

    def _count(self) -> int:
        return (_read(self._file) or 0) if self._file is not None else 0


def _candidates(membership: Path, root: Path) -> Iterator[Path]:
    try:
        lines = membership.read_text().splitlines()
    except (OSError, UnicodeError):
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            # A container may see the path of its host, and its own cgroup at the root.
            yield root / "memory" / path.lstrip("/") / "memory.oom_control"
            yield root / "memory" / "memory.oom_control"
        elif not controllers:
            yield root / path.lstrip("/") / "memory.events"
            yield root / "memory.events"


def _read(file: Path) -> int | None:
    with suppress(OSError, ValueError):
        for line in file.read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return None
