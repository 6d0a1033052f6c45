"""`runworker` processes of a run, and what may be done to them."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import psutil

from tests.chaos.harness.process import ROOT, dying_with_us, is_running
from tests.waiting import wait_until

END_SECONDS = 30


class Worker:
    """A keeper, its forkserver and its runners. `under` is the beginning of a command that becomes the keeper."""

    def __init__(self, arguments, *, environment, log_path, under=(), mutant=""):
        entry = ["-m", "tests.chaos.mutants", mutant] if mutant else ["-m", "django"]
        with log_path.open("w") as log:
            self.popen = subprocess.Popen(
                [*under, sys.executable, *entry, "runworker", *arguments],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=dying_with_us(),  # noqa: PLW1509 - it only calls prctl
            )
        self.pid = self.popen.pid
        self.log_path = log_path
        self.was_killed = False
        self.seen = {self.pid}

    @property
    def is_alive(self):
        """Whether the keeper runs."""
        return self.popen.poll() is None

    def runners(self):
        """The ids of its runner processes: the children of the forkserver, or those that were spawned."""
        return [process.pid for process in self._below() if self._is_runner(process)]

    def family(self):
        """The ids of all its processes that are alive."""
        below = [process.pid for process in self._below()]
        self.seen |= set(below)
        return [pid for pid in (self.pid, *below) if is_running(pid)]

    def send(self, number):
        """Send a signal to the keeper."""
        self.popen.send_signal(number)

    def freeze(self, pids):
        """Stop some of its processes."""
        self._tell(pids, signal.SIGSTOP)

    def thaw(self, pids):
        """Let them go on."""
        self._tell(pids, signal.SIGCONT)

    def leave(self):
        """Stop it as a deploy does; answer with its exit code and the seconds that it took."""
        began = time.monotonic()
        self.send(signal.SIGTERM)
        code = self.popen.wait(timeout=END_SECONDS)
        return code, time.monotonic() - began

    def kill(self):
        """Kill the keeper, and reap it."""
        self.family()
        self.was_killed = True
        self.send(signal.SIGKILL)
        self.popen.wait()

    def end(self):
        """Stop it as a deploy does, and answer with its exit code; kill whatever is left."""
        if self.is_alive:
            pids = self.family()
            self.thaw(pids)
            self.send(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.popen.wait(timeout=END_SECONDS)
        return self.clear()

    def clear(self):
        """Kill whatever is left of it, and answer with the exit code."""
        self.family()
        if self.is_alive:
            self.popen.kill()
        self.popen.wait()
        self._tell(self.seen, signal.SIGKILL)
        wait_until(lambda: not any(map(is_running, self.seen)), seconds=END_SECONDS)
        return self.popen.returncode

    def log_lines(self):
        """How much it has said, and the tracebacks in it."""
        text = self.log_path.read_text(errors="replace")
        return text.count("\n"), text.count("Traceback (most recent call last)")

    def _is_runner(self, process):
        try:
            return process.ppid() != self.pid or "spawn_main" in " ".join(process.cmdline())
        except psutil.NoSuchProcess:
            return False

    def _below(self):
        try:
            return psutil.Process(self.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def _tell(self, pids, number):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def hold(seconds, feels, *, at_most=10.0):
    """Let a fault go on for so long, and then until somebody has felt it; answer with how often, 0 if nobody does."""
    pause(seconds)
    deadline = time.monotonic() + at_most
    while not (bites := feels()) and time.monotonic() < deadline:
        pause(0.02)
    return bites


def pause(seconds):
    """Let the load go on for a while between two faults: the rhythm of the nemesis, not a wait for anything."""
    time.sleep(seconds)
