"""Own a throw-away PostgreSQL cluster with the default configuration, reached by a unix socket."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KNOWN_FOLDERS = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
)


@contextmanager
def throwaway_cluster() -> Iterator[str]:
    """Yield the DSN of a new cluster; stop and delete it afterwards.

    fsync stays on. PostgreSQL refuses root, so root runs it as the user `postgres`.
    """
    folder = Path(tempfile.mkdtemp(prefix="jobqueue-layouts-"))
    data = folder / "data"
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    try:
        run("initdb", "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8")
        run(
            "pg_ctl",
            "-D",
            data,
            "-w",
            "-l",
            folder / "server.log",
            "-o",
            f"-c listen_addresses='' -c unix_socket_directories='{folder}'",
            "start",
        )
        try:
            yield f"host={folder} user=postgres dbname=postgres"
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(program: str, *arguments: object) -> None:
    """Run a PostgreSQL server program, as `postgres` when this process is root."""
    command = [str(folder_of_programs() / program), *map(str, arguments)]
    if os.geteuid() == 0:
        command = ["runuser", "-u", "postgres", "--", *command]
    # cwd: the user postgres may not enter the caller's folder.
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd="/")


def folder_of_programs() -> Path:
    """Find the folder of initdb: pg_config's answer, else the newest known one."""
    candidates = []
    if shutil.which("pg_config"):
        answer = subprocess.run(["pg_config", "--bindir"], check=True, capture_output=True, text=True)
        candidates.append(Path(answer.stdout.strip()))
    for pattern in KNOWN_FOLDERS:
        candidates += sorted(Path("/").glob(pattern[1:]), reverse=True)
    for folder in candidates:
        if (folder / "initdb").exists():
            return folder
    raise SystemExit("no initdb found: install PostgreSQL's server programs, or pass --dsn")
