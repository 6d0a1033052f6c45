"""The keeper's dealings with the database: which call comes next, and what its reply means.

One call at a time. Renewals go first; everything that is decided rides in the next cycle, together with the chores
that are due and a claim for whatever there is room for. A call that fails loses nothing: its batch goes back to the
ledger.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from uuid import UUID, uuid4

import psycopg

from django_jobqueue.exceptions import MissingTables
from django_jobqueue.policy.outcomes import Failure, Lost, Outcome
from django_jobqueue.policy.retry import Bury, Finish, Release, Wait
from django_jobqueue.registry import Registry
from django_jobqueue.store.claim import Claimed
from django_jobqueue.store.renew import Lease, Renewal
from django_jobqueue.store.rescue import TakenOver, rescue
from django_jobqueue.store.session import Session
from django_jobqueue.store.statement import Statement
from django_jobqueue.store.workers import WorkerCard, announce_worker
from django_jobqueue.worker import clock
from django_jobqueue.worker.calls import Cycle, CycleAnswer, Goodbye, Probe, Renew, Return
from django_jobqueue.worker.demand import Demand
from django_jobqueue.worker.fleet import Fleet, Flight
from django_jobqueue.worker.intake import Intake
from django_jobqueue.worker.judge import Judge
from django_jobqueue.worker.ledger import Batch, Ledger, is_refusal, waited_for_a_lock
from django_jobqueue.worker.link import Link, Reply, call_seconds
from django_jobqueue.worker.listener import Listener
from django_jobqueue.worker.outage import Outage
from django_jobqueue.worker.pace import Pace
from django_jobqueue.worker.plan import WorkerPlan
from django_jobqueue.worker.schedule import Schedule
from django_jobqueue.worker.wakeup import Wakeup

logger = logging.getLogger("django_jobqueue.worker")

MAX_CLAIM = 500
CLAIM_AGAIN_SECONDS = 1.0
"""After a call that took too long nothing is claimed for this long."""
RESCUE_AFTER_OUTAGE_SECONDS = 10.0
RESCUE_AFTER_DOUBT_SECONDS = 3.0
"""A worker that starts cannot know of an outage, and one that waited in vain for a lock on the table does not know
whether the others could renew. By then they have tried again (`outage.MAX_SECONDS`)."""
PROBE_SECONDS = 1.0
"""How often a worker looks whether a row that somebody had locked is free."""


class Exchange:
    """The database side of a keeper."""

    def __init__(self, plan: WorkerPlan, registry: Registry, card: WorkerCard, fleet: Fleet, wakeup: Wakeup) -> None:
        self.pace = Pace()
        self.claimed_count = 0
        self.stale_refused = 0
        self.is_drained = False
        self.error = ""
        self.ended: list[int] = []
        self._plan, self._options, self._card = plan, plan.options, card
        self._fleet, self._wakeup = fleet, wakeup
        self._judge = Judge(registry, plan.options)
        seconds = call_seconds(plan.options.lease_seconds)
        self._link = Link(Session(plan.options.database), wakeup.wake, call_seconds=seconds)
        self._ledger, self._outage, self._schedule = Ledger(), Outage(), Schedule(plan.options)
        if not plan.until_idle:
            self._schedule.postpone_rescue(RESCUE_AFTER_DOUBT_SECONDS)
        listens = plan.options.notify
        self._listener = Listener(plan.options.database, wakeup, self._schedule.wake) if listens else None
        self._probe_at = 0.0
        self._intake = Intake(registry, self.pace, card.id)
        self._lost_tokens: set[UUID] = set()
        self._claim_at = 0.0
        self._named_unknown: set[str] = set()
        self._is_known = self._was_out = False
        self._takes_more = True
        self._demand = Demand(plan, registry, self.pace, card.id)
        self._link.start()

    @property
    def is_quiet(self) -> bool:
        """Whether everything is written and no call is under way."""
        return self._ledger.is_empty and not self._link.is_busy

    @property
    def is_asking(self) -> bool:
        """Whether a call is under way."""
        return self._link.is_busy

    def settle(self, job: Claimed | TakenOver, token: UUID, outcome: Outcome) -> None:
        """Note how an attempt ended; it is written with the next cycle."""
        self._ledger.add(self._judge.settlement(job, token, outcome))

    def give_back(self, flights: Sequence[Flight]) -> None:
        """Note jobs that were never started."""
        for flight in flights:
            self._ledger.give_back(Lease(flight.claimed.id, flight.token))

    def look_now(self) -> None:
        """Poll at the next turn: there is room that was not there before."""
        self._schedule.poll_again()

    def claim_no_more(self) -> None:
        """Take no more jobs; what is decided is still written."""
        self._takes_more = False

    def turn(self, now: float) -> None:
        """Take the reply that has come, cut the call that has overstayed, make the next call."""
        if (reply := self._link.take()) is not None:
            self._take(reply)
        elif (deadline := self._link.deadline()) is not None and now >= deadline:
            self._link.cut()
        if not self._link.is_busy and self._outage.may_try(now):
            self._send(now)
        if self._listener is not None and self._takes_more:
            self._listener.turn(now)

    def next_moment(self) -> float:
        """Say when there will be something to do if nothing happens before."""
        if (deadline := self._link.deadline()) is not None:
            return deadline
        if self._outage.is_on:
            return self._outage.retry_at
        if self._ledger.has_batch or not self._is_known:
            return 0.0
        moments = [self._schedule.renew_at]
        if self._takes_more:
            moments.append(self._schedule.poll_at)
        if not self._ledger.is_empty:
            moments.append(self._probe_at)
        return min(moments)

    def close(self) -> None:
        """Say goodbye, if the database listens, and hang up."""
        if self._is_known and not self._link.is_busy and not self._outage.is_on:
            # A courtesy: a worker that could not say goodbye is known by its old last_seen_at.
            self._link.send(None, Goodbye(self._sign_of_life(stopped=True)))
            until = clock.now() + 1.0
            while self._link.take() is None and clock.now() < until:
                self._wakeup.wait(0.1)
        if self._listener is not None:
            self._listener.close()
        self._link.close()

    # What to ask

    def _send(self, now: float) -> None:
        if not self._is_known:
            self._link.send(call := self._return(), call)
        elif now >= self._schedule.renew_at and (leases := self._leases_to_renew(now)):
            self._link.send(call_renew := Renew(leases, self._options.lease_seconds), call_renew)
        elif now >= self._probe_at and (locked := self._ledger.locked()):
            self._probe_at = now + PROBE_SECONDS
            self._link.send(probe := Probe(locked, self._options.lease_seconds), probe)
        elif (cycle := self._cycle(now)) is not None:
            self._link.send(cycle, cycle)

    def _leases_to_renew(self, now: float) -> list[Lease]:
        self._schedule.renewed(now)
        fresh = now + self._options.lease_seconds - self._options.renew_seconds / 2
        running = [Lease(f.claimed.id, f.token) for f in self._fleet.flights() if f.lease_until < fresh]
        return running + self._ledger.leases()

    def _return(self) -> Return:
        return Return(
            worker_id=self._card.id,
            leases=self._held(),
            lost_tokens=frozenset(self._lost_tokens),
            token=uuid4(),
            lease_seconds=self._options.lease_seconds,
            sign_of_life=self._sign_of_life(),
        )

    def _cycle(self, now: float) -> Cycle | None:
        is_poll = self._takes_more and now >= self._schedule.poll_at
        if not is_poll and not self._ledger.has_batch:
            return None
        token = uuid4()
        batch = self._ledger.take()
        claims, wanted = self._claims(token, now, is_poll=is_poll)
        is_rescue = is_poll and now >= self._schedule.rescue_at
        if is_poll:
            self._schedule.polled(now)
        if is_rescue:
            self._schedule.rescued(now)
        return Cycle(
            batch=batch,
            token=token,
            claims=claims,
            wanted=wanted,
            is_poll=is_poll,
            rescue=self._rescue(token, batch) if is_rescue else None,
            sign_of_life=self._sign_of_life() if is_rescue else None,
            unknown_tasks=self._demand.unknown_tasks() if is_rescue else None,
        )

    def _held(self) -> list[Lease]:
        return [Lease(flight.claimed.id, flight.token) for flight in self._fleet.flights()] + self._ledger.leases()

    def _rescue(self, token: UUID, batch: Batch) -> Statement[list[TakenOver]]:
        return rescue(
            backend=self._plan.backend,
            held_tokens={lease.token for lease in [*self._held(), *batch.leases]}
            | {s.token for s in batch.settlements},
            token=token,
            lease_seconds=self._options.lease_seconds,
        )

    def _sign_of_life(self, *, stopped: bool = False) -> Statement[None]:
        return announce_worker(self._card, running=self._fleet.size, stale_refused=self.stale_refused, stopped=stopped)

    def _claims(self, token: UUID, now: float, *, is_poll: bool) -> tuple[list[Statement[list[Claimed]]], int]:
        if not self._takes_more or self._ledger.is_isolating or now < self._claim_at:
            return [], 0
        left = MAX_CLAIM
        if self._plan.max_jobs is not None:
            left = min(left, self._plan.max_jobs - self.claimed_count)
        return self._demand.claims(self._fleet, left, token, is_poll=is_poll)

    # What the answers mean

    def _take(self, reply: Reply) -> None:
        if reply.error is not None:
            self._failed(reply.call, reply.error)
            return
        self._outage.ended()
        match reply.call:
            case Cycle():
                self._cycle_done(reply.call, reply.answer, reply)
            case Probe():
                self._ledger.unlock(reply.answer.busy)
            case Renew():
                self._renewed(reply.answer, reply.sent_at)
            case Return():
                renewal, orphans = reply.answer
                self._returned(renewal, orphans, reply.sent_at)

    def _cycle_done(self, cycle: Cycle, answer: CycleAnswer, reply: Reply) -> None:
        self._ledger.written(cycle.batch)
        self._note_settled(cycle, answer)
        self.claimed_count += len(answer.claimed)
        if cycle.claims:
            self._demand.note(answer.claimed, reply.seconds)
        lease_until = reply.sent_at + self._options.lease_seconds
        self._fleet.waiting += [self._intake.flight(job, cycle.token, lease_until) for job in answer.claimed]
        for job in answer.rescued:
            logger.warning("job %s %s: its lease ran out; worker %s is lost", job.id, job.task, job.worker_id)
            self.settle(
                job,
                cycle.token,
                Lost(Failure("django_jobqueue.exceptions.WorkerLost", f"the lease of worker {job.worker_id} ran out")),
            )
        self._name_unknown(answer.unknown_tasks)
        if answer.promoted is not None:
            self._schedule.expect(answer.promoted.next_due_seconds)
        if cycle.wanted and len(answer.claimed) >= cycle.wanted:
            self._schedule.poll_again()
        if cycle.is_poll:
            found = answer.claimed or answer.rescued or (answer.promoted and answer.promoted.moved)
            # A poll that could not have claimed anything says nothing about what there is.
            self.is_drained = cycle.wanted > 0 and not found

    def _note_settled(self, cycle: Cycle, answer: CycleAnswer) -> None:
        for settlement in cycle.batch.settlements:
            if settlement.job_id not in answer.settled:
                self.stale_refused += 1
                logger.warning(
                    "job %s %s: the lease was lost, its outcome is dropped", settlement.job_id, settlement.task
                )
                continue
            match settlement.decision.step:
                case Finish() | Bury():
                    self.ended.append(settlement.job_id)
                case Wait(after_seconds):
                    self._schedule.expect(after_seconds)
                    self.is_drained = False
                case Release():
                    self.is_drained = False

    def _name_unknown(self, tasks: frozenset[str]) -> None:
        for task in tasks - self._named_unknown:
            self._named_unknown.add(task)
            logger.warning("jobs of %s are due, and no task has that name here: is its module imported?", task)

    def _renewed(self, renewal: Renewal, sent_at: float) -> None:
        for flight in self._fleet.flights():
            if flight.claimed.id in renewal.renewed:
                flight.lease_until = sent_at + self._options.lease_seconds
            elif flight.claimed.id in renewal.lost:
                # Another worker has it. The next check stops it here.
                flight.lease_until = 0.0
        self._fleet.waiting = [flight for flight in self._fleet.waiting if flight.lease_until]

    def _returned(self, renewal: Renewal, orphans: list[TakenOver], sent_at: float) -> None:
        self._is_known = True
        self._lost_tokens.clear()
        # The other workers have only just come back too, and may not have renewed yet.
        self._schedule.postpone_rescue(RESCUE_AFTER_OUTAGE_SECONDS if self._was_out else 0.0)
        self._was_out = False
        self._renewed(renewal, sent_at)
        for orphan in orphans:
            logger.info("job %s %s: the reply to its claim was lost; it is given back", orphan.id, orphan.task)
            self._ledger.give_back(Lease(orphan.id, orphan.token))

    def _failed(self, call: object, error: Exception) -> None:
        if isinstance(error, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedColumn):
            self.error = str(MissingTables(self._options.database))
            return
        if waited_for_a_lock(error):
            # Perhaps the claim, in a long queue on a slow server: what is decided is written without one first.
            self._claim_at = clock.now() + CLAIM_AGAIN_SECONDS
            self._demand.note_slow()
        match call:
            case Cycle() if call.batch.size and is_refusal(error):
                self._ledger.refused(call.batch, error)
            case Cycle() if call.batch.size and waited_for_a_lock(error):
                logger.info("a job's row is locked by somebody else; its outcome waits, the others go on")
                self._ledger.set_aside(call.batch)
                self._probe_at = 0.0
            case Cycle() | Return():
                # It may have been carried out all the same: what it claimed or recovered is found by its token.
                self._lost_tokens.add(call.token)
                if isinstance(call, Cycle):
                    self._ledger.put_back(call.batch)
                self._out(error)
            case _:
                self._out(error)

    def _out(self, error: Exception) -> None:
        self._outage.failed(error)
        if waited_for_a_lock(error):
            # Somebody's lock, or a slow server, is no reason to doubt the connection.
            self._schedule.postpone_rescue(RESCUE_AFTER_DOUBT_SECONDS)
        else:
            self._is_known, self._was_out = False, True
