"""The running server process, as seen from outside and without PostgreSQL's own programs.

A keeper uses this when the virtual environment, and pg_ctl with it, may be gone.
"""

import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path


def postmaster_id(data: Path) -> int | None:
    """Return the process id of the live server on this data folder, or None."""
    process_id = _recorded_id(data)
    if process_id is None:
        return None
    state, name = _state_and_name(process_id)
    # After a crash the recorded number may belong to any process by now.
    is_alive = state not in ("", "Z") and name.startswith("postgres")
    return process_id if is_alive else None


def forget_zombie(data: Path) -> None:
    """Remove the pid file of a dead server that nobody has reaped: PostgreSQL takes it for alive.

    In a container without an init process it stays a zombie for ever.
    """
    process_id = _recorded_id(data)
    if process_id is not None and _state_and_name(process_id)[0] == "Z":
        (data / "postmaster.pid").unlink(missing_ok=True)


def is_ready(data: Path, sockets: Path) -> bool:
    """Say whether the server takes queries: it listens, and its pid file says that it recovered.

    Cheap enough to ask before each connection.
    """
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(sockets / ".s.PGSQL.5432"))
            status = (data / "postmaster.pid").read_text().splitlines()[7]
        except (OSError, IndexError):
            return False
    return status.strip() == "ready"


def stop_postmaster(data: Path) -> bool:
    """Stop the server, the harder way if need be. Return whether one was running."""
    process_id = postmaster_id(data)
    if process_id is None:
        return False
    # PostgreSQL's words: fast (roll back and write out), immediate (recover at the next start).
    for signal_number, patience_seconds in (
        (signal.SIGINT, 30.0),
        (signal.SIGQUIT, 6.0),
        (signal.SIGKILL, 6.0),
    ):
        with suppress(ProcessLookupError):
            os.kill(process_id, signal_number)
        deadline = time.monotonic() + patience_seconds
        while time.monotonic() < deadline:
            if postmaster_id(data) != process_id:
                return True
            time.sleep(0.02)
    return True


def _recorded_id(data: Path) -> int | None:
    try:
        return int((data / "postmaster.pid").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None


def _state_and_name(process_id: int) -> tuple[str, str]:
    """Return the state letter and the program's name; empty texts for a process that is gone."""
    try:
        head, _, tail = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")
    except OSError:
        if Path("/proc/self").exists():
            return "", ""
        return _ask_ps(process_id)
    return tail.split()[0], head.partition("(")[2]


def _ask_ps(process_id: int) -> tuple[str, str]:
    answer = subprocess.run(
        ["/bin/ps", "-o", "stat=,comm=", "-p", str(process_id)], capture_output=True, text=True
    ).stdout.split(maxsplit=1)
    return (answer[0][0], Path(answer[1].strip()).name) if len(answer) == 2 else ("", "")
