"""The process that stops the server when its last user is gone.

Runs detached, in its own session, so that neither Ctrl-C in the terminal nor the end of the
process that spawned it reaches it. It imports nothing late: its virtual environment may be deleted
meanwhile.
"""

import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

from .places import CHECKOUT, Places
from .postmaster import stop_postmaster

LINGER_SECONDS = 2.0


def spawn_keeper(places: Places, lock: int) -> None:
    """Start a keeper that is born holding keeper.lock: it inherits the descriptor."""
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    subprocess.Popen(
        # -S and -P: no site-packages and no current folder, only the checkout.
        [
            sys.executable,
            "-S",
            "-P",
            "-m",
            __name__,
            str(places.users_lock),
            str(places.data),
            str(lock),
        ],
        env=environment,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        pass_fds=[lock],
    )


def keep(users_lock: Path, data: Path, keeper_lock: int) -> None:
    """Wait until nobody uses the server, then stop it."""
    users = os.open(users_lock, os.O_RDWR)
    while True:
        fcntl.flock(users, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_UN)
        time.sleep(LINGER_SECONDS)
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        break
    stop_postmaster(data)
    os.close(keeper_lock)  # before users.lock: a starter that gets in now must find no keeper
    os.close(users)


if __name__ == "__main__":
    keep(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
