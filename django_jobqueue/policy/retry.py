"""Turn what happened into what follows: the failure contract in one function.

The numbers that bound a job are its own (`Tally`, read from its row at the claim) and its task's (`RetryPolicy`).
Every road out of RUNNING goes through `decide`, so "how often may this run?" has one answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from django_jobqueue.policy import backoff
from django_jobqueue.policy.lifecycle import Reason, WaitingFor
from django_jobqueue.policy.outcomes import (
    NO_FAILURE,
    Cancelled,
    Failed,
    Failure,
    Interrupted,
    Lost,
    Outcome,
    OutcomeName,
    Snoozed,
    Succeeded,
    TimedOut,
    Verdict,
)

MAX_CRASHES = 3
"""Unexplained deaths of its process that a job may cause, or be suspected of, before it is a crash_loop."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The bounds of one job. `max_attempts` is the row's, fixed at enqueue; the rest is the code's of today."""

    max_attempts: int = 3
    backoff: backoff.Backoff = backoff.DEFAULT
    max_interruptions: int = 20
    max_snoozes: int = 1000


@dataclass(frozen=True, slots=True)
class Tally:
    """What a job has behind it, before the attempt that is being decided."""

    failure_count: int = 0
    interruption_count: int = 0
    snooze_count: int = 0
    crash_count: int = 0


@dataclass(frozen=True, slots=True)
class Finish:
    """RUNNING → SUCCESSFUL."""

    result: str


@dataclass(frozen=True, slots=True)
class Wait:
    """RUNNING → WAITING: try again after so many seconds."""

    after_seconds: float
    waiting_for: WaitingFor


@dataclass(frozen=True, slots=True)
class Release:
    """RUNNING → READY: try again at once."""


@dataclass(frozen=True, slots=True)
class Bury:
    """RUNNING → FAILED, with a dead letter."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Cancel:
    """RUNNING → CANCELLED: a person had asked for it."""


Step = Finish | Wait | Release | Bury | Cancel


class Decision(NamedTuple):
    """What follows an outcome: the job's next step, how its attempt is recorded, and what is added to its tally.

    A NamedTuple, as one is made for each job: a frozen dataclass of eight fields takes five times as long.
    """

    step: Step
    outcome: OutcomeName
    failure: Failure = NO_FAILURE
    charged: bool = False
    interrupted: bool = False
    snoozed: bool = False
    crash: bool = False


def decide(
    outcome: Outcome, tally: Tally, *, policy: RetryPolicy, jitter: float, cancel_requested: bool = False
) -> Decision:
    """Decide what follows an attempt that ended in `outcome`.

    jitter is a number in [0, 1), drawn by the caller. Success stands; after any other end of a job that a person
    wanted cancelled nothing follows. A request that the caller has not heard of is found by `settle`, in the row.
    """
    decision = _decide(outcome, tally, policy, jitter)
    if cancel_requested and not isinstance(decision.step, Finish):
        return decision._replace(step=Cancel())
    return decision


def _decide(outcome: Outcome, tally: Tally, policy: RetryPolicy, jitter: float) -> Decision:
    match outcome:
        case Succeeded(result):
            return Decision(Finish(result), OutcomeName.SUCCEEDED)
        case Failed(failure, verdict, after_seconds):
            step = _after_failure(tally, policy, jitter, verdict=verdict, after_seconds=after_seconds)
            return Decision(step, OutcomeName.FAILED, failure, charged=True)
        case TimedOut(failure):
            return Decision(_after_failure(tally, policy, jitter), OutcomeName.TIMED_OUT, failure, charged=True)
        case Lost(failure, crashed=True):
            step = _after_crash(tally, policy, jitter)
            return Decision(step, OutcomeName.LOST, failure, charged=True, crash=True)
        case Lost(failure):
            lost_step: Step = Bury(Reason.ATTEMPTS_EXHAUSTED) if _exhausted(tally, policy) else Release()
            return Decision(lost_step, OutcomeName.LOST, failure, charged=True)
        case Interrupted(failure, counted, suspect):
            step = _after_interruption(tally, policy, counted=counted, suspect=suspect)
            return Decision(step, OutcomeName.INTERRUPTED, failure, interrupted=counted, crash=suspect)
        case Snoozed(seconds, failure):
            return Decision(_after_snooze(tally, policy, seconds), OutcomeName.SNOOZED, failure, snoozed=True)
        case Cancelled(failure):
            return Decision(Cancel(), OutcomeName.CANCELLED, failure)


_FINAL = {
    Verdict.NOT_RETRYABLE: Reason.NOT_RETRYABLE,
    Verdict.REJECTED: Reason.REJECTED,
    Verdict.INVALID_PAYLOAD: Reason.INVALID_PAYLOAD,
    Verdict.INVALID_RESULT: Reason.INVALID_RESULT,
    Verdict.UNKNOWN_TASK: Reason.UNKNOWN_TASK,
    Verdict.UNKNOWN_VERSION: Reason.UNKNOWN_VERSION,
}


def _after_failure(
    tally: Tally,
    policy: RetryPolicy,
    jitter: float,
    *,
    verdict: Verdict = Verdict.RETRYABLE,
    after_seconds: float | None = None,
) -> Step:
    if verdict in _FINAL:
        return Bury(_FINAL[verdict])
    if _exhausted(tally, policy):
        return Bury(Reason.ATTEMPTS_EXHAUSTED)
    if after_seconds is None:
        # The back-off follows the failures, not the attempts: fifty snoozes do not make the first failure wait for
        # days.
        after_seconds = policy.backoff.delay_seconds(tally.failure_count + 1, jitter)
    return Wait(min(after_seconds, backoff.MAX_SECONDS), WaitingFor.RETRY)


def _after_crash(tally: Tally, policy: RetryPolicy, jitter: float) -> Step:
    if _is_a_crash_loop(tally):
        return Bury(Reason.CRASH_LOOP)
    return _after_failure(tally, policy, jitter)


def _after_interruption(tally: Tally, policy: RetryPolicy, *, counted: bool, suspect: bool) -> Step:
    if suspect and _is_a_crash_loop(tally):
        return Bury(Reason.CRASH_LOOP)
    if counted and tally.interruption_count + 1 > policy.max_interruptions:
        return Bury(Reason.INTERRUPTED_TOO_OFTEN)
    return Release()


def _after_snooze(tally: Tally, policy: RetryPolicy, seconds: float) -> Step:
    if tally.snooze_count + 1 > policy.max_snoozes:
        return Bury(Reason.SNOOZED_TOO_OFTEN)
    return Wait(min(seconds, backoff.MAX_SECONDS), WaitingFor.SNOOZE)


def _is_a_crash_loop(tally: Tally) -> bool:
    return tally.crash_count + 1 >= MAX_CRASHES


def _exhausted(tally: Tally, policy: RetryPolicy) -> bool:
    return tally.failure_count + 1 >= policy.max_attempts
