"""A child of a worker as a process.

It prints in lines, leaves signals to the keeper, dies with it, and is killed as a group.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PR_SET_PDEATHSIG = 1


def speak_in_lines() -> None:
    """Let each line that a task prints leave the process at its end.

    To a file or a pipe Python prints in blocks, and a process that is killed loses the last one.
    """
    for stream in (sys.stdout, sys.stderr):
        # A project may have put something else there, and a service may have closed it: then there is None.
        with suppress(AttributeError, TypeError, ValueError, OSError):
            stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]


def flush_streams() -> None:
    """Write out what was printed, as far as somebody still reads it."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.flush()


def die_with_parent(parent_pid: int) -> None:
    """Ask the kernel for SIGKILL when the parent dies.

    Leave at once if it is dead already. Linux; elsewhere EOF must do.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent_pid:
        os._exit(1)


STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stop_signals_held() -> Iterator[None]:
    """Start a child in the block: SIGTERM and SIGINT wait until it calls `ignore_stop_signals`, and here until its end.

    Before it can handle any a child imports for some tenths of a second, and Ctrl-C goes to the whole group: it would
    die of that with a traceback, and be missed.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_stop_signals() -> None:
    """Leave SIGTERM and SIGINT to the keeper, which gets them too when they are sent to the whole group.

    They are handled, not ignored: an ignored signal would be inherited by the programs that a task starts, and so would
    one that is held.
    """
    for number in STOP_SIGNALS:
        signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)


def adopt(fd: int) -> socket.socket:
    """Take over a socket that came from the parent. No program that is started here gets it, by `os.system` either."""
    os.set_inheritable(fd, False)
    return socket.socket(fileno=fd)


def kill_group(pid: int) -> None:
    """Kill a runner with what its jobs have started, but for a program that has left the group, as a daemon does.

    Call it before the runner is reaped: after that its number may be another's.
    """
    with suppress(ProcessLookupError, PermissionError):
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            # Between its fork and its setsid a runner leads no group: it is in the one that keeper and forkserver are
            # in, or by now in its own. Or it is gone, and the keeper has not heard yet that the forkserver has reaped
            # it: then the number is nobody's or, once all others were used up, a stranger's, whose group is another.
            if os.getpgid(pid) in (os.getpgrp(), pid):
                os.kill(pid, signal.SIGKILL)
