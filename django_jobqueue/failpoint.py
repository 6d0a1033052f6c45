"""Named moments at which a test has a process die, fail, freeze or lose its line. Nothing happens unless one is armed.

    DJANGO_JOBQUEUE_FAILPOINT="after claim=kill"    the moment, and what happens at it
    DJANGO_JOBQUEUE_FAILPOINT_ONCE=FILE             a file that is made when it happens: once, and for all to see

    kill       SIGKILL              error      an OperationalError, as when the database has gone
    exit       exit code 0          drop       the line is cut, and nobody is told
    sleep:8    eight seconds        in which leases may run out

It is for the drills of this project, and costs a comparison where it is off.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import psycopg

MOMENTS = (
    *(f"{when} {verb}" for verb in ("claim", "finish", "settle", "give_back", "renew", "rescue", "promote")
      for when in ("before", "after")),
    "claimed", "handed", "heard",  # in the keeper, between its calls
    "ordered", "ran", "told",  # in the runner, around an attempt
    "before finish_here", "after finish_here", "committed",  # in the transaction of an atomic task
    "before record", "after record", "recorded",  # in the transaction of `once`
    "held", "called",  # around an effect elsewhere
)  # fmt: skip
"""Every moment there is. `before` and `after` a statement: before its transaction begins, after it is committed and
before anybody has read the answer. A statement that names no row, or has found none, is passed over."""

ACTIONS = ("kill", "exit", "error", "drop", "sleep")

_armed, _, _action = os.environ.get("DJANGO_JOBQUEUE_FAILPOINT", "").partition("=")
_once = os.environ.get("DJANGO_JOBQUEUE_FAILPOINT_ONCE", "")

is_armed = bool(_armed)


def hit(moment: str, cut: Callable[[], None] | None = None) -> None:
    """Say that a moment has come. `cut` drops the line to the database, where there is one."""
    if moment == _armed and _has_turn():
        _act(cut)


def _has_turn() -> bool:
    if not _once:
        return True
    try:
        os.close(os.open(_once, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def _act(cut: Callable[[], None] | None) -> None:
    action, _, seconds = _action.partition(":")
    match action:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            os._exit(0)
        case "error":
            raise psycopg.OperationalError(f"failpoint {_armed}")
        case "drop":
            if cut is not None:
                cut()
        case "sleep":
            time.sleep(float(seconds))
        case _:
            raise ValueError(f"a failpoint does one of {', '.join(ACTIONS)}; got {_action!r}")
