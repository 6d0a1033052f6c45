"""A child that has imported everything once, and forks runners.

A runner forked from it is there in milliseconds and shares its memory. It is small and single-threaded: it imports,
forks, and tells of each child's end. It dies with its keeper, and its runners die with it.

It reads one JSON object a datagram, with the runner's socket attached, and answers with one: started, not_started,
exited or broken.
"""

from __future__ import annotations

import _thread
import errno
import gc
import json
import os
import selectors
import signal
import socket
import threading
import traceback
from contextlib import suppress
from typing import Any

from django_jobqueue.worker.process import adopt, die_with_parent, flush_streams, ignore_stop_signals, kill_group
from django_jobqueue.worker.runner import RunnerPlan, serve

DATAGRAM_BYTES = 64 * 1024
MAX_ERROR_CHARS = 8000


def main(fd: int, plan: RunnerPlan) -> None:
    """Serve fork requests on the socket `fd` until its other end is closed."""
    ignore_stop_signals()
    control = adopt(fd)
    try:
        registry = prepare()
    except BaseException:  # told to the keeper, which stops with it
        _tell(control, {"event": "broken", "error": traceback.format_exc()[-MAX_ERROR_CHARS:]})
        return
    if names := living_threads():
        _tell(control, {"event": "threads", "names": names})
        return
    # Objects that live before the fork are never moved by a collection after it, so their pages stay shared.
    gc.collect()
    gc.freeze()
    _tell(control, {"event": "ready"})
    _serve_forks(control, registry, plan)


def prepare() -> Any:
    """Set Django up, import every task, and leave no connection for a child to inherit."""
    import django

    django.setup()
    from django.db import connections

    from django_jobqueue.registry import discover

    registry = discover()
    connections.close_all()
    return registry


def living_threads() -> list[str]:
    """Name the threads of Python that are alive beside the main one.

    Threads of C libraries do not count. OpenBLAS, which starts some when numpy is imported, ends them before a fork;
    a library that cannot do as much breaks in every server that forks.
    """
    names = sorted(thread.name for thread in threading.enumerate() if thread is not threading.main_thread())
    # Started without the help of `threading`: of these only the number is known.
    nameless = _thread._count() - len(names)
    return names + ["a thread without a name"] * nameless


def _serve_forks(control: socket.socket, registry: Any, plan: RunnerPlan) -> None:
    woken_read, woken_write = os.pipe()
    os.set_blocking(woken_read, False)
    os.set_blocking(woken_write, False)
    signal.set_wakeup_fd(woken_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # What the project's imports have started besides is none of the keeper's.
    runners: set[int] = set()
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        selector.register(woken_read, selectors.EVENT_READ)
        while True:
            for key, _events in selector.select():
                if key.fileobj is control:
                    try:
                        data, fds, _flags, _address = socket.recv_fds(control, DATAGRAM_BYTES, 1)
                    except ConnectionResetError:
                        # The keeper left without having read all that it was told.
                        return
                    if not data:
                        return
                    number = json.loads(data)["number"]
                    if fds:
                        pid = _fork(control, number, fds[0], (woken_read, woken_write), registry, plan)
                        runners |= {pid} - {0}
                    else:
                        # The system drops what a process that is at its limit cannot take.
                        _tell(control, {"event": "not_started", "number": number, "error": os.strerror(errno.EMFILE)})
                else:
                    with suppress(BlockingIOError):
                        os.read(woken_read, 4096)
            _reap(control, runners)


def _fork(control: socket.socket, number: int, fd: int, pipe: tuple[int, int], registry: Any, plan: RunnerPlan) -> int:
    parent = os.getpid()
    flush_streams()
    try:
        pid = os.fork()
    except OSError as error:  # no memory, or no process more: a trouble that passes, and the runners must live
        os.close(fd)
        _tell(control, {"event": "not_started", "number": number, "error": str(error)})
        return 0
    if pid:
        os.close(fd)
        _tell(control, {"event": "started", "number": number, "pid": pid})
        return pid
    # A session of its own: it can be killed as a group, with whatever its jobs have started.
    os.setsid()
    die_with_parent(parent)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    control.close()
    for end in pipe:
        os.close(end)
    serve(adopt(fd), registry, plan)


def _reap(control: socket.socket, runners: set[int]) -> None:
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if ended is None:
            return
        pid = ended.si_pid
        if pid in runners:
            kill_group(pid)
        _, status = os.waitpid(pid, 0)
        if pid in runners:
            runners.remove(pid)
            _tell(control, {"event": "exited", "pid": pid, "code": os.waitstatus_to_exitcode(status)})


def _tell(control: socket.socket, event: dict[str, Any]) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):
        control.send(json.dumps(event).encode())
