"""Deaths that are seen by one who is not the parent."""

import subprocess
import sys

import pytest

from django_jobqueue.worker.deaths import Deaths
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a descriptor of a process is Linux's")


@pytest.fixture
def child():
    """A process that waits to be killed."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield child
    child.kill()
    child.communicate()


@pytest.fixture
def deaths(child):
    """One who watches it."""
    deaths = Deaths()
    deaths.watch(child.pid)
    yield deaths
    deaths.close()


def test_a_death_is_unheard_after_a_while(deaths, child):
    """It counts from when it was seen, so that whoever should tell of it has time to, also after a freeze of both."""
    assert deaths.unheard(100.0, 2.0) == []
    child.kill()
    wait_until(lambda: deaths.unheard(200.0, -1.0))

    assert deaths.unheard(201.0, 2.0) == []
    assert deaths.unheard(202.1, 2.0) == [child.pid]


def test_a_death_that_was_told_is_forgotten(deaths, child):
    """Whose end is known is watched no longer."""
    child.kill()
    wait_until(lambda: deaths.unheard(200.0, -1.0))
    deaths.forget(child.pid)

    assert deaths.unheard(300.0, 2.0) == []


def test_a_process_that_is_gone_is_no_error():
    """It may have ended before it could be watched: then its parent has told, or will."""
    deaths = Deaths()
    deaths.watch(99_999_999)

    assert deaths.unheard(100.0, 2.0) == []
    deaths.close()
