"""Start, describe, stop and reset an embedded PostgreSQL."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from .binaries import Binaries, find_binaries
from .errors import WAYS_OUT, EmbeddedServerError
from .keeper import spawn_keeper
from .locks import is_locked, is_shared, locked, try_lock, wait_for_lock
from .places import Places, default_home, server_account
from .postmaster import accepts_connections, forget_zombie, postmaster_id, stop_postmaster

USER = "postgres"
PORT = "5432"  # part of the socket's name; nothing listens on TCP
SETTINGS = {"listen_addresses": "", "max_connections": "200", "shared_buffers": "128MB"}
START_SECONDS = 60
RETRY_SECONDS = 15.0


@dataclass(frozen=True)
class Status:
    """What ``embedded_db status`` tells."""

    running: bool
    in_use: bool
    process_id: int | None
    home: str
    sockets: str
    data_version: str | None
    binaries: str | None


class Server:
    """One PostgreSQL below one home folder. This process uses it from ``start`` until it ends."""

    def __init__(self, home: Path | None = None) -> None:
        self.places = Places(home or default_home(), server_account())
        self._use: int | None = None

    def start(self) -> None:
        """Make sure that the server runs and will be stopped; cheap when it does.

        Safe in any number of threads, processes and forked children at once.
        Raises EmbeddedServerError.
        """
        if self._use is not None and self._is_up():
            return
        self.places.create()
        with locked(self.places.setup_lock):
            if self._use is None:
                self._use = wait_for_lock(self.places.users_lock, shared=True)
            if postmaster_id(self.places.data) is None:
                self._launch(self.binaries())
            if (lock := try_lock(self.places.keeper_lock)) is not None:
                spawn_keeper(self.places, lock)
                os.close(lock)

    def release(self) -> None:
        """Stop being a user before this process ends."""
        if self._use is not None:
            os.close(self._use)
            self._use = None

    def stop(self) -> bool:
        """Stop the server, whoever uses it. Return whether it was running."""
        if not self.places.home.exists():
            return False
        with locked(self.places.setup_lock):
            return stop_postmaster(self.places.data)

    def reset(self) -> None:
        """Delete the data. Raises EmbeddedServerError while somebody uses the server."""
        if not self.places.home.exists():
            return
        with locked(self.places.setup_lock):
            if self.status().in_use:
                raise EmbeddedServerError(
                    "The embedded server is in use. End the programs that use it, "
                    "or stop it first: python3 manage.py embedded_db stop"
                )
            stop_postmaster(self.places.data)
            shutil.rmtree(self.places.cluster, ignore_errors=True)
            self.places.remove_copies()

    def status(self) -> Status:
        process_id = postmaster_id(self.places.data)
        try:
            binaries = str(find_binaries())
        except EmbeddedServerError:
            binaries = None
        return Status(
            running=process_id is not None,
            in_use=process_id is not None and is_shared(self.places.users_lock),
            process_id=process_id,
            home=str(self.places.home),
            sockets=str(self.places.sockets),
            data_version=self._data_version(),
            binaries=binaries,
        )

    def binaries(self) -> Binaries:
        """Return the programs that the server's account can run."""
        return self.places.within_reach(find_binaries())

    def _is_up(self) -> bool:
        return accepts_connections(self.places.sockets) and is_locked(self.places.keeper_lock)

    def _data_version(self) -> str | None:
        try:
            return (self.places.data / "PG_VERSION").read_text().strip()
        except OSError:
            return None

    def _launch(self, binaries: Binaries) -> None:
        version = self._data_version()
        if version is None:
            self._create_cluster(binaries)
        elif version != str(binaries.major):
            raise EmbeddedServerError(
                f"{self.places.data} was made by PostgreSQL {version}, but this is {binaries}.\n"
                "Start afresh with: python3 manage.py embedded_db reset\n"
                f"Or keep the data: set EMBEDDED_PG_BIN to the folder of a PostgreSQL {version}."
            )
        deadline = time.monotonic() + RETRY_SECONDS
        while not self._pg_ctl_start(binaries):
            # The processes of a server that was killed take a moment to leave its memory.
            forget_zombie(self.places.data)
            if time.monotonic() > deadline:
                log = self.places.log.read_text(errors="replace")[-2000:]
                raise EmbeddedServerError(f"{binaries} does not start. {self.places.log}:\n{log}")
            time.sleep(0.3)
        self._wait_until_ready(binaries)

    def _create_cluster(self, binaries: Binaries) -> None:
        """Run initdb beside the final folder, so that a half-made cluster is never used."""
        partial = self.places.cluster / "partial"
        shutil.rmtree(partial, ignore_errors=True)
        # Only Linux has C.UTF-8 everywhere; C compares the same way, but knows no upper case of é.
        locale = "C.UTF-8" if sys.platform == "linux" else "C"
        words = f"--username={USER} --auth=trust --encoding=UTF8 --locale={locale} --no-sync"
        made = self._run(
            binaries, "initdb", "-D", str(partial), *words.split(), "--no-instructions"
        )
        if made.returncode:
            raise EmbeddedServerError(f"{binaries}: initdb failed.\n{made.stdout}{WAYS_OUT}")
        partial.rename(self.places.data)

    def _pg_ctl_start(self, binaries: Binaries) -> bool:
        settings = {**SETTINGS, "unix_socket_directories": str(self.places.sockets)}
        options = " ".join(shlex.quote(f"--{name}={value}") for name, value in settings.items())
        words = ["-D", self.places.data, "-l", self.places.log, "-w", "-t", START_SECONDS]
        started = subprocess.run(
            [binaries.folder / "pg_ctl", *map(str, words), "-o", options, "start"],
            env=self._environment(),
            cwd="/",
            # Not a pipe: the server would inherit it, and a reader would wait for the server's end.
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Else Ctrl-C in the terminal would reach PostgreSQL before it reaches its users.
            start_new_session=True,
            **self.places.account.popen_options,
        )
        return started.returncode == 0

    def _wait_until_ready(self, binaries: Binaries) -> None:
        words = ["pg_isready", "-q", "-h", str(self.places.sockets), "-p", PORT]
        deadline = time.monotonic() + START_SECONDS
        while self._run(binaries, *words).returncode:
            if time.monotonic() > deadline:
                raise EmbeddedServerError(f"{binaries} was not ready after {START_SECONDS} s.")
            time.sleep(0.05)

    def _run(
        self, binaries: Binaries, program: str, *words: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(binaries.folder / program), *words],
            env=self._environment(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **self.places.account.popen_options,
        )

    @staticmethod
    def _environment() -> dict[str, str]:
        # PGDATA, PGPORT and their like are meant for another server.
        return {name: value for name, value in os.environ.items() if not name.startswith("PG")}
