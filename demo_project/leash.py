"""Run one command that must not outlive the process that asked for it.

    python -I leash.py command argument …

Standard input is a pipe whose other end the asker holds. When it ends, the asker is gone, whatever
killed it: the command gets SIGTERM, and what is left of its process group SIGKILL. On Linux the
command also dies with this process, should somebody kill that alone. Standard library only, so that
it starts in the time of an empty Python.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

GRACE_SECONDS = 8.0
PR_SET_PDEATHSIG = 1


def main(command: list[str]) -> int:
    """Run the command to its end. Answers its exit code, or 128 and the signal that ended it."""
    for number in (signal.SIGTERM, signal.SIGINT):
        # A signal to the group reaches the command too; this waits for what it makes of it.
        signal.signal(number, lambda *_: None)
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        preexec_fn=_die_with(os.getpid()),  # noqa: PLW1509 - no thread has been started yet
    )
    threading.Thread(target=_end_with_asker, args=[child], daemon=True).start()
    code = child.wait()
    return code if code >= 0 else 128 - code


def _end_with_asker(child: subprocess.Popen[bytes]) -> None:
    while os.read(0, 1024):
        pass
    os.killpg(0, signal.SIGTERM)
    try:
        child.wait(GRACE_SECONDS)
    finally:
        os.killpg(0, signal.SIGKILL)


def _die_with(parent: int) -> Callable[[], None] | None:
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)

    def ask_for_signal() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before it could be watched
            os.kill(os.getpid(), signal.SIGKILL)

    return ask_for_signal


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
