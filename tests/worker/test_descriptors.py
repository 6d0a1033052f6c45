"""What a process has left of its descriptors."""

import errno
import os
import resource
from pathlib import Path

import pytest

from django_jobqueue.policy.outcomes import Failure
from django_jobqueue.worker.descriptors import RESERVE, Descriptors, are_wanting


def highest():
    """Return the highest descriptor that is open."""
    numbers = [int(path.name) for path in Path("/proc/self/fd").iterdir()]
    return max(number for number in numbers if is_open(number))


def is_open(number):
    """Whether a descriptor is open: that of the listing is not any more."""
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


class Files:
    """Files that are open in this process, which may have so many more than it has now."""

    def __init__(self, more):
        self._limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.fds = []
        self.open(1)
        # The lowest that is free comes first: when the last one is the highest of all, there are no holes below.
        while self.fds[-1] < highest():
            self.open(1)
        resource.setrlimit(resource.RLIMIT_NOFILE, (self.fds[-1] + 1 + more, self._limits[1]))

    def open(self, count):
        """Open so many more."""
        self.fds += [os.open(os.devnull, os.O_RDONLY) for _ in range(count)]

    def close(self, count):
        """Close the last ones."""
        while count:
            os.close(self.fds.pop())
            count -= 1

    def end(self):
        """Leave everything as it was."""
        self.close(len(self.fds))
        resource.setrlimit(resource.RLIMIT_NOFILE, self._limits)


@pytest.fixture
def allow():
    """Allow this process so many files more."""
    made = []
    yield lambda more: made.append(Files(more)) or made[-1]
    for files in made:
        files.end()


def test_descriptors_are_scarce_before_none_is_left(allow):
    """A job that comes next needs some: a process that has fewer left than that is worn out."""
    files = allow(4 * RESERVE)
    descriptors = Descriptors(files.fds[0])
    files.open(2 * RESERVE)
    assert not descriptors.are_scarce

    files.open(RESERVE + 1)
    assert descriptors.are_scarce
    files.close(RESERVE)
    assert not descriptors.are_scarce


def test_a_process_with_few_descriptors_is_not_worn_out_by_that(allow):
    """Where the limit is low from the start a fresh process may use half of what it has."""
    files = allow(11)
    descriptors = Descriptors(files.fds[0])
    assert not descriptors.are_scarce

    files.open(5)
    assert not descriptors.are_scarce
    files.open(2)
    assert descriptors.are_scarce


def test_a_failure_says_whether_it_is_for_want_of_descriptors():
    """An error that has another cause is charged, whatever is scarce."""
    assert are_wanting(Failure("builtins.OSError", str(OSError(errno.EMFILE, os.strerror(errno.EMFILE)))))
    assert not are_wanting(Failure("builtins.ValueError", "no such colour"))
