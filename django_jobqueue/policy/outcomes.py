"""What one attempt of a job can end in.

A worker that was killed, a host that vanished and a deploy that was in a hurry are outcomes like a return value or
an exception: they take the same road through `decide` and `settle`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class OutcomeName(StrEnum):
    """How an attempt's row names its outcome."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    LOST = "lost"
    INTERRUPTED = "interrupted"
    SNOOZED = "snoozed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Failure:
    """The words of a failure, already fit to be stored: valid UTF-8, no NUL, capped."""

    exception_class: str = ""
    message: str = ""
    traceback: str = ""
    cause: str = ""
    """Where something that the task steered itself by came from; it tells one kind of death from another."""


NO_FAILURE = Failure()


class Verdict(StrEnum):
    """What the runner, which alone may ask the task's code, found about a failure."""

    RETRYABLE = "retryable"
    NOT_RETRYABLE = "not_retryable"
    REJECTED = "rejected"
    INVALID_PAYLOAD = "invalid_payload"
    INVALID_RESULT = "invalid_result"
    UNKNOWN_TASK = "unknown_task"
    UNKNOWN_VERSION = "unknown_version"


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The task returned. `result` is JSON text."""

    result: str = "null"


@dataclass(frozen=True, slots=True)
class Failed:
    """The task raised, or could not be called.

    `after_seconds` is the wait that the task itself asked for, by Retry or by a callable back-off; None leaves it
    to the policy. `trips` says whether the task's circuit breaker counts it as a failure of what it depends on; None
    where there is no breaker, or the task was not called.
    """

    failure: Failure = NO_FAILURE
    verdict: Verdict = Verdict.RETRYABLE
    after_seconds: float | None = None
    trips: bool | None = None


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The hard time limit was reached and the task was stopped."""

    failure: Failure = NO_FAILURE


@dataclass(frozen=True, slots=True)
class Lost:
    """Nobody came back to report: the process died, or the lease ran out.

    `crashed` is True for the unexplained death of the job's own process while it ran alone: only then is the job itself
    a suspect, and only then does it wait its back-off. A job lost with its keeper or host did nothing wrong.
    """

    failure: Failure = NO_FAILURE
    crashed: bool = False


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Stopped by somebody else's hand: a deploy, an outage, a neighbour that took the process down.

    `counted` is False when a neighbour was at fault, or nobody. `suspect` is True when the process died unexplained
    with several jobs in it.
    """

    failure: Failure = NO_FAILURE
    counted: bool = True
    suspect: bool = False


@dataclass(frozen=True, slots=True)
class Snoozed:
    """The task asked to come back later; `trips` as of a failure."""

    seconds: float
    failure: Failure = field(default=NO_FAILURE)
    trips: bool | None = None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The task was stopped, or stopped itself, because a person had asked for it."""

    failure: Failure = NO_FAILURE


@dataclass(frozen=True, slots=True)
class Committed:
    """The job's own transaction has recorded its success: no decision is left to make, so it is no Outcome."""


Outcome = Succeeded | Failed | TimedOut | Lost | Interrupted | Snoozed | Cancelled
