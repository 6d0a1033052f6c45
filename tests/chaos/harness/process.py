"""Processes that do not outlive the run, whatever ends it."""

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[3]
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def dying_with_us(number=signal.SIGKILL):
    """Return what a child runs before its program: it gets the signal when the thread that starts it is gone."""
    parent = os.getpid()

    def ask():
        LIBC.prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return ask


def is_running(pid):
    """Whether a process is there, and no zombie."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def is_frozen(pid):
    """Whether a process has been stopped by SIGSTOP."""
    try:
        # After the name, which may hold anything.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    except OSError:
        return False


class Attendant:
    """A process of the run's own, which works until SIGTERM: a module of the harness, with its arguments."""

    def __init__(self, module, *arguments, environment, log_path):
        with log_path.open("w") as log:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", f"tests.chaos.harness.{module}", *map(str, arguments)],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=dying_with_us(),  # noqa: PLW1509 - it only calls prctl
            )
        self.log_path = log_path

    def stop(self):
        """Let it finish the call it makes, and leave; answer with its exit code."""
        self._popen.send_signal(signal.SIGTERM)
        try:
            code = self._popen.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._popen.returncode
        return code

    def wait(self, seconds):
        """Let it finish by itself; answer with its exit code."""
        return self._popen.wait(timeout=seconds)

    def kill(self):
        """End it at once."""
        self._popen.kill()
        self._popen.wait()
