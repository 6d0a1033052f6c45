"""A PgBouncer in transaction mode, as Debian ships it but for where it listens."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import psycopg

from demo_project.embedded_pg.places import server_account
from demo_project.ports import free_port
from tests.waiting import wait_until

CONFIG = """
[databases]
* = host={host} port={port} user={user} {password}
[pgbouncer]
pool_mode = transaction
default_pool_size = {pool_size}
listen_addr = 127.0.0.1
listen_port = {listen_port}
unix_socket_dir =
auth_type = any
admin_users = anyone
logfile = {folder}/log
"""


def program():
    """Where PgBouncer is, or None."""
    # Debian puts it where a user's PATH does not look.
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


class Pooler:
    """One PgBouncer before the server of `parameters`, with `pool_size` connections for each database.

    `popen_options` are for starting it.
    """

    def __init__(self, parameters, *, pool_size=2, **popen_options):
        # Like PostgreSQL it refuses to be root, and its account must be able to read its configuration.
        self._account = server_account()
        self._popen_options = self._account.popen_options | popen_options
        self._folder = Path(tempfile.mkdtemp(prefix="pooler-", dir="/tmp"))
        self.port = free_port()
        self._dbname = parameters["dbname"]
        password = parameters.get("password")
        config = CONFIG.format(
            host=parameters.get("host", "127.0.0.1"),
            port=parameters.get("port", 5432),
            user=parameters.get("user", "postgres"),
            password=f"password={password}" if password else "",
            pool_size=pool_size,
            listen_port=self.port,
            folder=self._folder,
        )
        (self._folder / "ini").write_text(config)
        if self._account.is_other:
            os.chown(self._folder, self._account.uid, self._account.gid)
        self.url = f"postgres:///{self._dbname}?host=127.0.0.1&port={self.port}&user=anyone"

    def start(self):
        """Start it, and wait until it answers."""
        self._popen = subprocess.Popen(
            [program(), "--quiet", self._folder / "ini"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            **self._popen_options,
        )
        wait_until(self._answers)

    def connect(self, dbname=None, **more):
        """Open a connection through it; the first statement begins a transaction."""
        return psycopg.connect(host="127.0.0.1", port=self.port, dbname=dbname or self._dbname, user="anyone", **more)

    def reconnect(self):
        """Have it replace each of its connections to the server, when nobody is in a transaction on it."""
        with self.connect("pgbouncer", autocommit=True) as console:
            console.execute("RECONNECT")

    def stop(self):
        """Stop it by SIGINT: whoever is in a transaction may end it, then every connection is closed."""
        self._popen.send_signal(signal.SIGINT)
        self._popen.wait(timeout=30)

    def kill(self):
        """Kill it, and every connection through it."""
        self._popen.kill()
        self._popen.wait()

    def close(self):
        """End it and leave nothing behind."""
        self._popen.send_signal(signal.SIGINT)
        try:
            self._popen.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.kill()
        shutil.rmtree(self._folder)

    def _answers(self):
        try:
            with self.connect() as connection:
                return connection.execute("SELECT 1").fetchone()
        except psycopg.OperationalError:
            assert self._popen.poll() is None, (self._folder / "log").read_text()
            return None
