"""Durations. Not the time of day: that is PostgreSQL's."""

from __future__ import annotations

import time


def now() -> float:
    """Read a clock that only moves forward, in seconds; where there is one, it runs on while the machine sleeps."""
    return _read()


def _read_boottime() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


_read = _read_boottime if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic
