"""What the keeper asks of the database: a few kinds of call, each one transaction.

A cycle writes what is decided, does the chores that are due and claims what there is room for. A renewal keeps the
leases and goes before everything else. A return, after an outage or at the start, first finds out what is still
this worker's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django_jobqueue.policy.breaker import Standing
from django_jobqueue.store.admit import (
    FIRST,
    Door,
    Lane,
    admit_limited,
    admit_lock,
    admit_ordered,
    admit_shared,
    admit_wanted,
)
from django_jobqueue.store.breakers import Probed, change, count, probe
from django_jobqueue.store.claim import Claimed, is_by_age
from django_jobqueue.store.control import OPEN, Gate, hold
from django_jobqueue.store.depth import forget, kinds_wanted, recount
from django_jobqueue.store.give_back import give_back
from django_jobqueue.store.park import BuriedUnknown, Parked
from django_jobqueue.store.promote import Promoted, promote
from django_jobqueue.store.rates import RatedClaim, Rates, claim_rated, rate_lock, sweep_buckets
from django_jobqueue.store.renew import Lease, Renewal, renew
from django_jobqueue.store.rescue import TakenOver, recover
from django_jobqueue.store.session import Session
from django_jobqueue.store.settle import Settled, settle, settled_before
from django_jobqueue.store.statement import Statement
from django_jobqueue.worker.breakers import NO_NOTES, Notes
from django_jobqueue.worker.ledger import Batch

CLOSED = Door(is_ours=False, has_queue=False)
"""Where nobody has asked."""

STATEMENT_TIMEOUT_MS = 1000
"""No statement of a worker waits longer for a lock, or works longer, than this."""


@dataclass(frozen=True, slots=True)
class UnknownTasks:
    """What is done about tasks that nobody knows; see `store.park`."""

    park: Statement[frozenset[str]]
    unpark: Statement[list[str]]
    bury: Statement[list[BuriedUnknown]]
    look: Statement[list[Parked]] | None = None


@dataclass(frozen=True, slots=True)
class Probes:
    """A claim of a few jobs of a breaker that is not simply closed; see `store.breakers.probe`."""

    breaker: str
    claim: Statement[list[Claimed]]


@dataclass(frozen=True, slots=True)
class Cycle:
    """Settle, promote, rescue, say that one is alive, claim."""

    batch: Batch
    token: UUID
    worker_id: UUID
    claims: Sequence[Statement[list[Claimed]]] = ()
    wanted: int = 0
    is_poll: bool = False
    rescue: Statement[list[TakenOver]] | None = None
    recover: Statement[list[TakenOver]] | None = None
    sign_of_life: Statement[None] | None = None
    unknown_tasks: UnknownTasks | None = None
    admits: bool = False
    notes: Notes = NO_NOTES
    standings: Statement[list[Standing]] | None = None
    probes: Sequence[Probes] = ()
    after: Lane = FIRST
    after_in_share: Lane = FIRST
    rates: Rates | None = None
    """By which the claims take jobs under a rate too."""
    sweeps: bool = False
    looks_for_aged: Statement[bool] | None = None

    def __call__(self, session: Session) -> CycleAnswer:
        """Make the call."""
        answer = CycleAnswer()
        plan: list[tuple[str, Statement[Any]]] = [("settled", s) for s in settle(self.batch.settlements)]
        if self.batch.doubtful:
            plan.append(("settled_before", settled_before(self.batch.doubtful, worker_id=self.worker_id)))
        if self.batch.leases:
            plan.append(("given_back", give_back(self.batch.leases)))
        if self.notes.counts:
            plan.append(("counted", count(self.notes.counts)))
        plan += [("changed", change(*due)) for due in self.notes.changes]
        if self.is_poll:
            plan.append(("promoted", promote()))
        if self.rescue is not None:
            plan.append(("rescued", self.rescue))
        if self.recover is not None:
            plan.append(("orphans", self.recover))
        if self.sign_of_life is not None:
            plan.append(("", self.sign_of_life))
            plan.append(("depths", kinds_wanted()))
        if self.unknown_tasks is not None:
            plan += [
                ("unpark", self.unknown_tasks.unpark),
                ("unknown", self.unknown_tasks.park),
                ("buried", self.unknown_tasks.bury),
            ]
            if self.unknown_tasks.look is not None:
                plan.append(("parked", self.unknown_tasks.look))
        if self.admits:
            # After all that makes room, or brings more to the door.
            plan += [("door", admit_lock()), ("turns", admit_ordered()), ("slots", admit_limited(after=self.after))]
        elif self.is_poll:
            plan.append(("wanted", admit_wanted()))
        if self.claims or self.probes:
            plan.append(("held", hold()))
            if self.standings is not None:
                plan.append(("standings", self.standings))
            if self.rates is not None:
                plan.append(("spends", rate_lock()))
        for claim in self.claims:
            plan += self._admitting(claim)
        for probes in self.probes:
            # Last, because it has them pass over nothing any more.
            plan += [("probed", probe(probes.breaker)), *self._admitting(probes.claim)]
        if self.sweeps:
            plan.append(("", sweep_buckets()))
        if self.looks_for_aged is not None:
            plan.append(("aged", self.looks_for_aged))
        if not plan:
            return answer
        replies = session.run(*(statement for _, statement in plan), statement_timeout_ms=STATEMENT_TIMEOUT_MS)
        for (name, _), reply in zip(plan, replies, strict=True):
            match name:
                case "settled":
                    answer.settled |= reply
                case "settled_before":
                    # A later statement sees what an earlier one has just written: that is not from before.
                    answer.settled_before = {
                        job_id: now for job_id, now in reply.items() if job_id not in answer.settled
                    }
                case "given_back":
                    answer.given_back = frozenset(reply)
                case "promoted":
                    answer.promoted = reply
                case "rescued":
                    answer.rescued += reply
                case "orphans":
                    answer.orphans = reply
                case "unpark":
                    answer.unparked = len(reply)
                case "unknown":
                    answer.unknown_tasks = reply
                case "buried":
                    answer.buried = reply
                case "wanted":
                    answer.door = Door(is_ours=False, has_queue=reply)
                case "door":
                    answer.door = reply
                case "turns":
                    answer.admitted += len(reply)
                case "slots":
                    answer.admitted += len(reply.queues)
                    answer.left_off = reply.left_off
                case "places":
                    answer.placed += len(reply.queues)
                    answer.left_off_in_share = reply.left_off
                case "aged":
                    answer.has_aged = reply
                case "held":
                    answer.gate = reply
                case "parked":
                    answer.parked = reply
                case "depths":
                    answer.depths = reply
                case "claimed":
                    answer.claimed += reply
                case "counted":
                    answer.counted = reply
                case "changed":
                    answer.changed.append(reply)
                case "standings":
                    answer.standings = reply
                case "probed":
                    answer.probed.append(reply)
                case "spends":
                    answer.spends = reply
                case "rated":
                    answer.note_rated(reply)
        return answer

    def _admitting(self, claim: Statement[list[Claimed]]) -> list[tuple[str, Statement[Any]]]:
        """Write a claim, with what gives it jobs to take and, where there are rates, those under one."""
        if is_by_age(claim):
            return [("claimed", claim)]
        made = ("claimed", claim) if self.rates is None else ("rated", claim_rated(claim, self.rates))
        # One by one, so that what one of them takes is no more there for the next one.
        return [("places", admit_shared(claim, after=self.after_in_share)), made] if self.admits else [made]


@dataclass(slots=True)
class CycleAnswer:
    """What a cycle found.

    `settled` holds the jobs whose attempt it closed, and what became of each; `settled_before` those that an earlier
    call had closed without being heard; `orphans` what an earlier call had claimed without being heard. `gate` is
    what the claims have found before them. An admission whose `door` was not its own has not looked; `left_off` is
    where the next one goes on, if this one has not come to the end. `placed` counts the jobs that were given a place
    in a queue which tenants share.
    Nor have the claims at jobs under a rate, where none of them `spends`; there may be a token for more of those in
    `next_token_seconds`.
    `depths` are the kinds of depth limits that there are.
    """

    settled: dict[int, Settled] = field(default_factory=dict)
    settled_before: dict[int, Settled] = field(default_factory=dict)
    given_back: frozenset[int] = frozenset()
    claimed: list[Claimed] = field(default_factory=list)
    rescued: list[TakenOver] = field(default_factory=list)
    orphans: list[TakenOver] = field(default_factory=list)
    promoted: Promoted | None = None
    unknown_tasks: frozenset[str] = frozenset()
    unparked: int = 0
    buried: list[BuriedUnknown] = field(default_factory=list)
    gate: Gate = OPEN
    door: Door = CLOSED
    admitted: int = 0
    left_off: Lane = FIRST
    placed: int = 0
    has_aged: bool = False
    left_off_in_share: Lane = FIRST
    parked: list[Parked] | None = None
    depths: tuple[str, ...] | None = None
    counted: list[Standing] = field(default_factory=list)
    changed: list[bool] = field(default_factory=list)
    standings: list[Standing] = field(default_factory=list)
    probed: list[Probed | None] = field(default_factory=list)
    spends: bool | None = None
    next_token_seconds: float | None = None

    def note_rated(self, claim: RatedClaim) -> None:
        """Take in what a claim by rates has found."""
        self.claimed += claim.jobs
        moments = [each for each in (self.next_token_seconds, claim.next_seconds) if each is not None]
        self.next_token_seconds = min(moments, default=None)


@dataclass(frozen=True, slots=True)
class Renew:
    """Keep the leases."""

    leases: Sequence[Lease]
    lease_seconds: float

    def __call__(self, session: Session) -> Renewal:
        """Make the call."""
        statement = renew(self.leases, lease_seconds=self.lease_seconds)
        renewal: Renewal
        (renewal,) = session.run(statement, statement_timeout_ms=STATEMENT_TIMEOUT_MS)
        return renewal


class Probe(Renew):
    """Find out which of the rows that could not be settled in time are locked by somebody else.

    A renewal passes over locked rows and says which they were; and an outcome that waits should not lose its lease.
    """


@dataclass(frozen=True, slots=True)
class Count:
    """Count what lies under depth limits, and give out what room there is.

    It may take long, so it writes nothing else.
    """

    backend: str
    from_targets: Mapping[str, str]
    scopes: int

    def __call__(self, session: Session) -> dict[str, str]:
        """Make the call; answers with the target that the next one begins at, by kind."""
        counts = [
            recount(kind, self.backend, from_target=target, scopes=self.scopes)
            for kind, target in self.from_targets.items()
        ]
        forgets = [forget("key", self.backend, from_target=target, scopes=self.scopes) for target in self._keys]
        answers = session.run(*counts, *forgets, statement_timeout_ms=STATEMENT_TIMEOUT_MS)[: len(counts)]
        return {kind: each.next_target or "" for kind, each in zip(self.from_targets, answers, strict=True)}

    @property
    def _keys(self) -> list[str]:
        return [target for kind, target in self.from_targets.items() if kind == "key"]


@dataclass(frozen=True, slots=True)
class Goodbye:
    """The last call: the worker's row says that it has stopped."""

    sign_of_life: Statement[None]

    def __call__(self, session: Session) -> None:
        """Make the call."""
        session.run(self.sign_of_life, statement_timeout_ms=500)


@dataclass(frozen=True, slots=True)
class Return:
    """Come back to the database: renew what is held, and take over what was claimed without hearing of it."""

    worker_id: UUID
    leases: Sequence[Lease]
    lost_tokens: frozenset[UUID]
    token: UUID
    lease_seconds: float
    sign_of_life: Statement[None]
    declare: Statement[None] | None = None

    def __call__(self, session: Session) -> tuple[Renewal, list[TakenOver]]:
        """Make the call."""
        renewal, orphans, *_ = session.run(
            renew(self.leases, lease_seconds=self.lease_seconds),
            recover(
                worker_id=self.worker_id,
                lost_tokens=self.lost_tokens,
                token=self.token,
                lease_seconds=self.lease_seconds,
            ),
            self.sign_of_life,
            *([self.declare] if self.declare is not None else []),
            statement_timeout_ms=STATEMENT_TIMEOUT_MS,
        )
        return renewal, orphans
