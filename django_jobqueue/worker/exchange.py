"""The keeper's dealings with the database: calls are made, one at a time, and their replies understood.

A call that fails loses nothing: its batch goes back to the ledger.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from uuid import UUID

import psycopg

from django_jobqueue import failpoint
from django_jobqueue.declared_rates import declared_rates
from django_jobqueue.exceptions import MissingTables
from django_jobqueue.policy.lifecycle import TERMINAL
from django_jobqueue.policy.outcomes import Committed, Failure, Lost, Outcome
from django_jobqueue.policy.retry import Wait
from django_jobqueue.registry import Registry
from django_jobqueue.store import notify
from django_jobqueue.store.admit import FIRST
from django_jobqueue.store.claim import Claimed
from django_jobqueue.store.park import LIMIT as UNPARK_LIMIT
from django_jobqueue.store.promote import LIMIT as PROMOTE_LIMIT
from django_jobqueue.store.renew import Lease, Renewal
from django_jobqueue.store.rescue import LIMIT as RESCUE_LIMIT
from django_jobqueue.store.rescue import TakenOver
from django_jobqueue.store.session import Session
from django_jobqueue.store.workers import WorkerCard
from django_jobqueue.worker import clock, journal, truce
from django_jobqueue.worker.agenda import Agenda
from django_jobqueue.worker.breakers import AGAIN_SECONDS, Breakers
from django_jobqueue.worker.calls import Count, Cycle, CycleAnswer, Probe, Renew, Return
from django_jobqueue.worker.demand import Demand
from django_jobqueue.worker.fleet import Fleet
from django_jobqueue.worker.flight import Flight
from django_jobqueue.worker.intake import Intake
from django_jobqueue.worker.judge import Judge
from django_jobqueue.worker.ledger import Ledger, is_a_surprise, is_refusal, waited_for_a_lock
from django_jobqueue.worker.link import Link, Reply, call_seconds
from django_jobqueue.worker.listener import Listener
from django_jobqueue.worker.news import News
from django_jobqueue.worker.outage import Outage
from django_jobqueue.worker.pace import Pace
from django_jobqueue.worker.plan import WorkerPlan
from django_jobqueue.worker.rated import RateWatch
from django_jobqueue.worker.schedule import Schedule
from django_jobqueue.worker.wakeup import Wakeup

logger = logging.getLogger("django_jobqueue.worker")

DOOR_SECONDS = 0.02
"""So soon a worker asks again that was not let admit, because another one was at it."""


class Exchange:
    """The database side of a keeper."""

    def __init__(self, plan: WorkerPlan, registry: Registry, card: WorkerCard, fleet: Fleet, wakeup: Wakeup) -> None:
        self.pace = Pace(registry.breakers())
        self.is_drained = False
        self.error = ""
        self.ended: list[int] = []
        self.unwanted: list[Flight] = []
        self._plan, self._options = plan, plan.options
        self._fleet, self._wakeup = fleet, wakeup
        self._judge = Judge(registry, plan.options)
        seconds = call_seconds(plan.options.lease_seconds)
        self._link = Link(Session(plan.options.database), wakeup.wake, call_seconds=seconds)
        self._ledger, self._outage, self._schedule = Ledger(), Outage(), Schedule(plan.options)
        if not plan.until_idle:
            self._schedule.postpone_rescue(truce.AFTER_DOUBT_SECONDS)
        listens = plan.options.notify
        self._listener = Listener(plan.options.database, wakeup, self._heard) if listens else None
        self._intake = Intake(registry, self.pace, card.id)
        self._news, self._known = News(), card.tasks
        self._was_out = False
        self._demand = Demand(plan, registry, self.pace, card.id)
        self._breakers = Breakers(registry)
        self._rate_watch = RateWatch(declared_rates(registry.tasks, plan.options))
        watches = self._breakers, self._rate_watch
        self._agenda = Agenda(plan, card, fleet, self._ledger, self._schedule, self._demand, *watches)
        self._link.start()

    @property
    def is_quiet(self) -> bool:
        """Whether everything is written and no call is under way."""
        return self._ledger.is_empty and not self._link.is_busy

    @property
    def claimed_count(self) -> int:
        """How many jobs it has claimed so far, but for those that it has left to others again."""
        return self._agenda.claimed_count

    @property
    def is_asking(self) -> bool:
        """Whether a call is under way."""
        return self._link.is_busy

    def settle_flight(self, flight: Flight, outcome: Outcome) -> None:
        """Note how an attempt of this worker's ended, for the job and for what its task depends on."""
        self._breakers.note(flight.claimed.task, outcome, flight.breaker_generation)
        self.settle(flight.claimed, flight.token, outcome, cancel_requested=flight.cancel_requested)

    def settle(
        self, job: Claimed | TakenOver, token: UUID, outcome: Outcome, *, cancel_requested: bool = False
    ) -> None:
        """Note how an attempt ended; it is written with the next cycle."""
        self._ledger.add(self._judge.settlement(job, token, outcome, cancel_requested=cancel_requested))

    def note_committed(self, flight: Flight) -> None:
        """Note a job whose own transaction has recorded its success."""
        job = flight.claimed
        self._breakers.note(job.task, Committed(), flight.breaker_generation)
        journal.write_success(job.id, job.task, job.attempt_number)
        self.ended.append(job.id)
        self._ask_whether_drained()
        if self._agenda.has_queue_at_the_door:
            # It may have given back a slot, or the turn, and no cycle writes it.
            self._schedule.poll_again()

    def give_back(self, flights: Sequence[Flight]) -> None:
        """Note jobs that were never started."""
        for flight in flights:
            self._ledger.give_back(flight.lease)
        self._agenda.claimed_count -= len(flights)

    def look_now(self) -> None:
        """Poll at the next turn: there is room that was not there before."""
        self._schedule.poll_again()

    def claim_no_more(self) -> None:
        """Take no more jobs; what is decided is still written."""
        self._agenda.takes_more = False

    def turn(self, now: float) -> None:
        """Take the reply that has come, cut the call that has overstayed, make the next call."""
        if (reply := self._link.take()) is not None:
            self._take(reply)
        elif (deadline := self._link.deadline()) is not None and now >= deadline:
            self._link.cut()
        if not self._link.is_busy and self._outage.may_try(now) and (call := self._agenda.next_call(now)) is not None:
            self._link.send(call, call)
        if self._listener is not None and self._agenda.takes_more:
            self._listener.turn(now)

    def next_moment(self) -> float:
        """Say when there will be something to do if nothing happens before."""
        if (deadline := self._link.deadline()) is not None:
            return deadline
        if self._outage.is_on:
            return self._outage.retry_at
        return self._agenda.next_moment()

    def close(self) -> None:
        """Say goodbye, if the database listens, and hang up."""
        if self._agenda.is_known and not self._link.is_busy and not self._outage.is_on:
            # A courtesy: a worker that could not say goodbye is known by its old last_seen_at.
            self._link.send(None, self._agenda.goodbye())
            until = clock.now() + 1.0
            while self._link.take() is None and clock.now() < until:
                self._wakeup.wait(0.1)
        if self._listener is not None:
            self._listener.close()
        self._link.close()

    def _heard(self, payloads: frozenset[str]) -> None:
        if notify.STOP in payloads:
            self._agenda.look_for_requests()
        if notify.LOOK in payloads:
            self._schedule.wake()

    def _take(self, reply: Reply) -> None:
        if reply.error is not None:
            self._failed(reply.call, reply.error, reply.seconds)
            return
        self._outage.ended()
        match reply.call:
            case Cycle():
                self._cycle_done(reply.call, reply.answer, reply)
            case Probe():
                self._ledger.unlock(reply.answer.busy)
            case Count():
                self._agenda.census.counted(reply.answer, reply.seconds)
            case Renew():
                self._renewed(reply.answer, reply.sent_at)
            case Return():
                renewal, orphans = reply.answer
                self._returned(renewal, orphans, reply.sent_at)

    def _cycle_done(self, cycle: Cycle, answer: CycleAnswer, reply: Reply) -> None:
        if answer.claimed:
            failpoint.hit("claimed")
        if cycle.sign_of_life is not None:
            self._agenda.seen_at = reply.sent_at
        self._ledger.written(cycle.batch)
        if answer.depths is not None:
            self._agenda.note_depths(answer.depths)
        self._note_settled(cycle, answer)
        self._agenda.cycle_done(cycle, answer)
        has_probed = self._heed_breakers(cycle, answer)
        if cycle.claims:
            self._news.claimed()
            self._news.pauses(there_are=answer.gate.has_pauses)
            if cycle.rates is None:
                # A look at many buckets says nothing of how the plain jobs lie.
                has_held = answer.gate.has_pauses or self._breakers.any_is_limited
                self._demand.note(answer.claimed, reply.seconds, written=cycle.batch.size, has_pauses=has_held)
        if cycle.claims or cycle.probes:
            self._note_rated(answer, reply.seconds)
        lease_until = reply.sent_at + self._options.lease_seconds
        for claimed in answer.claimed:
            flight = self._intake.flight(claimed, cycle.token, lease_until)
            flight.breaker_generation = self._breakers.generation_of(claimed.task)
            self._fleet.waiting.append(flight)
        self._give_back_orphans(answer.orphans)
        for job in answer.rescued:
            logger.warning("job %s %s: its lease ran out; worker %s is lost", job.id, job.task, job.worker_id)
            self.settle(
                job,
                job.token,
                Lost(Failure("django_jobqueue.exceptions.WorkerLost", f"the lease of worker {job.worker_id} ran out")),
                cancel_requested=job.is_unwanted,
            )
        self._note_unknown(answer)
        if answer.promoted is not None:
            self._schedule.expect(answer.promoted.next_due_seconds)
        if len(answer.rescued) >= RESCUE_LIMIT:
            self._schedule.rescue_again()
            self._schedule.poll_again()
        if answer.promoted is not None and answer.promoted.moved >= PROMOTE_LIMIT:
            self._schedule.poll_again()
        if cycle.wanted and len(answer.claimed) >= cycle.wanted:
            self._schedule.poll_again()
        is_shut_out = answer.door.has_queue and not answer.door.is_ours
        if is_shut_out:
            # Somebody else was at it; or nobody has asked, and the next poll does.
            self._schedule.expect(DOOR_SECONDS if cycle.admits else 0.0)
        if cycle.is_poll:
            found = answer.claimed or answer.rescued or (answer.promoted and answer.promoted.moved)
            # A poll that could not have claimed anything, or has not looked at all who wait, does not tell.
            has_spent = bool(answer.spends) or not answer.gate.has_rated
            has_looked = (
                has_spent
                and not is_shut_out
                and {
                    cycle.after,
                    answer.left_off,
                    cycle.after_in_share,
                    answer.left_off_in_share,
                }
                == {FIRST}
            )
            asked = cycle.wanted > 0 and has_probed and not answer.gate.is_held and has_looked
            self.is_drained = (asked or not self._demand.can_serve) and not found

    def _heed_breakers(self, cycle: Cycle, answer: CycleAnswer) -> bool:
        """Take in what a cycle says of circuit breakers, and whether it has asked for all probes that it could."""
        if self._breakers.heard(cycle.notes, answer.counted, answer.changed):
            self._schedule.poll_again()
        next_probe_seconds = self._breakers.stand(answer.standings)
        self._schedule.expect(next_probe_seconds)
        asked = [probes.breaker for probes in cycle.probes]
        has_probed = self._breakers.probed(answer.probed, asked, [job.task for job in answer.claimed])
        if not has_probed:
            self._schedule.expect(AGAIN_SECONDS)
        return has_probed and next_probe_seconds != 0.0

    def _note_rated(self, answer: CycleAnswer, seconds: float) -> None:
        if answer.spends is not None and not answer.gate.is_held:
            self._schedule.expect(self._rate_watch.looked(answer.next_token_seconds, seconds, is_ours=answer.spends))
        if self._rate_watch.note(has_rated=answer.gate.has_rated):
            self._schedule.poll_again()

    def _note_unknown(self, answer: CycleAnswer) -> None:
        after_seconds = self._options.unknown_task_seconds
        self._news.unknown_tasks(answer.unknown_tasks, known=self._known, buried_after_seconds=after_seconds)
        if answer.parked is not None:
            self._demand.looks_at_parked = False
            self._news.parked(answer.parked, known=self._known)
        for job in answer.buried:
            journal.write_unknown(job)
            self.ended.append(job.id)
        if answer.unparked:
            self._schedule.poll_again()
        if answer.unparked >= UNPARK_LIMIT:
            self._schedule.rescue_again()

    def _note_settled(self, cycle: Cycle, answer: CycleAnswer) -> None:
        settled = answer.settled_before | answer.settled if answer.settled_before else answer.settled
        for settlement in cycle.batch.settlements:
            if settlement.job_id not in settled:
                self._agenda.stale_refused += 1
                logger.warning(
                    "job %s %s: the lease was lost, its outcome is dropped", settlement.job_id, settlement.task
                )
                continue
            journal.write(settlement, settled[settlement.job_id])
            if isinstance(settlement.decision.step, Wait):
                self._schedule.expect(settlement.decision.step.after_seconds)
        if settled or answer.given_back:
            self._ask_whether_drained()
        self.ended += [job_id for job_id, now in settled.items() if now.status in TERMINAL]

    def _ask_whether_drained(self) -> None:
        # A job may be there again, and while it ran it may have enqueued others: only a poll can say.
        self.is_drained = False
        if self._plan.until_idle:
            self._schedule.poll_again()

    def _renewed(self, renewal: Renewal, sent_at: float) -> None:
        for flight in self._fleet.leased():
            if flight.lease in renewal.renewed:
                flight.lease_until = sent_at + self._options.lease_seconds
                if flight.lease in renewal.unwanted and flight.ask(forced=flight.lease in renewal.forced):
                    self.unwanted.append(flight)
            elif flight.lease in renewal.lost:
                flight.lose_lease()
        still_waiting = [flight for flight in self._fleet.waiting if flight.lease_until]
        self._agenda.claimed_count -= len(self._fleet.waiting) - len(still_waiting)
        self._fleet.waiting = still_waiting

    def _returned(self, renewal: Renewal, orphans: list[TakenOver], sent_at: float) -> None:
        self._agenda.is_known, self._agenda.seen_at = True, sent_at
        # The other workers have only just come back too, and may not have renewed yet.
        if self._was_out:
            self._schedule.postpone_rescue(truce.after_outage_seconds(self._options.lease_seconds))
        self._was_out = False
        self._renewed(renewal, sent_at)
        self._give_back_orphans(orphans)
        if self._listener is not None:
            self._listener.listen_now()
        # What fell due meanwhile has waited long enough.
        self._schedule.poll_again()

    def _give_back_orphans(self, orphans: Sequence[TakenOver]) -> None:
        for orphan in orphans:
            logger.info("job %s %s: the reply to its claim was lost; it is given back", orphan.id, orphan.task)
            self._ledger.give_back(Lease(orphan.id, orphan.token))

    def _failed(self, call: object, error: Exception, seconds: float) -> None:
        if isinstance(error, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedColumn):
            self.error = str(MissingTables(self._options.database))
            return
        if is_a_surprise(error):
            self._news.surprise(error)
        if isinstance(call, Cycle):
            self._agenda.cycle_failed(call)
            if not is_refusal(error):
                self._breakers.put_back(call.notes)
        match call:
            case Cycle() if call.claims and (waited_for_a_lock(error) or is_refusal(error)):
                # Perhaps it was the claim, in a long queue on a slow server: what is decided goes first, without one.
                self._agenda.claim_later()
                self._demand.note_slow()
                self._schedule.postpone_rescue(truce.AFTER_DOUBT_SECONDS)
                self._ledger.put_back(call.batch)
                self._news.claim_failed(error)
            case Cycle() if call.batch.size and (is_refusal(error) or is_a_surprise(error)):
                self._ledger.refused(call.batch, error)
            case Cycle() if call.batch.size and waited_for_a_lock(error):
                logger.info("outcomes wait: a job's row is locked by somebody, or the server is slow; others go on")
                self._ledger.set_aside(call.batch)
                self._agenda.probe_now()
            case Count() if waited_for_a_lock(error):
                self._agenda.census.failed()
            case Cycle() | Return():
                if not waited_for_a_lock(error):
                    # It may have been carried out all the same: what it claimed or recovered is found by its token.
                    self._agenda.forget(call.token)
                if isinstance(call, Cycle):
                    self._ledger.doubt(call.batch)
                self._out(error, seconds)
            case _:
                self._out(error, seconds)

    def _out(self, error: Exception, seconds: float) -> None:
        self._outage.failed(error, seconds)
        if waited_for_a_lock(error):
            # Somebody's lock, or a slow server, is no reason to doubt the connection.
            self._schedule.postpone_rescue(truce.AFTER_DOUBT_SECONDS)
        else:
            self._agenda.is_known, self._was_out = False, True
            if self._listener is not None:
                self._listener.doubt()
