"""The states of a job and of a dead letter, and every legal move between them.

A new Status also needs its rows in TRANSITIONS, an arrow in docs/explanation/lifecycle.md (a test compares the
two), and a thought about each partial index in `models/job.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Where a job is."""

    WAITING = "WAITING"
    READY = "READY"
    RUNNING = "RUNNING"
    SUCCESSFUL = "SUCCESSFUL"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


LIVE = frozenset({Status.WAITING, Status.READY, Status.RUNNING})
"""States in which a job holds its unique key."""

TERMINAL = frozenset({Status.SUCCESSFUL, Status.FAILED, Status.CANCELLED})
"""States that nothing leaves, but for FAILED by a recorded replay."""


class WaitingFor(StrEnum):
    """Why a WAITING job waits; empty in every other state."""

    TIME = "time"
    RETRY = "retry"
    SNOOZE = "snooze"
    WORKER = "worker"
    LIMIT = "limit"
    SHARE = "share"
    RATE = "rate"
    ORDER = "order"
    DEPTH = "depth"
    BREAKER = "breaker"
    BATCH = "batch"


DUE_BY_TIME = (WaitingFor.TIME, WaitingFor.RETRY, WaitingFor.SNOOZE)
"""Reasons that end by themselves at run_after: the ones that promote looks at."""


class LetterStatus(StrEnum):
    """Where a dead letter is."""

    OPEN = "OPEN"
    REPLAYED = "REPLAYED"
    RESOLVED = "RESOLVED"
    DISCARDED = "DISCARDED"


class Reason(StrEnum):
    """Why a job died. Closed: an alert, a filter and a runbook may name each."""

    ATTEMPTS_EXHAUSTED = "attempts_exhausted"
    NOT_RETRYABLE = "not_retryable"
    REJECTED = "rejected"
    INVALID_PAYLOAD = "invalid_payload"
    INVALID_RESULT = "invalid_result"
    UNKNOWN_TASK = "unknown_task"
    UNKNOWN_VERSION = "unknown_version"
    CRASH_LOOP = "crash_loop"
    INTERRUPTED_TOO_OFTEN = "interrupted_too_often"
    SNOOZED_TOO_OFTEN = "snoozed_too_often"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Transition:
    """One legal move. `old` is None for a row that comes into being."""

    verb: str
    old: str | None
    new: str


TRANSITIONS = frozenset(
    {
        Transition("enqueue", None, Status.WAITING),
        Transition("enqueue", None, Status.READY),
        Transition("promote", Status.WAITING, Status.READY),
        Transition("park", Status.READY, Status.WAITING),
        Transition("set_limit", Status.READY, Status.WAITING),
        Transition("unpark", Status.WAITING, Status.READY),
        Transition("claim", Status.READY, Status.RUNNING),
        Transition("finish", Status.RUNNING, Status.SUCCESSFUL),
        Transition("retry", Status.RUNNING, Status.WAITING),
        Transition("release", Status.RUNNING, Status.READY),
        Transition("bury", Status.RUNNING, Status.FAILED),
        Transition("bury", Status.WAITING, Status.FAILED),
        Transition("cancel", Status.WAITING, Status.CANCELLED),
        Transition("cancel", Status.READY, Status.CANCELLED),
        Transition("cancel", Status.RUNNING, Status.CANCELLED),
        Transition("replay", Status.FAILED, Status.READY),
        Transition("replay", Status.FAILED, Status.WAITING),
    }
)

LETTER_TRANSITIONS = frozenset(
    {
        Transition("bury", None, LetterStatus.OPEN),
        Transition("bury", LetterStatus.REPLAYED, LetterStatus.OPEN),
        Transition("replay", LetterStatus.OPEN, LetterStatus.REPLAYED),
        Transition("replay", LetterStatus.DISCARDED, LetterStatus.REPLAYED),
        Transition("finish", LetterStatus.REPLAYED, LetterStatus.RESOLVED),
        Transition("cancel", LetterStatus.REPLAYED, LetterStatus.RESOLVED),
        Transition("discard", LetterStatus.OPEN, LetterStatus.DISCARDED),
    }
)
