"""Why a job does not run: what stands in its way, from the facts that the queue's own gates read.

There are two gates. A job is admitted when it is due, has its turn and a slot under each of its limits. What is
admitted is claimed when it is not paused and there are tokens of its rates, by a worker that serves its queue, knows
its task and has room, after what comes before it. A new gate is a fact here and a rule in `reasons`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from django_jobqueue.policy.breaker import State
from django_jobqueue.policy.lifecycle import TERMINAL, Status, WaitingFor


class Why(StrEnum):
    """What stands in the way. Closed, as reasons of death are: a page and a runbook may name each."""

    OVER = "over"
    RUNNING = "running"
    CANCELLING = "cancelling"
    NOT_DUE = "not_due"
    RETRY = "retry"
    SNOOZED = "snoozed"
    EXPIRED = "expired"
    TURN = "turn"
    BLOCKED = "blocked"
    LIMIT = "limit"
    SHARE = "share"
    PAUSED = "paused"
    BREAKER = "breaker"
    RATE = "rate"
    NO_WORKER = "no_worker"
    UNKNOWN_TASK = "unknown_task"
    SUSPECT = "suspect"
    BEHIND = "behind"
    NEXT = "next"


@dataclass(frozen=True, slots=True)
class Slots:
    """A limit that the job is under: `taken` of `at_once` slots are, by jobs of which some are named."""

    kind: str
    target: str
    at_once: int
    taken: int
    holders: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Share:
    """What the job's tenant has of its queue: `places` of all that are `taken`, by so many tenants.

    `ahead` counts the jobs of the tenant that wait and are claimed before it.
    """

    key: str
    places: int
    taken: int
    tenants: int
    ahead: int = 0


@dataclass(frozen=True, slots=True)
class Pausing:
    """A pause that covers the job."""

    target: str
    reason: str
    by: str
    until: str = ""
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Breaking:
    """The circuit breaker of the job's task, where it is not closed. `probe_in_seconds` is None where none is due."""

    name: str
    state: str
    since: str
    reason: str
    by: str = ""
    probe_in_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """A rate that the job is under: in how many seconds there is a token, 0 where there is one."""

    kind: str
    target: str
    rate: str
    next_seconds: float


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a job and what is around it, at one moment.

    `before_in_order` is the job that has the turn of its order key, or is to have it first; `letter_in_order` a job
    whose open dead letter blocks it. `ahead` counts the ready jobs that are claimed before it, `ahead_is_all` says
    whether they were counted to the end.
    """

    status: Status
    queue_name: str
    task: str
    version: int
    waiting_for: str = ""
    due_in_seconds: float = 0.0
    is_expired: bool = False
    cancel_requested: bool = False
    crash_count: int = 0
    failure_count: int = 0
    before_in_order: int | None = None
    letter_in_order: int | None = None
    limits: Sequence[Slots] = ()
    share: Share | None = None
    pauses: Sequence[Pausing] = ()
    breaker: Breaking | None = None
    rates: Sequence[Tokens] = ()
    workers: int = 0
    workers_of_queue: int = 0
    workers_that_know: int = 0
    ahead: int = 0
    ahead_is_all: bool = True


@dataclass(frozen=True, slots=True)
class Named:
    """Something that a reason names, and that has a page of its own: a `job`, a `pause`, a `limit`.

    The key is what finds it: an id, and of a limit `kind:target`, as in the audit.
    """

    what: str
    key: int | str


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that stands in the way, with a sentence for people."""

    code: Why
    text: str
    names: Sequence[Named] = ()


def reasons(facts: Facts) -> list[Reason]:
    """Say what stands in the way of a job, the nearest first. There is always an answer."""
    if facts.status in TERMINAL:
        return [Reason(Why.OVER, f"it is {facts.status} and does not run again by itself")]
    if facts.status == Status.RUNNING:
        asked = (
            [Reason(Why.CANCELLING, "it was asked to stop, and has not stopped yet")] if facts.cancel_requested else []
        )
        return [*asked, Reason(Why.RUNNING, "it is running")]
    found = [*_not_admitted(facts), *_not_claimable(facts)]
    if found or facts.status == Status.WAITING:
        return found or [Reason(Why.NEXT, "nothing: it is admitted with the next poll of a worker")]
    if facts.ahead:
        count = f"{facts.ahead}" if facts.ahead_is_all else f"more than {facts.ahead}"
        return [Reason(Why.BEHIND, f"{count} ready jobs of the queues that its workers serve are claimed before it")]
    return [Reason(Why.NEXT, "nothing: it is claimed when a worker that serves it has room")]


def _not_admitted(facts: Facts) -> list[Reason]:
    found = []
    if facts.is_expired:
        found.append(Reason(Why.EXPIRED, "its deadline has passed: it is not started any more"))
    if facts.due_in_seconds > 0:
        found.append(_not_due(facts))
    if facts.letter_in_order is not None:
        found.append(
            Reason(
                Why.BLOCKED,
                f"job {facts.letter_in_order} of its order key is a dead letter, and blocks: replay or discard it",
                [Named("job", facts.letter_in_order)],
            )
        )
    if facts.waiting_for == WaitingFor.ORDER and facts.before_in_order is not None:
        text = f"job {facts.before_in_order} of its order key comes first, and is not over"
        found.append(Reason(Why.TURN, text, [Named("job", facts.before_in_order)]))
    if facts.waiting_for in (WaitingFor.LIMIT, WaitingFor.SHARE):
        found += [_full(slots) for slots in facts.limits if slots.taken >= slots.at_once]
    if facts.waiting_for == WaitingFor.SHARE and facts.share is not None and (facts.share.taken or facts.share.ahead):
        found.append(_shared(facts.share, facts.queue_name))
    return found


def _shared(share: Share, queue_name: str) -> Reason:
    who = f"tenant {share.key}" if share.key else "the tenant of jobs without a key"
    before = f"; {share.ahead} of its jobs are before this one" if share.ahead else ""
    return Reason(
        Why.SHARE,
        f"{who} has {share.places} of the {share.taken} places of the queue {queue_name} that are taken, "
        f"by {share.tenants} tenants{before}",
    )


def _not_due(facts: Facts) -> Reason:
    when = f"{facts.due_in_seconds:.0f} s from now"
    match facts.waiting_for:
        case WaitingFor.RETRY:
            return Reason(Why.RETRY, f"it has failed {facts.failure_count} times, and is tried again {when}")
        case WaitingFor.SNOOZE:
            return Reason(Why.SNOOZED, f"it has asked to come back {when}")
        case _:
            return Reason(Why.NOT_DUE, f"it is due {when}")


def _full(slots: Slots) -> Reason:
    what = _KINDS[slots.kind]
    by = f" (jobs {', '.join(map(str, slots.holders))}{' …' if slots.taken > len(slots.holders) else ''})"
    return Reason(
        Why.LIMIT,
        f"{what} {slots.target} runs {slots.at_once} at once, and {slots.taken} are{by if slots.holders else ''}",
        [Named("limit", f"{slots.kind}:{slots.target}"), *(Named("job", holder) for holder in slots.holders)],
    )


def _broken(breaker: Breaking) -> str:
    by = f", by {breaker.by}" if breaker.by else ""
    story = f"circuit breaker {breaker.name} is open since {breaker.since}{by}: {breaker.reason}"
    if breaker.state == State.HALF_OPEN:
        return f"{story}; a few jobs of it are tried now"
    if breaker.probe_in_seconds is None:
        return f"{story}; it stays so until somebody closes it"
    if breaker.probe_in_seconds <= 0:
        return f"{story}; the next probe is due"
    return f"{story}; next probe in {breaker.probe_in_seconds:.0f} s"


_KINDS = {"queue": "the queue", "task": "the task", "key": "the concurrency key"}


def _not_claimable(facts: Facts) -> list[Reason]:
    found = [
        Reason(
            Why.PAUSED,
            f"{pause.target} is paused by {pause.by}{f' until {pause.until}' if pause.until else ''}: {pause.reason}",
            [Named("pause", pause.id)] if pause.id is not None else (),
        )
        for pause in facts.pauses
    ]
    if facts.breaker is not None:
        found.append(Reason(Why.BREAKER, _broken(facts.breaker)))
    found += [
        Reason(
            Why.RATE,
            f"{_KINDS[each.kind]} {each.target} starts {each.rate}, and has done so; the next in "
            f"{each.next_seconds:.1f} s",
        )
        for each in facts.rates
        if each.next_seconds > 0
    ]
    name = facts.task if facts.version == 1 else f"{facts.task} in version {facts.version}"
    if not facts.workers:
        found.append(Reason(Why.NO_WORKER, "no worker is alive: start manage.py runworker"))
    elif not facts.workers_of_queue:
        found.append(
            Reason(Why.NO_WORKER, f"none of the {facts.workers} living workers serves the queue {facts.queue_name}")
        )
    elif not facts.workers_that_know:
        found.append(Reason(Why.UNKNOWN_TASK, f"no living worker that serves its queue knows the task {name}"))
    elif facts.crash_count and facts.status == Status.READY:
        found.append(
            Reason(Why.SUSPECT, "its process died before: it runs alone, as soon as a process of a worker is empty")
        )
    return found
