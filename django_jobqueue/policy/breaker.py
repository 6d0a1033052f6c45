"""A circuit breaker: when a dependency is left alone, and when it is asked again.

It is closed, and jobs run; open, and none is claimed; or half-open, and a few are, to find out. What happened is
counted in its row, by whoever saw it; what follows from the counts is decided here, and nowhere else. The one move that
needs a clock, from open to half-open, is PostgreSQL's.

Source: Nygard, "Release It!", 2nd ed. 2018, ch. 5; the generation is that of Sony's gobreaker.
"""

from __future__ import annotations

import math
import re
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from django_jobqueue.policy.outcomes import Committed, Failed, Outcome, Snoozed, Succeeded, TimedOut, Verdict

MAX_NAME_LENGTH = 255

MAX_SECONDS = 86_400.0
"""Of a window and of a pause."""

MAX_COUNT = 10_000
"""Of `minimum` and of `probes`."""

WINDOWS = 2
"""A window ends with so many times `minimum` attempts: the successes of a busy hour do not drown a failure."""

RAMP_SECONDS = 20.0
"""For so long after it has closed jobs start in growing numbers: whoever has just come back is not run over."""

RAMP_STEP_SECONDS = 2.0
"""So often the number doubles, which begins with that of the probes."""

_NAME = re.compile(r"\w[\w.:/-]*")


class State(StrEnum):
    """Where a breaker stands."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True)
class Breaker:
    """What a task depends on, and which exceptions say that it is down.

        STRIPE = Breaker("stripe", trips_on=(ConnectionError, TimeoutError))

        @task(breaker=STRIPE)

    Tasks that share one are held together. Without a name it is that of the one task.
    """

    name: str = ""
    _: KW_ONLY
    trips_on: tuple[type[BaseException], ...]
    """Exceptions that count as failures of the dependency. With TimeoutError the hard time limit of a task does too."""
    share: float = 0.5
    """It opens when this part of the attempts of a window has failed so."""
    minimum: int = 10
    """Attempts that must have ended in a window before it may open."""
    window_seconds: float = 60.0
    """How long attempts are counted together."""
    pause_seconds: float = 10.0
    """How long it stays open before the first probes; twice as long each time that they fail."""
    max_pause_seconds: float = 300.0
    """How long at most."""
    probes: int = 3
    """Attempts that run at once to find out, and that must all end well."""
    counts_timeouts: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raise ValueError, which names every fault."""
        classes = tuple(self.trips_on) if isinstance(self.trips_on, tuple | list) else (self.trips_on,)
        faults = [*_faults(self, classes)]
        if faults:
            raise ValueError(f"breaker {self.name!r}: {'; '.join(faults)}")
        object.__setattr__(self, "trips_on", classes)
        object.__setattr__(self, "counts_timeouts", issubclass(TimeoutError, classes))


class Standing(NamedTuple):
    """What the row of a breaker says. Counts are of the window, or of the probes while it is half-open."""

    name: str
    state: str
    generation: int
    """Grows with each change of state: an attempt counts for the one that it began in."""
    ended: int
    tripped: int
    openings: int
    """How often it has opened since it was last closed."""
    last_failure: str
    probe_in_seconds: float | None
    """Until probes may start, of an open one; None where nobody is to probe."""
    is_ramping: bool
    """Closed so recently that its jobs start in growing numbers."""

    @property
    def is_limited(self) -> bool:
        """Whether its jobs are not claimed as any others are."""
        return self.state != State.CLOSED or self.is_ramping


class Change(NamedTuple):
    """What follows from a standing; `pause_seconds` where it opens."""

    state: State
    reason: str
    openings: int = 0
    pause_seconds: float | None = None


def judge(breaker: Breaker, standing: Standing) -> Change | None:
    """Say what follows from the counts; None is nothing."""
    match standing.state:
        case State.CLOSED if is_down(breaker, standing):
            by = f" ({standing.last_failure})" if standing.last_failure else ""
            return _opened(breaker, 0, f"{standing.tripped} of {standing.ended} attempts failed{by}")
        case State.HALF_OPEN if standing.tripped:
            by = f" ({standing.last_failure})" if standing.last_failure else ""
            return _opened(breaker, standing.openings, f"a probe failed{by}")
        case State.HALF_OPEN if standing.ended >= breaker.probes:
            return Change(State.CLOSED, f"{standing.ended} probes ended well")
    return None


def is_down(breaker: Breaker, standing: Standing) -> bool:
    """Say whether the attempts of the window are enough, and enough of them have failed."""
    return standing.ended >= breaker.minimum and 0 < standing.tripped >= breaker.share * standing.ended


def pause_seconds(breaker: Breaker, openings: int) -> float:
    """Return how long it stays open after so many openings before this one: doubled each time, up to the cap."""
    # The exponent is bounded for the float's sake, the pause by the cap.
    return min(breaker.max_pause_seconds, breaker.pause_seconds * 2.0 ** min(openings, 60))


def trips(breaker: Breaker, outcome: Outcome | Committed) -> bool | None:
    """Say whether an outcome is a failure of the dependency; None where it says nothing of it.

    An exception that is none of `trips_on` counts as an answer of the dependency.
    """
    match outcome:
        case Succeeded() | Committed():
            return False
        case TimedOut():
            return True if breaker.counts_timeouts else None
        case Failed(verdict=Verdict.INVALID_RESULT):
            return False
        case Failed(trips=tripped) | Snoozed(trips=tripped):
            return tripped
    return None


def _opened(breaker: Breaker, openings: int, reason: str) -> Change:
    return Change(State.OPEN, reason, openings + 1, pause_seconds(breaker, openings))


def _faults(breaker: Breaker, classes: tuple[Any, ...]) -> list[str]:
    faults = []
    if not isinstance(breaker.name, str) or (breaker.name and not _NAME.fullmatch(breaker.name)):
        faults.append("name takes letters, digits and the signs _ . : / -, as in 'stripe'")
    elif len(breaker.name) > MAX_NAME_LENGTH:
        faults.append(f"name has {len(breaker.name)} characters, more than {MAX_NAME_LENGTH}")
    if not classes or not all(isinstance(cls, type) and issubclass(cls, BaseException) for cls in classes):
        faults.append(f"trips_on takes exception classes, as in (ConnectionError, TimeoutError); got {classes!r}")
    if not _is_number(breaker.share) or not 0 < breaker.share <= 1:
        faults.append(f"share is a part of the attempts, above 0 and up to 1; got {breaker.share!r}")
    for option in ("minimum", "probes"):
        value = getattr(breaker, option)
        if type(value) is not int or not 1 <= value <= MAX_COUNT:
            faults.append(f"{option} is a whole number from 1 to {MAX_COUNT}; got {value!r}")
    for option in ("window_seconds", "pause_seconds", "max_pause_seconds"):
        value = getattr(breaker, option)
        if not _is_number(value) or not 0 < value <= MAX_SECONDS:
            faults.append(f"{option} is a number of seconds above 0 and up to {MAX_SECONDS:.0f}; got {value!r}")
    if not faults and breaker.max_pause_seconds < breaker.pause_seconds:
        faults.append(
            f"max_pause_seconds is at least pause_seconds, {breaker.pause_seconds:g}; got {breaker.max_pause_seconds!r}"
        )
    return faults


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
