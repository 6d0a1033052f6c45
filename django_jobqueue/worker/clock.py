"""Durations. Not the time of day: that is PostgreSQL's."""

from __future__ import annotations

import time

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now() -> float:
    """Read a clock that only moves forward, in seconds, and does not stop while the machine is suspended."""
    return time.clock_gettime(_CLOCK)
