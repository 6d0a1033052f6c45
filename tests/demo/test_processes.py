"""Child processes: they end with whoever asked for them, however that dies."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
from contextlib import closing
from io import StringIO
from pathlib import Path

import psutil
import pytest

from demo_project.ports import free_port
from demo_project.processes import ChildFailed, Processes
from demo_project.shop.management.commands.demo import Command
from tests.demo.family import has_ended
from tests.waiting import wait_until

SLEEPER = [sys.executable, "-c", "import time; print('listening on x:1'); time.sleep(600)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(15, signal.SIG_IGN);print('listening on x:1', flush=True); time.sleep(600)",
]


def descendants() -> set[psutil.Process]:
    return set(psutil.Process().children(recursive=True))


@pytest.mark.parametrize("command", [SLEEPER, STUBBORN])
def test_leaving_the_context_ends_the_children(command):
    """A child is gone after the context, even one that ignores SIGTERM."""
    before = descendants()
    with Processes() as processes:
        child = processes.start("child", command, {})
        child.wait_until_listening(10)
        started = descendants() - before

        processes.stop([child], seconds=0.5)

        assert len(started) == 2  # the leash and the command
        wait_until(lambda: all(has_ended(process) for process in started))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_children_die_with_a_parent_that_is_killed(number):
    """A parent that dies without a goodbye takes its children and theirs with it."""
    program = textwrap.dedent(
        f"""
        import sys, time
        from demo_project.processes import Processes
        processes = Processes()
        child = processes.start("child", {SLEEPER!r}, {{}})
        child.wait_until_listening(10)
        print("ready", flush=True)
        time.sleep(600)
        """
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    with closing(parent.stdout):
        assert parent.stdout.readline() == b"ready\n"
        family = psutil.Process(parent.pid).children(recursive=True)

        parent.send_signal(number)
        parent.wait()

    assert len(family) == 2  # the leash and the command
    wait_until(lambda: all(has_ended(process) for process in family))


def test_command_dies_with_its_leash():
    """Whoever kills the leash alone leaves no command behind."""
    before = descendants()
    with Processes() as processes:
        child = processes.start("child", SLEEPER, {})
        child.wait_until_listening(10)
        leash, command = sorted(descendants() - before, key=lambda process: process.create_time())

        os.kill(leash.pid, signal.SIGKILL)

        wait_until(lambda: has_ended(command))


def test_child_that_fails_says_why():
    """A child that ends before it listens is reported with its last words."""
    with Processes() as processes:
        child = processes.start("child", [sys.executable, "-c", "raise SystemExit('no port')"], {})

        with pytest.raises(ChildFailed, match="no port"):
            child.wait_until_listening(10)


def test_taken_port_is_passed_over():
    """If somebody listens on the port that is wanted, another one is chosen."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        assert free_port(port) != port


@pytest.mark.parametrize(("wanted", "said"), [(8000, True), (8001, False)])
def test_another_port_is_explained(wanted, said):
    """Who asked for a port, or expects 8000, is told why the shop has another one."""
    out = StringIO()
    Command(stdout=out, no_color=True)._greet("http://127.0.0.1:8001/", wanted, "secret")

    assert ("somebody else has port 8000" in out.getvalue()) is said
