"""What the log is told about the line to the database: each thing once, not at every turn."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterable

from django_jobqueue.worker.outage import in_a_line

logger = logging.getLogger("django_jobqueue.worker")


class News:
    """Knows what has been told."""

    def __init__(self) -> None:
        self._unknown_tasks: set[str] = set()
        self._surprises: set[tuple[str, int | None]] = set()
        self._claims_fail = False
        self._has_pauses = False

    def unknown_tasks(self, tasks: Iterable[str]) -> None:
        """Tell of tasks that are due and not known here."""
        for task in sorted({*tasks} - self._unknown_tasks):
            self._unknown_tasks.add(task)
            logger.warning(
                "jobs of %s are due, and this worker does not know that: is its module imported? "
                "If it is new, restart this worker",
                task,
            )

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
