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

from django_jobqueue.store.admit import Door, admit_limited, admit_lock, admit_ordered, admit_wanted
from django_jobqueue.store.claim import Claimed
from django_jobqueue.store.control import OPEN, Gate, hold
from django_jobqueue.store.depth import forget, kinds_wanted, recount
from django_jobqueue.store.give_back import give_back
from django_jobqueue.store.park import BuriedUnknown, Parked
from django_jobqueue.store.promote import Promoted, promote
from django_jobqueue.store.renew import Lease, Renewal, renew
from django_jobqueue.store.rescue import TakenOver, recover
from django_jobqueue.store.session import Session
from django_jobqueue.store.settle import Settled, settle, settled_before
from django_jobqueue.store.statement import Statement
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

    def __call__(self, session: Session) -> CycleAnswer:
        """Make the call."""
        answer = CycleAnswer()
        plan: list[tuple[str, Statement[Any]]] = [("settled", s) for s in settle(self.batch.settlements)]
        if self.batch.doubtful:
            plan.append(("settled_before", settled_before(self.batch.doubtful, worker_id=self.worker_id)))
        if self.batch.leases:
            plan.append(("given_back", give_back(self.batch.leases)))
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
            plan += [("door", admit_lock()), ("admitted", admit_ordered()), ("admitted", admit_limited())]
        elif self.is_poll:
            plan.append(("wanted", admit_wanted()))
        if self.claims:
            plan.append(("held", hold()))
        plan += [("claimed", claim) for claim in self.claims]
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
                case "admitted":
                    answer.admitted += len(reply)
                case "held":
                    answer.gate = reply
                case "parked":
                    answer.parked = reply
                case "depths":
                    answer.depths = reply
                case "claimed":
                    answer.claimed += reply
        return answer


@dataclass(slots=True)
class CycleAnswer:
    """What a cycle found.

    `settled` holds the jobs whose attempt it closed, and what became of each; `settled_before` those that an earlier
    call had closed without being heard; `orphans` what an earlier call had claimed without being heard. `gate` is
    what the claims have found before them. An admission whose `door` was not its own has not looked. `depths` are the
    kinds of depth limits that there are.
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
    parked: list[Parked] | None = None
    depths: tuple[str, ...] | None = None


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

    def __call__(self, session: Session) -> tuple[Renewal, list[TakenOver]]:
        """Make the call."""
        renewal, orphans, _ = session.run(
            renew(self.leases, lease_seconds=self.lease_seconds),
            recover(
                worker_id=self.worker_id,
                lost_tokens=self.lost_tokens,
                token=self.token,
                lease_seconds=self.lease_seconds,
            ),
            self.sign_of_life,
            statement_timeout_ms=STATEMENT_TIMEOUT_MS,
        )
        return renewal, orphans
