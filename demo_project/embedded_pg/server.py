"""Start, describe, stop and reset an embedded PostgreSQL."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from .binaries import Binaries, find_binaries
from .errors import WAYS_OUT, EmbeddedServerError
from .keeper import LINGER_SECONDS, spawn_keeper
from .locks import is_locked, is_shared, locked, try_lock, wait_for_lock
from .places import Places, default_home, server_account
from .postmaster import forget_zombie, is_ready, postmaster_id, stop_postmaster

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
        with ExitStack() as stack:
            self._enter(stack)
            if self._use is None:
                self._use = wait_for_lock(self.places.users_lock, shared=True)
            # The keeper comes first: it stops also what a killed starter left half-started.
            if (lock := try_lock(self.places.keeper_lock)) is not None:
                spawn_keeper(self.places, lock)
                os.close(lock)
            if not self._is_ready():
                self._launch(self.binaries())

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
            self._remove_places()

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

    def _enter(self, stack: ExitStack) -> None:
        """Hold setup.lock in a home that is there."""
        while True:
            with suppress(FileNotFoundError):  # a reset removes the home
                self.places.create()
                stack.enter_context(locked(self.places.setup_lock))
                return

    def _remove_places(self) -> None:
        """Leave no folder behind, unless a program has yet to come back to it: it looks for its own lock."""
        if is_shared(self.places.users_lock):
            return
        with suppress(EmbeddedServerError), ExitStack() as stack:
            # A keeper that outlived its file would stop the next server.
            stack.callback(os.close, wait_for_lock(self.places.keeper_lock, seconds=5 * LINGER_SECONDS))
            self.places.remove()

    def binaries(self) -> Binaries:
        """Return the programs that the server's account can run."""
        return self.places.within_reach(find_binaries())

    def _is_up(self) -> bool:
        return self._is_ready() and is_locked(self.places.keeper_lock)

    def _is_ready(self) -> bool:
        return is_ready(self.places.data, self.places.sockets)

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
        while postmaster_id(self.places.data) is None and not self._pg_ctl_start(binaries):
            # The processes of a server that was killed take a moment to leave its memory.
            forget_zombie(self.places.data)
            if time.monotonic() > deadline:
                raise EmbeddedServerError(f"{binaries} does not start.\n{self._end_of_log()}")
            time.sleep(0.3)
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if time.monotonic() > deadline:
                raise EmbeddedServerError(f"{binaries} was not ready after {START_SECONDS} s.")
            time.sleep(0.02)

    def _end_of_log(self) -> str:
        try:
            return f"{self.places.log}:\n{self.places.log.read_text(errors='replace')[-2000:]}"
        except OSError as error:
            return f"It left no log: {error}"

    def _create_cluster(self, binaries: Binaries) -> None:
        """Run initdb beside the final folder, so that a half-made cluster is never used."""
        for left in self.places.cluster.glob("partial-*"):
            shutil.rmtree(left, ignore_errors=True)
        # A name of this process's own: the initdb of a starter that was killed may still run.
        partial = self.places.cluster / f"partial-{os.getpid()}"
        # Only Linux has C.UTF-8 everywhere; C compares the same way, but knows no upper case of é.
        locale = "C.UTF-8" if sys.platform == "linux" else "C"
        words = f"--username={USER} --auth=trust --encoding=UTF8 --locale={locale} --no-sync"
        made = subprocess.run(
            [binaries.folder / "initdb", "-D", partial, *words.split(), "--no-instructions"],
            env=self._environment(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **self.places.account.popen_options,
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

    @staticmethod
    def _environment() -> dict[str, str]:
        # PGDATA, PGPORT and their like are meant for another server.
        return {name: value for name, value in os.environ.items() if not name.startswith("PG")}
