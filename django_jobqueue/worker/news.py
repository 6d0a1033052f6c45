"""What the log is told about the line to the database: each thing once, not at every turn."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterable, Mapping, Sequence

from django_jobqueue.store.park import Parked
from django_jobqueue.worker.outage import in_a_line
from django_jobqueue.worker.plan import counted

logger = logging.getLogger("django_jobqueue.worker")


MAX_NAMED = 5
"""Tasks that are named in one line."""

_UNKNOWN = (
    "jobs of %s are due, and this worker does not know that task: unless another one does they are put aside, and are "
    "dead letters after %s. A worker finds tasks in <app>/tasks.py and what it imports; a renamed task needs "
    'aliases=("%s",); one that is gone: manage.py jobqueue jobs cancel --task %s --reason-text "…"'
)
_NEWER = (
    "jobs of %s are due, and this worker knows v%d: deploy the newer code. Unless another one knows it they are put "
    "aside, and are dead letters after %s"
)


class News:
    """Knows what has been told."""

    def __init__(self) -> None:
        self._unknown_tasks: set[str] = set()
        self._surprises: set[tuple[str, int | None]] = set()
        self._claims_fail = False
        self._has_pauses = False

    def unknown_tasks(self, tasks: Iterable[str], *, known: Mapping[str, int], buried_after_seconds: float) -> None:
        """Tell of tasks that are due and not known here; with its version, as in `resize v2`, where that is too new.

        known are the tasks that are, and their versions.
        """
        for name in sorted({*tasks} - self._unknown_tasks):
            self._unknown_tasks.add(name)
            task, _v, version = name.rpartition(" v")
            when = in_words(buried_after_seconds)
            if version.isdecimal() and task in known:
                logger.warning(_NEWER, name, known[task], when)
            else:
                logger.warning(_UNKNOWN, name, when, name, name)

    def parked(self, found: Sequence[Parked], *, known: Mapping[str, int]) -> None:
        """Tell what waits for a worker that knows it, the most first."""
        if not found:
            return
        jobs = sum(each.jobs for each in found)
        names = [f"{_name(each, known)} ({each.jobs})" for each in found[:MAX_NAMED]]
        if more := len(found) - len(names):
            names.append(f"and {counted(more, 'task')} more")
        verb, whose = ("waits", "its") if jobs == 1 else ("wait", "their")
        logger.warning("%s %s for a worker that knows %s task: %s", counted(jobs, "job"), verb, whose, ", ".join(names))

    def pauses(self, *, there_are: bool) -> None:
        """Tell that something is paused, or that nothing is any more: whoever wonders why nothing runs looks here."""
        if there_are is not self._has_pauses:
            self._has_pauses = there_are
            logger.info(
                "something is paused, and is not claimed; `manage.py jobqueue queues list` tells what and why"
                if there_are
                else "nothing is paused any more"
            )

    def claim_failed(self, error: Exception) -> None:
        """Tell that claims do not come through."""
        if not self._claims_fail:
            self._claims_fail = True
            logger.info("a claim did not come through (%s); it is made again", in_a_line(error))

    def claimed(self) -> None:
        """Note that they do."""
        self._claims_fail = False

    def surprise(self, error: Exception) -> None:
        """Tell of an error that neither a database nor a line can cause, and where it was raised."""
        *_, place = traceback.extract_tb(error.__traceback__) or [traceback.FrameSummary("", None, "")]
        if (place.filename, place.lineno) not in self._surprises:
            self._surprises.add((place.filename, place.lineno))
            logger.error("a call to the database fails in a way that is not known: a mistake", exc_info=error)


def in_words(seconds: float) -> str:
    """Write a length of time in the largest unit that leaves no rest: `1 day`, `2 hours`, `90 seconds`."""
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= size and seconds % size == 0:
            return counted(int(seconds // size), unit)
    return f"{seconds:g} seconds"


def _name(parked: Parked, known: Mapping[str, int]) -> str:
    is_a_version = parked.version > 1 or parked.task in known
    return f"{parked.task} v{parked.version}" if is_a_version else parked.task
