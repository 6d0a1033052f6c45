"""Run an attempt in a forked process, which may be killed at any moment and takes nothing of the test's with it."""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connections

from django_jobqueue.policy.outcomes import Committed, Outcome
from django_jobqueue.testing.commit_points import CommitPoints, Moment
from django_jobqueue.worker.wire import read_outcome, wire

_inherited: list[Any] = []
"""Connections of the test that a copy of it must neither use nor close: they are kept until it is killed."""


@dataclass(frozen=True, slots=True)
class End:
    """How a process ended: with an outcome, or None if it was killed before; and at how many commits it had been."""

    outcome: Outcome | Committed | None
    commits: int = 0


def in_a_fork(run: Callable[[], Outcome | Committed], moment: Moment | None) -> End:
    """Run in a copy of this process, with connections of its own; it is killed at `moment`, or when it has ended."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _be_the_copy(run, moment, reading, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    if not text:
        return End(None)
    commits, outcome = json.loads(text)
    return End(read_outcome(outcome), commits)


def _be_the_copy(run: Callable[[], Outcome | Committed], moment: Moment | None, reading: int, writing: int) -> None:
    try:
        os.close(reading)
        for connection in connections.all(initialized_only=True):
            _inherited.append(connection.connection)
            connection.connection = None
        points = CommitPoints(moment)
        points.watch()
        outcome = run()
        text = json.dumps([points.count, wire(outcome)]).encode()
        while text:
            text = text[os.write(writing, text) :]
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        # Nothing of the test's is to be cleaned up here.
        os.kill(os.getpid(), signal.SIGKILL)
