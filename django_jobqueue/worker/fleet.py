"""The keeper's picture of its runners: what may be claimed for them, and which of them gets which job."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django_jobqueue.worker.child import Runner
from django_jobqueue.worker.flight import Flight


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
    """How many jobs may be claimed: for free slots, of short tasks besides, and of coroutines."""

    functions: int
    ahead: int
    coroutines: int


class Fleet:
    """All runners of a worker, and the jobs that wait for one."""

    def __init__(self) -> None:
        self.runners: dict[int, Runner] = {}
        self.waiting: list[Flight] = []

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
        wait for ever behind a stream of short ones.
        """
        functions = ahead = coroutines = 0
        for runner in self.runners.values():
            if not runner.has_room:
                continue
            held = runner.functions
            long = sum(not flight.is_short for flight in held)
            left = runner.jobs_left - len(runner.flights)
            functions += max(0, min(left, runner.threads - long))
            if long < runner.threads:
                ahead += max(0, min(left, (runner.threads - long) * ahead_per_slot - (len(held) - long)))
            coroutines += max(0, min(left, runner.coroutines - (len(runner.flights) - len(held))))
        waiting = len(self.waiting)
        return Room(max(0, functions - waiting), max(0, ahead - waiting), max(0, coroutines - waiting))

    def place(self) -> None:
        """Hand out what waits.

        A suspect, which may have taken a process down, goes to an empty runner and stays alone there.
        """
        orders: dict[int, list[Flight]] = {}
        loads = {n: Load(r) for n, r in self.runners.items() if r.has_room and r.threads}
        still_waiting = []
        for flight in self.waiting:
            if flight.claimed.tally.crash_count:
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
            if runner.takes_orders and runner.threads and not runner.flights and runner.number not in orders:
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
        """Let runners that have become empty take any job again, unless a suspect waits for one."""
        if any(flight.claimed.tally.crash_count for flight in self.waiting):
            return
        for runner in self.runners.values():
            if runner.reserved and not runner.flights:
                runner.reserved = False
