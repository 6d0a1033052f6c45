"""A runner as the keeper has it: the line to its process, what it holds, and how it is ended.

A runner's function slots take orders first come, first served, so the keeper knows which of them have begun without
being told: the oldest T that have no outcome yet. The others are read-ahead; if the runner dies, they were never
started.
"""

from __future__ import annotations

import json
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from django_jobqueue.policy.outcomes import Committed, Failure, Interrupted, Outcome
from django_jobqueue.worker import clock
from django_jobqueue.worker.flight import Flight
from django_jobqueue.worker.frames import FrameReader, pack
from django_jobqueue.worker.process import kill_group

READ_BYTES = 64 * 1024
"""What is read at once. Larger buffers are taken from the system and given back, page by page, for each read."""

MAX_BUFFER_BYTES = 8 * 1024 * 1024
"""A runner that has so much unread takes no more."""

PATIENCE_SECONDS = 1.0
"""Read-ahead that waits behind a job that runs for longer than this goes back to the queue."""

BEGIN_SECONDS = 30.0
"""A runner that has a slot for a job and does not begin it for so long is hung.

Until a job is taken, only what keeps the GIL or blocks the event loop can hold it up for so long: another job. The wait
for the connection that coroutines share is over before. From then on there are its own connections, and receivers of
`task_started`.
"""


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
    started_at: float = 0.0
    ends: dict[int, Outcome | Committed] = field(default_factory=dict)
    killed_why: str = ""
    reserved: bool = False
    is_asked_back: bool = False
    worn_out: str = ""
    jobs_left: int = sys.maxsize
    """How many more jobs it may end before it is replaced."""
    max_bytes: int | None = None
    """How much memory it may hold before it is replaced."""
    loop_turned_at: float = 0.0
    """When a coroutine in it was taken, began or ended last: its event loop is slow perhaps, but not blocked."""
    slots_turned_at: float = 0.0
    """The same of functions: nothing keeps the GIL."""
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
    def is_spent(self) -> bool:
        """Whether it only waits to be replaced."""
        return self.phase is Phase.READY and not self.takes_orders and not self.flights

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

    def take_ended(self, ticket: int) -> Flight | None:
        """Take a flight out of which it has told the end."""
        self.jobs_left -= 1
        if (flight := self.take_back(ticket)) is not None:
            self._note_turn(flight)
        return flight

    def take_returned(self, tickets: list[int]) -> list[Flight]:
        """Take out what it was asked back for and has not begun."""
        self.is_asked_back = False
        return [flight for ticket in tickets if (flight := self.take_back(ticket)) is not None]

    def note_taken(self, ticket: int) -> None:
        """Take in that a job's turn has come: what holds it up from now on is its own."""
        if (flight := self.flights.get(ticket)) is not None:
            flight.taken_at = self._note_turn(flight)

    def note_begun(self, ticket: int) -> None:
        """Take in that a job's own code runs."""
        if (flight := self.flights.get(ticket)) is not None:
            flight.limit()
            self._note_turn(flight)

    def note_committed(self, ticket: int) -> None:
        """Take in that an atomic task has committed."""
        if (flight := self.flights.get(ticket)) is not None:
            flight.is_committed = True

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
        """Kill it, with what its jobs have started. `ends` holds, by ticket, what those end as that it is for."""
        self.phase = Phase.DYING
        self.ends, self.killed_why = ends or {}, why
        self.kill_group()

    def kill_group(self) -> None:
        """Kill its process, if there is one, with what its jobs have started."""
        if self.pid is not None:
            kill_group(self.pid)

    def unsent(self) -> set[Flight]:
        """Find the flights whose orders are still in line, whole: of these it knows nothing."""
        unsent, end = set(), len(self.outgoing)
        for flight in reversed(self.flights.values()):
            end = self.outgoing.rfind(pack(flight.order()), 0, end)
            if end < 0:  # orders leave in their turn
                break
            unsent.add(flight)
        return unsent

    def overdue(self, now: float, lease_margin: float) -> dict[int, Outcome | Committed]:
        """Find the flights, by ticket, that must be stopped with their process, and what each ends as."""
        ends = ((flight.ticket, flight.end_by_force(now, lease_margin)) for flight in self.flights.values())
        return {ticket: outcome for ticket, outcome in ends if outcome is not None}

    def hung(self, now: float) -> dict[int, Outcome | Committed]:
        """Find the flights, by ticket, that keep one from beginning, and what each ends as; none if all begin.

        What was taken keeps itself from it; what was not, those that ran before it, or its own start where none did.
        """
        stuck = [flight for flight in self.flights.values() if flight.waits_to_run and self._waited(flight, now)]
        if not stuck:
            return {}
        if taken := [flight for flight in stuck if flight.taken_at is not None]:
            itself = Interrupted(Failure("", f"it was hung: for {BEGIN_SECONDS:g} s receivers of its start went on"))
            return {flight.ticket: itself for flight in taken}
        first = min(flight.begun_at or 0.0 for flight in stuck)
        running = [flight for flight in self.flights.values() if flight.has_begun and not flight.waits_to_run]
        before = [flight for flight in running if (flight.begun_at or 0.0) <= first]
        end = Interrupted(Failure("", f"its process was hung: for {BEGIN_SECONDS:g} s it began no other job"))
        return {flight.ticket: end for flight in before or stuck}

    def _waited(self, flight: Flight, now: float) -> bool:
        turned_at = self.loop_turned_at if flight.is_coroutine else self.slots_turned_at
        since = max(flight.begun_at or 0.0, turned_at) if flight.taken_at is None else flight.taken_at
        return now - since > BEGIN_SECONDS

    def holds_up(self, now: float) -> bool:
        """Whether read-ahead waits in it while every slot has been in one job for long.

        Those jobs count as long from then on.
        """
        functions = self.functions
        slots = [f for f in functions if f.begun_at is not None and now - f.begun_at > PATIENCE_SECONDS]
        for flight in slots:
            flight.is_short = False
        return len(slots) >= self.threads and len(functions) > len(slots)

    def _note_turn(self, flight: Flight) -> float:
        now = clock.now()
        if flight.is_coroutine:
            self.loop_turned_at = now
        else:
            self.slots_turned_at = now
        return now

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
