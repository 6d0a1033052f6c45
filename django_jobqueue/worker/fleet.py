"""The keeper's picture of its runners: what each one holds, what it may take, and when it must be killed.

A runner's function slots take orders first come, first served, so the keeper knows which of them have begun without
being told: the oldest T that have no outcome yet. The others are read-ahead; if the runner dies, they were never
started.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from django_jobqueue.policy.outcomes import Committed, Outcome
from django_jobqueue.worker.flight import Flight
from django_jobqueue.worker.frames import FrameReader, pack

READ_BYTES = 64 * 1024
"""What is read at once. Larger buffers are taken from the system and given back, page by page, for each read."""

MAX_BUFFER_BYTES = 8 * 1024 * 1024
"""A runner that has so much unread takes no more."""

PATIENCE_SECONDS = 1.0
"""Read-ahead that waits behind a job that runs for longer than this goes back to the queue."""


class Phase(Enum):
    """The life of a runner's process."""

    STARTING = "starting"
    READY = "ready"
    DYING = "dying"


@dataclass(slots=True, eq=False)
class Runner:
    """One child process, as the keeper knows it."""

    number: int
    threads: int
    coroutines: int
    sock: socket.socket
    phase: Phase = Phase.STARTING
    pid: int | None = None
    ends: dict[int, Outcome | Committed] = field(default_factory=dict)
    killed_why: str = ""
    reserved: bool = False
    is_asked_back: bool = False
    worn_out: str = ""
    jobs_left: int = sys.maxsize
    """How many more jobs it may end before it is replaced."""
    untold: int = 0
    told_at: float = 0.0
    flights: dict[int, Flight] = field(default_factory=dict)
    outgoing: bytearray = field(default_factory=bytearray)
    reader: FrameReader = field(default_factory=FrameReader)

    @property
    def functions(self) -> list[Flight]:
        """The functions it holds, oldest first."""
        return [flight for flight in self.flights.values() if not flight.is_coroutine]

    @property
    def takes_orders(self) -> bool:
        """Whether its process is in a state to run a job."""
        return self.phase is Phase.READY and not self.worn_out and self.jobs_left > 0

    @property
    def has_room(self) -> bool:
        """Whether it takes orders at all."""
        return self.takes_orders and not self.reserved and len(self.outgoing) < MAX_BUFFER_BYTES

    def hand(self, flights: list[Flight]) -> None:
        """Give it orders."""
        for flight in flights:
            self.flights[flight.ticket] = flight
            if flight.is_coroutine:
                flight.begin()
        self._begin_next()
        for flight in flights:
            self.outgoing += pack(flight.order())
        self.flush()

    def take_back(self, ticket: int) -> Flight | None:
        """Take a flight out, because it ended or was never started."""
        flight = self.flights.pop(ticket, None)
        if flight is not None:
            self._begin_next()
        return flight

    def say(self, *message: Any) -> None:
        """Send a message that is no order."""
        self.queue(json.dumps(message).encode())

    def queue(self, payload: bytes) -> None:
        """Put a frame in line and send what the socket takes."""
        self.outgoing += pack(payload)
        self.flush()

    def flush(self) -> None:
        """Send what the socket takes now; the rest stays in line."""
        # Whatever is wrong with the line, its death will tell.
        with suppress(OSError):
            while self.outgoing:
                del self.outgoing[: self.sock.send(self.outgoing)]

    def receive(self) -> list[bytes] | None:
        """Take what it has said; None when it will say no more."""
        payloads: list[bytes] = []
        while True:
            try:
                data = self.sock.recv(READ_BYTES)
            except BlockingIOError:
                return payloads
            except OSError:
                data = b""
            if not data:
                return payloads or None
            payloads += self.reader.feed(data)
            if len(data) < READ_BYTES:
                return payloads

    def kill(self, why: str, ends: dict[int, Outcome | Committed] | None = None) -> None:
        """Kill it, with everything its jobs have started. `ends` holds, by ticket, what those end as that it is for."""
        self.phase = Phase.DYING
        self.ends, self.killed_why = ends or {}, why
        if self.pid is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def overdue(self, now: float, lease_margin: float) -> dict[int, Outcome | Committed]:
        """Find the flights, by ticket, that must be stopped with their process, and what each ends as."""
        ends = ((flight.ticket, flight.end_by_force(now, lease_margin)) for flight in self.flights.values())
        return {ticket: outcome for ticket, outcome in ends if outcome is not None}

    def holds_up(self, now: float) -> bool:
        """Whether read-ahead waits in it while every slot has been in one job for long.

        Those jobs count as long from then on.
        """
        functions = self.functions
        slots = [f for f in functions if f.begun_at is not None and now - f.begun_at > PATIENCE_SECONDS]
        for flight in slots:
            flight.is_short = False
        return len(slots) >= self.threads and len(functions) > len(slots)

    def _begin_next(self) -> None:
        begun = 0
        for flight in self.flights.values():
            if flight.is_coroutine:
                continue
            if begun >= self.threads:
                return
            if not flight.has_begun:
                flight.begin()
            begun += 1


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
