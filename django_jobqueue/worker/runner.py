"""A runner: a child process that runs tasks and knows no queue.

The main thread reads orders. T threads run functions, each one attempt at a time; an event loop in one more thread,
started when the first coroutine arrives, runs coroutines. An outcome is on its way to the keeper before its slot
takes the next order, so what the keeper has not heard of has not happened.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
import os
import queue
import signal
import socket
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, NoReturn

from django_jobqueue import failpoint
from django_jobqueue.payload.storable_text import describe
from django_jobqueue.policy.outcomes import Committed, Failed, Interrupted, Outcome
from django_jobqueue.registry import Registry
from django_jobqueue.worker import clock, executor
from django_jobqueue.worker.descriptors import Descriptors, are_wanting
from django_jobqueue.worker.discretion import failure_of, prepare
from django_jobqueue.worker.executor import Bounds, Order
from django_jobqueue.worker.frames import FrameReader, pack
from django_jobqueue.worker.process import flush_streams, speak_in_lines
from django_jobqueue.worker.shared_slate import SharedSlate
from django_jobqueue.worker.verdict import log_error
from django_jobqueue.worker.wire import wire

logger = logging.getLogger("django_jobqueue.worker")

TOLD_SECONDS = 0.1
"""How often the keeper is told how far receivers have got: it kills a process in which one does not return."""

LOOK_AFTER_SECONDS, LOOK_EVERY = 0.001, 64
"""After a job that took so long, and after so many shorter ones, it is looked whether descriptors are left."""


@dataclass(frozen=True, slots=True)
class RunnerPlan:
    """What a runner is told once, at its start."""

    threads: int
    bounds: Bounds


def serve(sock: socket.socket, registry: Registry, plan: RunnerPlan) -> NoReturn:
    """Be a runner until the keeper is gone. Never returns."""
    code = 1
    try:
        speak_in_lines()
        prepare()
        _Runner(sock, registry, plan).read_orders()
        code = 0
    except BaseException:  # the last line of a process: the keeper sees the exit code, a person the traceback
        traceback.print_exc()
    finally:
        flush_streams()
        os._exit(code)


class _Runner:
    def __init__(self, sock: socket.socket, registry: Registry, plan: RunnerPlan) -> None:
        self._sock = sock
        self._sending = threading.Lock()
        self._registry = registry
        self._plan = plan
        self._orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        # By ticket. The loop itself keeps only weak references to its tasks.
        self._coroutines: dict[int, asyncio.Task[None]] = {}
        self._slate = SharedSlate()
        self._in_hand: set[int] = set()
        self._unwanted: set[int] = set()
        self._is_worn_out = False
        self._descriptors = Descriptors(sock.fileno())
        # Jobs that have ended since enough of them were left.
        self._unlooked = 0

    def read_orders(self) -> None:
        for number in range(self._plan.threads):
            threading.Thread(target=self._slot, name=f"jobqueue-slot-{number + 1}", daemon=True).start()
        self._send(["ready"])
        reader = FrameReader()
        while data := self._receive():
            for payload in reader.feed(data):
                self._obey(payload)

    def _receive(self) -> bytes:
        try:
            return self._sock.recv(1 << 18)
        except ConnectionError:
            return b""

    def _obey(self, payload: bytes) -> None:
        head, *arguments = payload.split(b"\n")
        if arguments:
            self._take(Order.read(head, *arguments))
            return
        match json.loads(head):
            case ["give_back"]:
                self._return_orders()
            case ["cancel", ticket]:
                self._cancel(ticket)
            case ["finished", job_ids]:
                self._tell_receivers(job_ids)

    def _take(self, order: Order) -> None:
        if self._is_worn_out:
            self._send(["returned", [order.ticket]])
            return
        self._in_hand.add(order.ticket)
        task = self._registry.get(order.task)
        if task is not None and iscoroutinefunction(task.func):
            loop = self._event_loop()
            loop.call_soon_threadsafe(self._start_coroutine, loop, order, task, context=contextvars.Context())
        else:
            self._orders.put(order)

    def _return_orders(self) -> None:
        tickets = []
        while True:
            try:
                tickets.append(self._orders.get_nowait().ticket)
            except queue.Empty:
                break
        self._forget(*tickets)
        self._send(["returned", tickets])

    def _cancel(self, ticket: int) -> None:
        if ticket not in self._in_hand:
            return
        self._unwanted.add(ticket)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._cancel_coroutine, ticket)

    def _cancel_coroutine(self, ticket: int) -> None:
        if (running := self._coroutines.get(ticket)) is not None:
            running.cancel()

    def _forget(self, *tickets: int) -> None:
        self._in_hand.difference_update(tickets)
        self._unwanted.difference_update(tickets)

    def _slot(self) -> None:
        try:
            self._run_functions()
        except BaseException:  # a slot that ended alone would leave its job running for ever
            traceback.print_exc()
        finally:
            os._exit(1)

    def _run_functions(self) -> None:
        bounds = self._plan.bounds
        while True:
            order, rested = self._next_order()
            task = self._registry.get(order.task)
            failpoint.hit("ordered")
            began = clock.now()
            outcome = executor.run(
                order,
                task,
                bounds,
                is_unwanted=self._asker(order),
                tell=partial(self._tell_of, order),
                rested=rested,
            )
            self._done(order, clock.now() - began, outcome)

    def _next_order(self) -> tuple[Order, bool]:
        """Wait for an order; says whether time has passed meanwhile."""
        try:
            return self._orders.get_nowait(), False
        except queue.Empty:
            return self._orders.get(), True

    def _tell_of(self, order: Order, word: str) -> None:
        self._send([word, order.ticket])

    def _asker(self, order: Order) -> Callable[[], bool]:
        return lambda: order.ticket in self._unwanted

    def _done(self, order: Order, seconds: float, outcome: Outcome | Committed) -> None:
        self._forget(order.ticket)
        self._unlooked += 1
        if isinstance(outcome, Failed) or seconds >= LOOK_AFTER_SECONDS or self._unlooked >= LOOK_EVERY:
            outcome = self._look_at_descriptors(outcome)
        failpoint.hit("ran")
        self._send(["done", order.ticket, seconds, wire(outcome)])
        failpoint.hit("told")

    def _look_at_descriptors(self, outcome: Outcome | Committed) -> Outcome | Committed:
        """Say that this process is worn out where a job has kept most of them; the jobs of others would fail here."""
        if not self._descriptors.are_scarce:
            self._unlooked = 0
            return outcome
        # Said before the outcome, so that the keeper hands out no more.
        self._wear_out("no file descriptor is left")
        if isinstance(outcome, Failed) and are_wanting(outcome.failure) and (self._in_hand or self._unlooked > 1):
            # This job, one beside it or one before it has kept them. It runs alone next, and then it shows.
            return Interrupted(outcome.failure, counted=False, suspect=True)
        return outcome

    def _wear_out(self, why: str) -> None:
        if not self._is_worn_out:
            self._is_worn_out = True
            self._send(["worn_out", why])
            self._return_orders()

    def _event_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._run_loop, args=[self._loop], name="jobqueue-loop", daemon=True).start()
        return self._loop

    def _run_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        # SystemExit of a task that a coroutine left behind ends run_forever, and so does stop(); the other
        # coroutines must go on.
        while not loop.is_closed():
            try:
                loop.run_forever()
                logger.warning("a coroutine stopped the event loop; it is started again")
            except BaseException as error:
                log_error("something that a coroutine left behind tried to end the process: it", error)
        os._exit(1)

    def _start_coroutine(self, loop: asyncio.AbstractEventLoop, order: Order, task: Any) -> None:
        running = loop.create_task(self._run_coroutine(order, task), context=contextvars.Context())
        self._coroutines[order.ticket] = running
        running.add_done_callback(lambda _: self._coroutine_ended(order))

    def _coroutine_ended(self, order: Order) -> None:
        del self._coroutines[order.ticket]
        if order.ticket in self._in_hand:
            # Cancelled before its first step, so that none of it has run, not even what answers the keeper.
            is_wanted = order.ticket not in self._unwanted
            error = asyncio.CancelledError("it was cancelled before it began")
            self._done(order, 0.0, Failed(describe(error)) if is_wanted else executor.NEVER_BEGUN)

    async def _run_coroutine(self, order: Order, task: Any) -> None:
        began = clock.now()
        try:
            await self._slate.enter(order.task)
            outcome = await executor.run_async(
                order,
                task,
                self._plan.bounds,
                is_unwanted=self._asker(order),
                tell=partial(self._tell_of, order),
            )
        except BaseException as error:
            # Whatever happens around it, the keeper gets an answer: a coroutine without one would run for ever.
            outcome = Failed(failure_of(error, order, task))
        try:
            # Before the cleaning up, which may have to wait for a neighbour's call, and changes nothing of the outcome.
            # The calls of the next one in this place wait for it, too.
            self._done(order, clock.now() - began, outcome)
        finally:
            await self._clean_up_after(order)

    async def _clean_up_after(self, order: Order) -> None:
        try:
            if await self._slate.leave():
                self._wear_out("a transaction is open on a connection that its coroutines share")
        except BaseException as error:
            log_error(f"cleaning up after {order.task}", error)

    def _tell_receivers(self, job_ids: list[int]) -> None:
        from django_jobqueue.worker.receivers import tell

        told, said_at = 0, clock.now()
        for _ in tell(job_ids, backend=self._plan.bounds.backend):
            told += 1
            if clock.now() - said_at >= TOLD_SECONDS:
                self._send(["told", told])
                told, said_at = 0, clock.now()
        if told:
            self._send(["told", told])

    def _send(self, message: list[Any]) -> None:
        data = pack(json.dumps(message).encode())
        with self._sending:
            try:
                self._sock.sendall(data)
            except OSError:
                # The keeper is gone, or a task has closed the socket: without a word to the keeper there is no
                # right to run.
                os.killpg(os.getpid(), signal.SIGKILL)
