"""Which call to the database comes next, and what is in it."""

from __future__ import annotations

from uuid import UUID, uuid4

from django_jobqueue.conf import Options
from django_jobqueue.store.admit import FIRST
from django_jobqueue.store.claim import Claimed, aged_wanted, is_by_age
from django_jobqueue.store.renew import Lease
from django_jobqueue.store.rescue import Contact, TakenOver, recover, rescue
from django_jobqueue.store.statement import Statement
from django_jobqueue.store.workers import WorkerCard, announce_worker
from django_jobqueue.worker import clock
from django_jobqueue.worker.breakers import Breakers
from django_jobqueue.worker.calls import Count, Cycle, CycleAnswer, Goodbye, Probe, Probes, Renew, Return
from django_jobqueue.worker.census import Census
from django_jobqueue.worker.demand import Demand
from django_jobqueue.worker.fleet import Fleet
from django_jobqueue.worker.ledger import Batch, Ledger
from django_jobqueue.worker.link import call_seconds
from django_jobqueue.worker.plan import WorkerPlan
from django_jobqueue.worker.rated import RateWatch
from django_jobqueue.worker.schedule import Schedule

MAX_CLAIM = 500
"""Jobs that a cycle claims at most: beyond that a larger one saves nothing, and its locks last longer."""
CLAIM_AGAIN_SECONDS = 1.0
"""After a call that took too long nothing is claimed for this long."""
GHOST_SECONDS = 180.0
"""A call that was given up may be carried out so long afterwards: a pooler that waits for a connection does not look
whether anybody waits for it."""
RECOVER_SECONDS = 0.5
"""How often it is looked for; the statement reads every running job."""
LOOK_ON_SECONDS = 0.1
"""So soon a worker goes on that has not looked at all who wait for a slot: a look takes about a tenth of that."""
PROBE_SECONDS = 1.0
"""How often a worker looks whether a row that somebody had locked is free."""


class Agenda:
    """One call at a time: a return first, then renewals; what is decided rides with the chores and the claims."""

    def __init__(
        self,
        plan: WorkerPlan,
        card: WorkerCard,
        fleet: Fleet,
        ledger: Ledger,
        schedule: Schedule,
        demand: Demand,
        breakers: Breakers,
        rate_watch: RateWatch,
    ) -> None:
        self.is_known = False
        """Whether the database and this worker agree on what it holds."""
        self.takes_more = True
        """Whether it claims."""
        self.claimed_count = 0
        """How many jobs it has claimed and not left to others again."""
        self.stale_refused = 0
        self._lost_tokens: dict[UUID, float] = {}
        self._plan, self._options, self._card = plan, plan.options, card
        self._fleet, self._ledger, self._schedule, self._demand = fleet, ledger, schedule, demand
        self._breakers = breakers
        self._rate_watch = rate_watch
        self.seen_at = 0.0
        """From before the last sign of life that the database has answered."""
        self._looks_at_all = False
        self.has_queue_at_the_door = False
        """Whether jobs waited to be admitted when this worker last asked."""
        self._after = self._after_in_share = FIRST
        """Where the last look at those has left off."""
        self._claim_limit = MAX_CLAIM
        self._is_turn_of_probes = False
        self._probe_at = self._claim_at = self._recover_at = self._age_at = 0.0
        self.census = Census(plan.backend)

    def next_call(self, now: float) -> Return | Renew | Probe | Count | Cycle | None:
        """Say what to ask now, if anything."""
        if not self.is_known:
            return self._return()
        if now >= self._schedule.renew_at and (leases := self._leases_to_renew(now)):
            return Renew(leases, self._options.lease_seconds)
        if now >= self._probe_at and (locked := self._ledger.locked()):
            self._probe_at = now + PROBE_SECONDS
            return Probe(locked, self._options.lease_seconds)
        if self.takes_more and (count := self.census.call(now)) is not None:
            return count
        return self._cycle(now)

    def goodbye(self) -> Goodbye:
        """Make the last call."""
        return Goodbye(self._sign_of_life(stopped=True))

    def next_moment(self) -> float:
        """Say when there will be something to ask if nothing happens before."""
        if self._ledger.has_batch or not self.is_known:
            return 0.0
        moments = [self._schedule.renew_at]
        if (writes_at := self._breakers.writes_at) is not None:
            moments.append(writes_at)
        if self.takes_more:
            moments += [max(self._schedule.poll_at, self._claim_at), self._schedule.chores_at]
            if (moment := self.census.moment) is not None:
                moments.append(moment)
        if not self._ledger.is_empty:
            moments.append(self._probe_at)
        return min(moments)

    def forget(self, token: UUID) -> None:
        """Note the token of a call that got no answer: it may have been carried out, or may be yet.

        What it claims is looked for until that: from then on it is for anybody to rescue.
        """
        self._lost_tokens[token] = clock.now() + GHOST_SECONDS

    def cycle_done(self, cycle: Cycle, answer: CycleAnswer) -> None:
        """Note what a cycle has claimed, whether jobs wait to be admitted, and where its look at them ended."""
        self.claimed_count += len(answer.claimed)
        if cycle.admits or cycle.is_poll:
            self.has_queue_at_the_door = answer.door.has_queue
        if cycle.admits:
            self._after = answer.left_off
            if cycle.claims:
                self._after_in_share = answer.left_off_in_share
            if self._after != FIRST or self._after_in_share != FIRST:
                self._schedule.expect(LOOK_ON_SECONDS)
            if answer.placed and len(answer.claimed) < cycle.wanted:
                # The share of those that had not so many is there for the others.
                self._schedule.poll_again()
        if any(map(is_by_age, cycle.claims)) and len(answer.claimed) < cycle.wanted:
            # What was kept for the oldest, if it is for others, is for any.
            self._schedule.poll_again()
        if cycle.looks_for_aged is not None:
            self._demand.has_aged = answer.has_aged
        if cycle.claims:
            self._claim_limit = min(MAX_CLAIM, 2 * self._claim_limit)

    def cycle_failed(self, cycle: Cycle) -> None:
        """Have a poll and chores that came to nothing made again, and a claim for half as many."""
        if cycle.claims:
            # Perhaps their arguments were too much for the time that a call may take.
            self._claim_limit = max(1, cycle.wanted // 2)
        if cycle.is_poll:
            self._schedule.poll_again()
        if cycle.rescue is not None:
            self._schedule.rescue_again()

    def note_depths(self, kinds: tuple[str, ...]) -> None:
        """Note which kinds of depth limits there are."""
        self.census.heard(kinds)
        self._demand.gives_credits = bool(kinds)

    def look_for_requests(self) -> None:
        """Renew every lease next: the answer says which jobs a person wants cancelled."""
        self._looks_at_all = True
        self._schedule.renew_now()

    def claim_later(self) -> None:
        """Claim nothing for a while: what is decided goes first."""
        self._claim_at = clock.now() + CLAIM_AGAIN_SECONDS

    def probe_now(self) -> None:
        """Look next which rows are locked by somebody."""
        self._probe_at = 0.0

    def _leases_to_renew(self, now: float) -> list[Lease]:
        self._schedule.renewed(now)
        if self._looks_at_all:
            self._looks_at_all = False
            return self._held()
        fresh = now + self._options.lease_seconds - self._options.renew_seconds / 2
        running = [flight.lease for flight in self._fleet.leased() if flight.lease_until < fresh]
        return running + self._ledger.leases()

    def _return(self) -> Return:
        return Return(
            worker_id=self._card.id,
            leases=self._held(),
            lost_tokens=self._lost(),
            token=uuid4(),
            lease_seconds=self._options.lease_seconds,
            sign_of_life=self._sign_of_life(),
            declare=self._breakers.declare(),
        )

    def _cycle(self, now: float) -> Cycle | None:
        # A poll that may not claim would only be spent.
        may_poll = now >= self._claim_at and not self._ledger.is_isolating
        is_poll = self.takes_more and may_poll and now >= self._schedule.poll_at
        is_rescue = self.takes_more and now >= (self._schedule.rescue_at if is_poll else self._schedule.chores_at)
        writes_at = self._breakers.writes_at
        if not (is_poll or is_rescue or self._ledger.has_batch or (writes_at is not None and now >= writes_at)):
            return None
        token = uuid4()
        batch = self._ledger.take()
        claims, wanted, probes = self._claims(token, now, is_poll=is_poll)
        rates = self._rate_watch.look(now, is_poll=is_poll) if claims or probes else None
        if is_poll:
            self._schedule.polled(now)
        if is_rescue:
            self._schedule.rescued(now)
        return Cycle(
            batch=batch,
            token=token,
            worker_id=self._card.id,
            claims=claims,
            wanted=wanted,
            is_poll=is_poll,
            rescue=self._rescue(batch) if is_rescue else None,
            recover=self._recover(token, now) if is_poll else None,
            sign_of_life=self._sign_of_life() if is_rescue else None,
            unknown_tasks=self._demand.chores() if is_rescue else None,
            # What ends makes room. Where nothing waits for that, a poll finds out early enough that something does.
            admits=self.has_queue_at_the_door and (is_poll or bool(batch.settlements)),
            notes=self._breakers.take(now),
            standings=self._breakers.standings() if claims or probes else None,
            probes=probes,
            after=self._after,
            after_in_share=self._after_in_share,
            rates=rates,
            sweeps=rates is not None and self._rate_watch.wants_sweep(now),
            looks_for_aged=self._aged(is_poll=is_poll),
        )

    def _held(self) -> list[Lease]:
        return [flight.lease for flight in self._fleet.leased()] + self._ledger.leases()

    def _rescue(self, batch: Batch) -> Statement[list[TakenOver]]:
        return rescue(
            backend=self._plan.backend,
            held_tokens={lease.token for lease in [*self._held(), *batch.leases]}
            | {s.token for s in batch.settlements},
            # Not the cycle's: if the reply is lost, what was rescued has run, and must not be given back like a claim.
            token=uuid4(),
            lease_seconds=self._options.lease_seconds,
            contact=Contact(self._card.id, clock.now() - self.seen_at + late_seconds(self._options)),
        )

    def _aged(self, *, is_poll: bool) -> Statement[bool] | None:
        # A burst of polls is no reason to give places away more often.
        if not (is_poll and self._options.aging_seconds is not None and clock.now() >= self._age_at):
            return None
        self._age_at = clock.now() + self._options.poll_seconds
        return aged_wanted(self._options.aging_seconds)

    def _lost(self) -> frozenset[UUID]:
        now = clock.now()
        self._lost_tokens = {token: until for token, until in self._lost_tokens.items() if until > now}
        return frozenset(self._lost_tokens)

    def _recover(self, token: UUID, now: float) -> Statement[list[TakenOver]] | None:
        if not (self._lost_tokens and now >= self._recover_at and (lost := self._lost())):
            return None
        self._recover_at = now + RECOVER_SECONDS
        # Under the cycle's token: if this reply is lost too, no runner has had these jobs either.
        return recover(
            worker_id=self._card.id,
            lost_tokens=lost,
            token=token,
            lease_seconds=self._options.lease_seconds,
        )

    def _sign_of_life(self, *, stopped: bool = False) -> Statement[None]:
        return announce_worker(self._card, running=self._fleet.size, stale_refused=self.stale_refused, stopped=stopped)

    def _claims(
        self, token: UUID, now: float, *, is_poll: bool
    ) -> tuple[list[Statement[list[Claimed]]], int, list[Probes]]:
        if not self.takes_more or self._ledger.is_isolating or now < self._claim_at:
            return [], 0, []
        to_probe = self._breakers.to_probe(now, is_poll=is_poll)
        left = self._claim_limit
        if self._plan.max_jobs is not None:
            left = min(left, self._plan.max_jobs - self.claimed_count)
            if to_probe:
                # On top of the others there would be too many: they take turns.
                self._is_turn_of_probes = not self._is_turn_of_probes
                if self._is_turn_of_probes:
                    return [], 0, self._demand.probes(self._fleet, token, to_probe[:1], left)
                to_probe = []
        claims, wanted = self._demand.claims(self._fleet, left, token, is_poll=is_poll)
        return claims, wanted, self._demand.probes(self._fleet, token, to_probe, left) if claims else []


def late_seconds(options: Options) -> float:
    """Say how late a rescue may reach the database: well before a lease that nobody could renew meanwhile runs out."""
    return min(call_seconds(options.lease_seconds), (options.lease_seconds - options.renew_seconds) / 2)
