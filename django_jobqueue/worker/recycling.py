"""When a runner has done enough: after so many jobs, or above so much memory.

Such a runner takes no more orders. It is replaced when its last job has ended, so a leak in a task costs a process now
and then, and no attempt.
"""

from __future__ import annotations

import logging
import os
import random
from pathlib import Path

from django_jobqueue.conf import Options
from django_jobqueue.worker.child import Phase, Runner

logger = logging.getLogger("django_jobqueue.worker")

SPREAD = 0.1
"""Each runner lets its jobs end up to this part earlier, so that runners started together are not replaced together."""

LOOK_SECONDS = 1.0
"""How often the memory of a runner is looked at."""


class Recycling:
    """The bounds of a runner's life, as the options say."""

    def __init__(self, options: Options) -> None:
        self._max_jobs, self._max_bytes = options.max_jobs_per_process, options.max_process_bytes
        self._look_at = 0.0
        self._has_warned = False

    def started(self, runner: Runner) -> None:
        """Set the bounds of a fresh runner."""
        if self._max_jobs is not None:
            spread = 1.0 - random.random() * SPREAD  # noqa: S311 - jitter is no secret
            runner.jobs_left = max(1, round(self._max_jobs * spread))
        self.measure(runner)

    def measure(self, runner: Runner) -> None:
        """Set the memory bound of a runner that is ready and whose process is known.

        None where a fresh one is above it: replacing it would change nothing, and would not end.
        """
        if self._max_bytes is None or runner.pid is None or runner.phase is not Phase.READY:
            return
        resident = resident_bytes(runner.pid)
        runner.max_bytes = self._max_bytes if resident <= self._max_bytes else None
        if runner.max_bytes is None and not self._has_warned:
            self._has_warned = True
            logger.warning(
                "max_process_bytes is %d, and a fresh runner holds %d bytes of memory already: it is not applied; "
                "set it well above that",
                self._max_bytes,
                resident,
            )

    def is_due_to_look(self, now: float) -> bool:
        """Whether memory is to be looked at in this turn."""
        if self._max_bytes is None or now < self._look_at:
            return False
        self._look_at = now + LOOK_SECONDS
        return True

    def verdict(self, runner: Runner, *, look_at_memory: bool) -> str:
        """Say why a runner is to be replaced, or nothing."""
        if runner.jobs_left <= 0:
            return "it has run its share of jobs"
        if look_at_memory and runner.max_bytes is not None and runner.pid is not None:
            resident = resident_bytes(runner.pid)
            if resident > runner.max_bytes:
                return f"it holds {resident} bytes of memory"
        return ""


def resident_bytes(pid: int) -> int:
    """Read how much memory a process holds, what it shares with its parent included; 0 where nobody can tell."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
