"""How long a failed job waits before its next attempt.

A policy is a frozen value that knows the wait before jitter, its cap, and how jitter is applied. It draws no random
number: the caller passes one, so a test can ask for the shortest and the longest wait.

    backoff=exponential(base_seconds=2, cap_seconds=3600)    2, 4, 8 … 3600 seconds, full jitter (the default)
    backoff=linear(step_seconds=30)                          30, 60, 90 … seconds
    backoff=constant(10)                                     10 seconds, every time

Source: Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

MAX_SECONDS = 30 * 24 * 3600.0
"""No policy waits longer than this: a delay beyond a month is a mistake, and beyond some centuries an overflow."""


class Jitter(StrEnum):
    """How much of the wait is left to chance."""

    FULL = "full"
    EQUAL = "equal"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Backoff:
    """A wait that depends on the number of the attempt that failed."""

    name: str
    base_seconds: float
    cap_seconds: float
    jitter: Jitter
    min_seconds: float = 0.0

    def delay_seconds(self, attempt_number: int, jitter: float) -> float:
        """Say how many seconds to wait after failed attempt `attempt_number`, which counts from 1.

        jitter is a number in [0, 1). Full jitter spreads over the whole wait, equal jitter over its upper half.
        Never less than min_seconds, never more than cap_seconds. Raises ValueError if attempt_number < 1 or jitter
        is outside [0, 1).
        """
        if attempt_number < 1:
            raise ValueError(f"attempt_number counts from 1; got {attempt_number!r}")
        if not 0 <= jitter < 1:
            raise ValueError(f"jitter is a number in [0, 1); got {jitter!r}")
        wait = min(self.cap_seconds, self._wait_seconds(attempt_number))
        match self.jitter:
            case Jitter.FULL:
                wait *= jitter
            case Jitter.EQUAL:
                wait *= 0.5 + jitter / 2
            case Jitter.NONE:
                pass
        return max(self.min_seconds, wait)

    def _wait_seconds(self, attempt_number: int) -> float:
        match self.name:
            case "exponential":
                # 2 ** 1024 overflows a float; the cap is long reached by then.
                return self.base_seconds * 2.0 ** min(attempt_number - 1, 64)
            case "linear":
                return self.base_seconds * attempt_number
            case _:
                return self.base_seconds


BackoffCallable = Callable[..., "float | None"]
"""`(exception, task_result) -> seconds | None`; asked in the runner. None leaves the wait to the default policy."""


def exponential(
    base_seconds: float = 2.0,
    *,
    cap_seconds: float = 3600.0,
    jitter: str = Jitter.FULL,
    min_seconds: float = 0.0,
) -> Backoff:
    """Double the wait after each attempt, up to a cap: 2, 4, 8 … 3600 seconds before jitter.

    Raises ValueError for negative, infinite or contradictory numbers, or an unknown jitter.
    """
    return _checked("exponential", base_seconds, cap_seconds, jitter, min_seconds)


def linear(
    step_seconds: float = 30.0,
    *,
    cap_seconds: float = 3600.0,
    jitter: str = Jitter.FULL,
    min_seconds: float = 0.0,
) -> Backoff:
    """Add a step after each attempt, up to a cap: 30, 60, 90 … 3600 seconds before jitter.

    Raises ValueError as `exponential` does.
    """
    return _checked("linear", step_seconds, cap_seconds, jitter, min_seconds)


def constant(seconds: float, *, jitter: str = Jitter.EQUAL, min_seconds: float = 0.0) -> Backoff:
    """Wait the same time after each attempt; equal jitter keeps it between half of `seconds` and `seconds`.

    Raises ValueError as `exponential` does.
    """
    return _checked("constant", seconds, seconds, jitter, min_seconds)


def _checked(name: str, base_seconds: float, cap_seconds: float, jitter: str, min_seconds: float) -> Backoff:
    numbers = {"base": base_seconds, "cap_seconds": cap_seconds, "min_seconds": min_seconds}
    for label, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number) or number < 0:
            raise ValueError(f"{name} backoff: {label} is a number of seconds, zero or more; got {number!r}")
        if number > MAX_SECONDS:
            raise ValueError(f"{name} backoff: {label} is at most {MAX_SECONDS:.0f} seconds (30 days); got {number!r}")
    if min_seconds > cap_seconds:
        raise ValueError(f"{name} backoff: min_seconds {min_seconds!r} is above cap_seconds {cap_seconds!r}")
    if jitter not in set(Jitter):
        raise ValueError(f"{name} backoff: jitter is one of 'full', 'equal', 'none'; got {jitter!r}")
    return Backoff(name, float(base_seconds), float(cap_seconds), Jitter(jitter), float(min_seconds))


DEFAULT = exponential()
