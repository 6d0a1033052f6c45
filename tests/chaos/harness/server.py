"""A PostgreSQL of the run's own, which may be stopped, killed and filled up.

It listens on TCP, so that a proxy can stand before it. fsync is off: what is killed here are processes, and what a
process has written survives it; a power cut is PostgreSQL's own affair.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import psutil
import psycopg

from demo_project.embedded_pg.binaries import find_binaries
from demo_project.embedded_pg.places import Places, server_account
from tests.chaos.harness.process import ROOT, dying_with_us, is_running
from tests.waiting import wait_until

ROLE = "chaos"
"""Owner of the databases, and no superuser: what is kept for superusers when connections run out is not for it."""

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "40",
    "shared_buffers": "64MB",
    "fsync": "off",
    "restart_after_crash": "on",
    "log_min_messages": "warning",
}
READY_SECONDS = 60


def free_port():
    """Find a TCP port that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """One PostgreSQL in a temporary folder, with settings of its own if need be."""

    def __init__(self, **settings):
        self.home = Path(tempfile.mkdtemp(prefix="django-jobqueue-chaos-"))
        self.places = Places(self.home, server_account())
        self.log = self.home / "server.log"
        self.port = free_port()
        self._settings = SETTINGS | settings
        self._process = None
        self._made = 0

    def create(self, *words):
        """Make the cluster, start it, and make the template that each run's database is a copy of.

        `words` are for initdb.
        """
        self.places.create()
        self.binaries = self.places.within_reach(find_binaries())
        ours = "--username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync --no-instructions"
        self._run(self.binaries.folder / "initdb", "-D", self.places.data, *ours.split(), *words)
        self.start()
        with closing(self.connect()) as connection:
            connection.execute(f"CREATE ROLE {ROLE} LOGIN")
            connection.execute(f"CREATE DATABASE template_chaos OWNER {ROLE}")
        environment = self.environment("template_chaos")
        command = [sys.executable, "-m", "django", "migrate", "--run-syncdb", "-v0"]
        subprocess.run(command, env=environment, cwd=ROOT, check=True, capture_output=True)

    def destroy(self):
        """Kill it and delete everything."""
        self.kill()
        shutil.rmtree(self.home, ignore_errors=True)

    def new_database(self, tablespace=None):
        """Make a database with the tables of the queue and the stage; answer with its name."""
        self._made += 1
        name = f"run_{self._made}"
        where = f" TABLESPACE {tablespace}" if tablespace else ""
        with closing(self.connect()) as connection:
            connection.execute(f"CREATE DATABASE {name} OWNER {ROLE} TEMPLATE template_chaos{where}")
        return name

    def drop_database(self, name):
        """Drop a run's database."""
        with closing(self.connect()) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def environment(self, database, port=None, name="nobody", **more):
        """Return the environment of a process that uses a database of this server, and is known there by a name."""
        query = f"sslmode=disable&gssencmode=disable&application_name={name}"
        address = f"127.0.0.1:{port or self.port}/{database}?{query}"
        return os.environ | {
            "DATABASE_URL": f"postgres://{ROLE}@{address}",
            "DJANGO_SETTINGS_MODULE": "tests.chaos.settings",
            "PYTHONUNBUFFERED": "1",
            **more,
        }

    def connect(self, database="postgres"):
        """Open a superuser's connection, past any proxy."""
        return psycopg.connect(
            host=str(self.places.sockets), port=self.port, user="postgres", dbname=database, autocommit=True
        )

    def answers(self):
        """Whether it takes queries."""
        try:
            with closing(self.connect()) as connection:
                connection.execute("SELECT 1")
        except psycopg.Error:
            return False
        return True

    # What may be done to it

    def start(self):
        """Start it and wait until it takes queries. From the main thread: it dies with the thread that starts it."""
        settings = self._settings | {"port": str(self.port), "unix_socket_directories": str(self.places.sockets)}
        options = [f"--{name}={value}" for name, value in settings.items()]
        deadline = time.monotonic() + READY_SECONDS
        while True:
            with self.log.open("ab") as log:
                self._process = subprocess.Popen(
                    [self.binaries.folder / "postgres", "-D", self.places.data, *options],
                    cwd="/",
                    env={"PATH": os.environ["PATH"], "LANG": "C"},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    preexec_fn=dying_with_us(signal.SIGQUIT),  # noqa: PLW1509 - it only calls prctl
                    **self.places.account.popen_options,
                )
            # The backends of a server that was killed take a moment to leave its memory: until then none starts.
            wait_until(lambda: self._process.poll() is not None or self.answers(), seconds=READY_SECONDS)
            if self._process.poll() is None:
                return
            assert time.monotonic() < deadline, self.log.read_text()[-2000:]

    def stop(self, number):
        """Stop it by a signal to the postmaster: SIGINT is fast, SIGQUIT is immediate, SIGKILL leaves orphans."""
        orphans = psutil.Process(self._process.pid).children()
        self._process.send_signal(number)
        self._process.wait(timeout=READY_SECONDS)
        for orphan in orphans:
            wait_until(lambda pid=orphan.pid: not is_running(pid), seconds=READY_SECONDS)

    @property
    def has_stopped(self):
        """Whether its first process has ended."""
        return self._process is None or self._process.poll() is not None

    def kill(self):
        """End it at once, if it runs."""
        if not self.has_stopped:
            self._process.send_signal(signal.SIGQUIT)
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def configure(self, name, value=None):
        """Change a setting for all sessions; None is the default again."""
        with closing(self.connect()) as connection:
            # A connection of its own says READ WRITE, whatever the setting is that it changes.
            connection.execute(f"ALTER SYSTEM SET {name} = {value}" if value else f"ALTER SYSTEM RESET {name}")
            connection.execute("SELECT pg_reload_conf()")

    def _run(self, *words):
        done = subprocess.run(
            list(map(str, words)), cwd="/", capture_output=True, text=True, **self.places.account.popen_options
        )
        assert done.returncode == 0, done.stdout + done.stderr
