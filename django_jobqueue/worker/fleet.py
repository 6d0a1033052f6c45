"""The keeper's picture of its runners: what may be claimed for them, and which of them gets which job."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django_jobqueue.worker.child import PATIENCE_SECONDS, Runner
from django_jobqueue.worker.flight import Flight
from django_jobqueue.worker.quarantine import Quarantine


class Load:
    """What a runner holds, together with what it is about to be given."""

    __slots__ = ("coroutines", "functions", "long", "runner")

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.functions = self.long = self.coroutines = 0
        for flight in runner.flights.values():
            self.add(flight)

    def add(self, flight: Flight) -> None:
        """Count one more."""
        if flight.is_coroutine:
            self.coroutines += 1
        else:
            self.functions += 1
            self.long += not flight.is_short

    def has_turn_for(self, flight: Flight) -> bool:
        """Whether a flight would have its turn soon: behind short functions yes, behind long ones perhaps never."""
        if self.in_all() >= self.runner.jobs_left:
            return False
        if flight.is_coroutine:
            return self.coroutines < self.runner.coroutines
        return self.long < self.runner.threads

    def before(self, flight: Flight) -> int:
        """Count what a flight would have its turn after, or beside."""
        return self.coroutines if flight.is_coroutine else self.functions

    def in_all(self) -> int:
        """Rank it for a job that must be alone."""
        return self.functions + self.coroutines


@dataclass(frozen=True, slots=True)
class Room:
    """How many jobs may be claimed: for free slots, of short tasks besides, of coroutines, and of either kind."""

    functions: int
    ahead: int
    coroutines: int
    either: int = 0


class Fleet:
    """All runners of a worker, and the jobs that wait for one."""

    def __init__(self) -> None:
        self.runners: dict[int, Runner] = {}
        self.waiting: list[Flight] = []
        self.quarantine = Quarantine()

    def flights(self) -> Iterator[Flight]:
        """Go through everything in the keeper's hands."""
        yield from self.waiting
        for runner in self.runners.values():
            yield from runner.flights.values()

    def leased(self) -> Iterator[Flight]:
        """Go through what is held under a lease: all but what has committed its own end."""
        return (flight for flight in self.flights() if not flight.is_committed)

    @property
    def size(self) -> int:
        """How many jobs are in the keeper's hands."""
        return len(self.waiting) + sum(len(runner.flights) for runner in self.runners.values())

    @property
    def stream(self) -> int:
        """How many short functions are in the keeper's hands."""
        return sum(flight.is_short and not flight.is_coroutine for flight in self.flights())

    def room(self, ahead_per_slot: int) -> Room:
        """Say how many jobs may be claimed now.

        A slot that holds only short jobs counts as free for any job: it will be within 50 ms. Else a long job would
        wait for ever behind a stream of short ones. A runner that is to be replaced after so many jobs may have fewer
        left than places: which kind takes the last ones shows when they are claimed, so they are asked for together.
        """
        functions = ahead = coroutines = either = 0
        for runner in self.runners.values():
            if not runner.has_room:
                continue
            held = runner.functions
            long = sum(not flight.is_short for flight in held)
            left = max(0, runner.jobs_left - len(runner.flights))
            free = max(0, min(left, runner.threads - long))
            loop = max(0, min(left, runner.coroutines - (len(runner.flights) - len(held))))
            both = min(free, loop) if free + loop > left else 0
            left -= free
            soon = (runner.threads - long) * ahead_per_slot - (len(held) - long) if long < runner.threads else 0
            soon = max(0, min(left // 2 if loop > both else left, soon))
            functions += free - both
            ahead += soon
            coroutines += min(loop - both, left - soon)
            either += both
        waiting = len(self.waiting)
        return Room(*(max(0, number - waiting) for number in (functions, ahead, coroutines, either)))

    def may_ask_for_suspects(self, now: float) -> bool:
        """Whether a suspect that is claimed now has a fair chance to run soon."""
        return self.quarantine.is_open(now) or any(map(_could_take_a_suspect, self.runners.values()))

    def place(self) -> None:
        """Hand out what waits.

        A suspect, which may have taken a process down, goes to an empty runner and stays alone there.
        """
        orders: dict[int, list[Flight]] = {}
        loads = {n: Load(r) for n, r in self.runners.items() if r.has_room and r.threads}
        still_waiting = []
        for flight in self.waiting:
            if flight.is_suspect:
                if not self._place_suspect(flight, loads, orders):
                    still_waiting.append(flight)
            elif open_to_it := [load for load in loads.values() if load.has_turn_for(flight)]:
                load = min(open_to_it, key=lambda load: load.before(flight))
                load.add(flight)
                orders.setdefault(load.runner.number, []).append(flight)
            else:
                still_waiting.append(flight)
        self.waiting = still_waiting
        for number, flights in orders.items():
            self.runners[number].hand(flights)

    def _place_suspect(self, flight: Flight, loads: dict[int, Load], orders: dict[int, list[Flight]]) -> bool:
        for runner in self.runners.values():
            if _could_take_a_suspect(runner) and runner.number not in orders:
                self.quarantine.placed()
                runner.reserved = True
                loads.pop(runner.number, None)
                orders[runner.number] = [flight]
                return True
        if loads and not any(runner.reserved and runner.flights for runner in self.runners.values()):
            # None is empty: the one with the least to do takes nothing more until it is.
            runner = min(loads.values(), key=Load.in_all).runner
            loads.pop(runner.number)
            runner.reserved = True
        return False

    def release_reserved(self) -> None:
        """Let runners take any job again in which no suspect is, unless one waits for them."""
        if any(flight.is_suspect for flight in self.waiting):
            return
        for runner in self.runners.values():
            if runner.reserved and not any(flight.is_suspect for flight in runner.flights.values()):
                runner.reserved = False

    def take_late(self, now: float, lease_margin: float) -> list[Flight]:
        """Take out what waits and has so little left of its lease that another worker may have it soon."""
        stay: list[Flight] = []
        taken: list[Flight] = []
        for flight in self.waiting:
            (taken if flight.lease_until - lease_margin <= now else stay).append(flight)
        self.waiting = stay
        return taken

    def take_impatient(self, now: float) -> list[Flight]:
        """Take out what no runner could take for too long: another worker may have one that can."""
        stay: list[Flight] = []
        taken: list[Flight] = []
        for flight in self.waiting:
            flight.waits_since = now if flight.waits_since is None else flight.waits_since
            patience = self.quarantine.patience if flight.is_suspect else PATIENCE_SECONDS
            (taken if now - flight.waits_since > patience else stay).append(flight)
        if any(flight.is_suspect for flight in taken):
            self.quarantine.failed(now)
        self.waiting = stay
        return taken


def _could_take_a_suspect(runner: Runner) -> bool:
    return runner.takes_orders and runner.threads > 0 and not runner.flights
