"""Start runners and hear of their end: by a forkserver on Linux, by spawning where forking is unsafe.

Both ways give the runner one end of a socket pair, a session of its own, and a death that follows the keeper's.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import Any, NamedTuple, Protocol

from django_jobqueue.worker import clock
from django_jobqueue.worker.deaths import Deaths
from django_jobqueue.worker.executor import Bounds
from django_jobqueue.worker.forkserver import DATAGRAM_BYTES
from django_jobqueue.worker.process import die_with_parent, kill_group, stop_signals_held
from django_jobqueue.worker.runner import RunnerPlan

logger = logging.getLogger("django_jobqueue.worker")


class Started(NamedTuple):
    """A runner has a process."""

    number: int
    pid: int


class NotStarted(NamedTuple):
    """The system had no room for a runner's process, for now."""

    number: int
    error: str


class Exited(NamedTuple):
    """A runner's process is gone: its exit code, or minus the signal that killed it; None if nobody could tell."""

    number: int
    code: int | None


class Broken(NamedTuple):
    """No runner can be started at all: the project's code does not import."""

    error: str


class Gone(NamedTuple):
    """The forkserver died, and every runner with it."""


class Unsafe(NamedTuple):
    """Forking is unsafe: these threads are alive after the imports."""

    names: list[str]


Event = Started | NotStarted | Exited | Broken | Gone | Unsafe


class Launcher(Protocol):
    """What the keeper needs of either way."""

    def fileno(self) -> int | None:
        """The descriptor that becomes readable when there are events; None if a SIGCHLD tells."""

    @property
    def importing(self) -> int | None:
        """The process that imports the code for all runners, while it does; None where there is none."""

    def launch(self, number: int, sock: socket.socket) -> None:
        """Start runner `number` with its end of the socket pair, which is closed here. Does not wait for it.

        Raises OSError when the system has no room for a process.
        """

    def events(self) -> list[Event]:
        """Take what has happened since."""

    def unheard(self, now: float, patience: float) -> list[int]:
        """Take the runners, by number, that have been dead for so long without a word of it from who started them."""

    def is_silent(self, now: float, patience: float) -> bool:
        """Whether who starts runners was asked for one, and has said nothing at all for so long since."""

    def kill(self) -> None:
        """Kill the process that starts runners, where there is one: `events` will tell that it is gone."""

    def close(self) -> None:
        """Let go; what still runs dies."""


def python(call: str, *arguments: Any) -> list[str]:
    """Write the command of a child that sees the modules this process sees, and calls one function.

    It dies with this process: from its first line on, because a project may take seconds to import.
    """
    name, function = call.rsplit(".", 1)
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; "
        f"from {die_with_parent.__module__} import die_with_parent; die_with_parent({os.getpid()}); "
        f"from {name} import {function}; {function}(*{list(arguments)!r})"
    )
    # -O, -W, -X and the like: a child runs as its parent does. multiprocessing takes them from the same place.
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return [sys.executable, *flags, "-c", code]


class Forkserver:
    """Runners forked from a child that has imported everything."""

    def __init__(self, plan: RunnerPlan) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = python("django_jobqueue.worker.launcher.forkserver_main", theirs.fileno(), asdict(plan))
            try:
                with stop_signals_held():
                    self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
            except OSError:
                ours.close()
                raise
        ours.setblocking(False)
        self._control = ours
        self._numbers: dict[int, int] = {}
        self._deaths = Deaths()
        self._queue: list[tuple[int, socket.socket]] = []
        self._is_ready = False
        self._unanswered: set[int] = set()
        self._silent_since = 0.0

    def fileno(self) -> int | None:
        return self._control.fileno()

    @property
    def importing(self) -> int | None:
        return None if self._is_ready else self._process.pid

    def launch(self, number: int, sock: socket.socket) -> None:
        self._queue.append((number, sock))
        if not self._unanswered:
            self._silent_since = clock.now()
        self._unanswered.add(number)
        if self._is_ready:
            self._send_requests()

    def events(self) -> list[Event]:
        # The end of the socket does not tell of every death: what the project's imports have forked may hold it open.
        # Asked first, so that all it has said before its end is read.
        has_ended = self._process.poll() is not None
        events: list[Event] = []
        while True:
            try:
                data = self._control.recv(DATAGRAM_BYTES)
            except BlockingIOError:
                if has_ended:
                    return [*events, Gone()]
                if self._is_ready:
                    self._send_requests()
                return events
            except OSError:
                data = b""
            if not data:
                return [*events, Gone()]
            events.extend(self._event(json.loads(data)))

    def unheard(self, now: float, patience: float) -> list[int]:
        return [self._forget(pid) for pid in self._deaths.unheard(now, patience)]

    def is_silent(self, now: float, patience: float) -> bool:
        return self._is_ready and bool(self._unanswered) and now - self._silent_since > patience

    def kill(self) -> None:
        self._unanswered.clear()
        self._process.kill()

    def close(self) -> None:
        self._deaths.close()
        self._control.close()
        with suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()

    def _event(self, event: dict[str, Any]) -> list[Event]:
        self._silent_since = clock.now()
        match event:
            case {"event": "ready"}:
                self._is_ready = True
            case {"event": "started", "number": number, "pid": pid}:
                self._unanswered.discard(number)
                self._numbers[pid] = number
                self._deaths.watch(pid)
                return [Started(number, pid)]
            case {"event": "not_started", "number": number, "error": error}:
                self._unanswered.discard(number)
                return [NotStarted(number, error)]
            case {"event": "exited", "pid": pid, "code": code} if pid in self._numbers:
                return [Exited(self._forget(pid), code)]
            case {"event": "broken", "error": error}:
                return [Broken(error)]
            case {"event": "threads", "names": names}:
                return [Unsafe(names)]
        return []

    def _forget(self, pid: int) -> int:
        self._deaths.forget(pid)
        return self._numbers.pop(pid)

    def _send_requests(self) -> None:
        while self._queue:
            number, sock = self._queue[0]
            try:
                socket.send_fds(self._control, [json.dumps({"number": number}).encode()], [sock.fileno()])
            except OSError:
                # The socket is full, or this user has too many descriptors on their way. `events` tries again.
                return
            self._queue.pop(0)
            sock.close()


class Spawner:
    """Runners started as fresh interpreters."""

    def __init__(self, plan: RunnerPlan) -> None:
        self._plan = plan
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._events: list[Event] = []

    def fileno(self) -> int | None:
        return None

    @property
    def importing(self) -> int | None:
        return None

    def launch(self, number: int, sock: socket.socket) -> None:
        with sock:
            command = python("django_jobqueue.worker.launcher.spawn_main", sock.fileno(), asdict(self._plan))
            with stop_signals_held():
                process = subprocess.Popen(
                    command, pass_fds=[sock.fileno()], stdin=subprocess.DEVNULL, start_new_session=True
                )
        self._processes[number] = process
        self._events.append(Started(number, process.pid))

    def events(self) -> list[Event]:
        events, self._events = self._events, []
        for number, process in list(self._processes.items()):
            if (code := _bury(process)) is not None:
                del self._processes[number]
                events.append(Exited(number, code))
        return events

    def unheard(self, now: float, patience: float) -> list[int]:
        return []

    def is_silent(self, now: float, patience: float) -> bool:
        return False

    def kill(self) -> None:
        pass

    def close(self) -> None:
        for process in self._processes.values():
            kill_group(process.pid)
            process.wait()


def _bury(process: subprocess.Popen[bytes]) -> int | None:
    """Reap a child that has ended, once what is left of its group is killed, and say how; None while it lives."""
    if hasattr(os, "waitid"):  # not on macOS, on an older Python
        with suppress(ChildProcessError):
            if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                return None
            kill_group(process.pid)
    return process.poll()


def forkserver_main(fd: int, plan: dict[str, Any]) -> None:
    """Be the forkserver. The entry point of its process."""
    from django_jobqueue.worker.forkserver import main

    main(fd, _plan(plan))


def spawn_main(fd: int, plan: dict[str, Any]) -> None:
    """Be one spawned runner. The entry point of its process."""
    import traceback

    from django_jobqueue.worker.forkserver import prepare
    from django_jobqueue.worker.frames import pack
    from django_jobqueue.worker.process import adopt, ignore_stop_signals
    from django_jobqueue.worker.runner import serve

    ignore_stop_signals()
    sock = adopt(fd)
    try:
        registry = prepare()
    except BaseException:  # told to the keeper, which stops with it
        sock.sendall(pack(json.dumps(["broken", traceback.format_exc()]).encode()))
        raise
    serve(sock, registry, _plan(plan))


def _plan(fields: dict[str, Any]) -> RunnerPlan:
    return RunnerPlan(threads=fields["threads"], bounds=Bounds(**fields["bounds"]))
