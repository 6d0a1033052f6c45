"""Embedded servers of a test's own, and programs that use them."""

import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command

from demo_project.embedded_pg.places import CHECKOUT
from demo_project.embedded_pg.server import PORT, USER, Server
from tests.waiting import wait_until

# Obeys one word a line and answers each with one line.
PROGRAM = """
import os, signal, sys
from pathlib import Path
from demo_project.embedded_pg.server import Server

server = Server(Path(sys.argv[1]))
for line in sys.stdin:
    if line.strip() == "fork":
        child = os.fork()
        if child == 0:
            signal.pause()
        print(child, flush=True)
    else:
        server.start()
        print(server.status().process_id, flush=True)
"""


class Program:
    """A process that uses the server."""

    def __init__(self, home, **options):
        options.setdefault("env", {**os.environ, "PYTHONPATH": str(CHECKOUT)})
        options.setdefault("executable", sys.executable)
        self.process = subprocess.Popen(
            [options["executable"], "-c", PROGRAM, str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        )

    def ask(self, word):
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        assert line, "the program ended"
        return int(line)

    def start(self):
        """Return the server's process id."""
        self.ask("start")
        return self.answer()

    def fork(self):
        """Return the process id of a child that does nothing."""
        self.ask("fork")
        return self.answer()

    def kill(self, signal_number=signal.SIGKILL):
        self.process.send_signal(signal_number)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@contextmanager
def reachable_folder():
    """Make a folder within reach of the account that runs the server."""
    folder = Path(tempfile.mkdtemp(prefix="djq-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        Server(folder / "home").stop()
        wait_until(lambda: not remove(folder))


def remove(folder):
    """Return whether the folder is still there: a process that ends may write to it meanwhile."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder.exists()


@pytest.fixture
def home():
    """A folder in which no server ever ran."""
    with reachable_folder() as folder:
        yield folder / "home"


@pytest.fixture(scope="session")
def empty_data():
    """The data of a server that was just made: copying them is faster than making them."""
    with reachable_folder() as folder:
        server = Server(folder / "home")
        server.start()
        server.stop()
        server.release()
        yield server.places.data


@pytest.fixture
def used_home(home, empty_data):
    """A folder in which a server ran before."""
    places = Server(home).places
    places.create()
    subprocess.run(["cp", "-a", empty_data, places.data], check=True)
    return home


@pytest.fixture
def program():
    """Start programs that use a server; what is left of them is killed."""
    programs = []

    def start(home, **options):
        programs.append(Program(home, **options))
        return programs[-1]

    yield start
    for each in programs:
        if each.process.poll() is None:
            each.kill()


@pytest.fixture
def connect():
    """Connect to a server by its home folder."""
    connections = []

    def open_connection(home):
        sockets = Server(home).places.sockets
        connections.append(psycopg.connect(dbname="postgres", host=str(sockets), port=PORT, user=USER, autocommit=True))
        return connections[-1]

    yield open_connection
    for each in connections:
        each.close()


@pytest.fixture
def embedded_db(home, monkeypatch):
    """Run ``manage.py embedded_db`` on the home folder; return what it prints."""
    monkeypatch.setenv("EMBEDDED_PG_HOME", str(home))

    def run(*words):
        printed = io.StringIO()
        call_command("embedded_db", *words, stdout=printed)
        return printed.getvalue()

    return run
