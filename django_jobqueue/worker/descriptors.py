"""Whether a job has kept so many files open that too few are left for the next one."""

from __future__ import annotations

import errno
import os

from django_jobqueue.policy.outcomes import Failure

RESERVE = 16
"""So many descriptors a job should find free: a connection or two, and some files."""


class Descriptors:
    """What a process has left of its descriptors. `fd` is one that stays open."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        # A process that has few from the start is not worn out by its jobs.
        self._needed = min(RESERVE, self._available(2 * RESERVE) // 2)

    @property
    def are_scarce(self) -> bool:
        """Whether few are left, or none: half a microsecond for each that is needed."""
        return self._available(self._needed) < self._needed

    def _available(self, at_most: int) -> int:
        # The highest number that is open says little: where files were closed there are free ones below it.
        taken: list[int] = []
        try:
            while len(taken) < at_most:
                taken.append(os.dup(self._fd))
        except OSError as error:
            if error.errno != errno.EMFILE:  # a job has closed the one that is copied
                return at_most
        finally:
            for number in taken:
                os.close(number)
        return len(taken)


def are_wanting(failure: Failure) -> bool:
    """Whether a failure speaks of a want of descriptors."""
    words = os.strerror(errno.EMFILE)
    return words in failure.message or words in failure.traceback
