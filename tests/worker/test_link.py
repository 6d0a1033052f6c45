"""The thread that makes the keeper's calls, and the deadline that each call has."""

import threading

import pytest

from django_jobqueue.worker import clock
from django_jobqueue.worker.calls import STATEMENT_TIMEOUT_MS
from django_jobqueue.worker.link import CALL_SECONDS, Link, call_seconds


class SilentSession:
    """A session whose server acknowledges and never answers."""

    def __init__(self):
        self.is_cut = threading.Event()

    def abandon(self):
        self.is_cut.set()

    def close(self):
        self.is_cut.set()


@pytest.fixture
def link():
    """A link to a server that never answers, with a second for each call."""
    session = SilentSession()
    link = Link(session, lambda: None, call_seconds=1.0)
    link.session = session
    link.start()
    yield link
    session.close()
    link.close()


def test_a_call_has_the_deadline_that_the_link_was_given(link):
    """The keeper is told when to cut the line, counted from before the call."""
    before = clock.now()
    link.send("ask", lambda session: session.is_cut.wait(30))

    assert before + 1.0 <= link.deadline() <= clock.now() + 1.0


@pytest.mark.parametrize("lease_seconds", [1, 2, 3, 6, 9.9, 10, 30, 86400])
def test_a_call_never_outlasts_a_lease_that_is_long_enough(lease_seconds):
    """A call ends within half of its lease; never before a statement that waits for a lock, and never after 5 s."""
    seconds = call_seconds(lease_seconds)

    assert STATEMENT_TIMEOUT_MS / 1000 < seconds <= CALL_SECONDS
    assert seconds <= max(1.5, lease_seconds / 2)
