"""A child as a process: whom a kill of it meets."""

import signal
import socket
import subprocess
import sys

import pytest

from django_jobqueue.worker.process import adopt, kill_group


@pytest.fixture
def start():
    """Start children that end when they are spoken to."""
    children = []

    def start(**where):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, text=True, **where)
        children.append(child)
        return child

    yield start
    for child in children:
        child.kill()
        child.communicate()


def end_of(child):
    """Let a child go on, and say how it ends."""
    child.communicate("go on\n")
    return child.returncode


def too_early(_pid, _number):
    """Find no such group."""
    raise ProcessLookupError


def test_a_socket_that_was_handed_down_goes_no_further():
    """A program that is started with all that it may inherit does not get the line to the keeper."""
    one, other = socket.socketpair()
    one.set_inheritable(True)
    with other, adopt(one.detach()) as adopted:
        assert not adopted.get_inheritable()


def test_a_child_is_killed_with_its_group(start):
    """Whoever belongs to the group that a child leads dies with it."""
    leader = start(process_group=0)
    member = start(process_group=leader.pid)
    kill_group(leader.pid)

    assert [end_of(leader), end_of(member)] == [-signal.SIGKILL, -signal.SIGKILL]


def test_a_child_that_leads_no_group_yet_is_killed(start):
    """Between its fork and its setsid a runner is in the group of its parent: it dies, and nobody else there."""
    child, sibling = start(), start()
    kill_group(child.pid)

    assert [end_of(child), end_of(sibling)] == [-signal.SIGKILL, 0]


def test_a_stranger_that_leads_no_group_is_left_alone(start):
    """A number may be another's by now: one that is in another group than a runner could be is no runner."""
    leader = start(process_group=0)
    stranger = start(process_group=leader.pid)
    kill_group(stranger.pid)

    assert [end_of(leader), end_of(stranger)] == [0, 0]


def test_a_child_that_comes_to_lead_a_group_meanwhile_is_killed(start, monkeypatch):
    """Its setsid may come right after it was looked for."""
    child = start(process_group=0)
    with monkeypatch.context() as patch:
        patch.setattr("os.killpg", too_early)
        kill_group(child.pid)

    assert end_of(child) == -signal.SIGKILL


def test_a_child_that_is_gone_is_no_error(start):
    """It may have ended before it could be killed."""
    child = start(process_group=0)
    end_of(child)

    kill_group(child.pid)
