"""The one place where the keeper waits."""

import socket

import pytest

from django_jobqueue.worker.wakeup import Wakeup


@pytest.fixture
def wakeup():
    """A place to wait."""
    wakeup = Wakeup()
    yield wakeup
    wakeup.close()


def test_what_is_forgotten_in_the_same_moment_is_not_called(wakeup):
    """Of two that are ready at once, the first closes the other: nobody is called for a socket that is closed."""
    pairs = [socket.socketpair() for _ in range(2)]
    called = []

    def on_ready(number):
        called.append(number)
        other = pairs[1 - number][0]
        wakeup.forget(other)
        other.close()

    for number, (ours, theirs) in enumerate(pairs):
        wakeup.watch(ours, lambda _events, number=number: on_ready(number))
        theirs.send(b"x")
    wakeup.wait(1.0)

    assert len(called) == 1
    for pair in pairs:
        for end in pair:
            end.close()
