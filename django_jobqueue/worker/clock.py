"""Durations. Not the time of day: that is PostgreSQL's."""

from __future__ import annotations

import time


def now() -> float:
    """Read a clock that only moves forward, in seconds, and does not stop while the machine is suspended, where there is one."""
    return _read()


def _read_boottime() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


_read = _read_boottime if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic
