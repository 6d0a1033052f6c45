"""Child processes that all end with this one.

Each child runs on a leash (`leash.py`) in a session of its own, so that Ctrl-C in the terminal
reaches this process only, which ends the children in order; if it is killed instead, the leashes
notice. What a child prints is kept, and shown when somebody wants to see it or the child dies.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

LEASH = Path(__file__).with_name("leash.py")
LISTENING = re.compile(r"listening on (\S+)")
KEPT_LINES = 200

Echo = Callable[[str], None]


class ChildFailed(Exception):
    """A child ended, or was not ready in time. The message has its last lines."""


class Child:
    """One running command and what it has printed."""

    def __init__(self, name: str, command: Sequence[str], env: Mapping[str, str], echo: Echo) -> None:
        self.name = name
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        self.address = ""
        self._listens = threading.Event()
        self._echo = echo
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(LEASH), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **env},
            start_new_session=True,
            text=True,
            errors="replace",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def exit_code(self) -> int | None:
        """Say how it ended; None while it runs."""
        return self._process.poll()

    def wait_until_listening(self, seconds: float) -> str:
        """Wait for the line that says where it listens. Answers host:port; raises ChildFailed."""
        deadline = time.monotonic() + seconds
        while not self._listens.wait(0.05):
            if self.exit_code is not None or time.monotonic() > deadline:
                raise ChildFailed(self.last_words("does not listen"))
        return self.address

    def terminate(self) -> None:
        """Ask it to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it and its group at once, as a crash of the machine would, and see it gone."""
        self._signal(signal.SIGKILL)
        self._process.wait()

    def wait(self, seconds: float) -> int:
        """Wait for its end, and end what is left of it. Answers its exit code."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        # Also after an orderly end: what it started may have stayed.
        self._signal(signal.SIGKILL)
        code = self._process.wait()
        self._reader.join(1)
        if self._process.stdin:
            self._process.stdin.close()
        return code

    def last_words(self, what: str) -> str:
        """Say what happened, with the last lines it printed."""
        state = "still runs" if self.exit_code is None else f"ended with {self.exit_code}"
        tail = "\n".join(f"  [{self.name}] {line}" for line in list(self.lines)[-20:])
        return f"{self.name} {what} ({state}).\n{tail}".rstrip()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - for the type checker
        for line in self._process.stdout:
            text = line.rstrip()
            self.lines.append(text)
            found = LISTENING.search(text)
            if found and not self.address:
                self.address = found[1]
                self._listens.set()
            self._echo(f"[{self.name}] {text}")


class Processes:
    """All children. Leaving the context ends them, the latest first."""

    def __init__(self, *, echo: Echo = lambda line: None) -> None:
        self._echo = echo
        self._children: list[Child] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(self._children)

    def start(self, name: str, command: Sequence[str], env: Mapping[str, str]) -> Child:
        """Start a command. It may not be ready yet."""
        child = Child(name, command, env, self._echo)
        self._children.append(child)
        return child

    def stop(self, children: Sequence[Child], *, seconds: float = 6.0) -> dict[str, int]:
        """End children together, each in at most `seconds`. Answers their exit codes by name."""
        ending = [child for child in reversed(children) if child in self._children]
        for child in ending:
            child.terminate()
        deadline = time.monotonic() + seconds
        codes = {c.name: c.wait(max(0.0, deadline - time.monotonic())) for c in ending}
        self._children = [child for child in self._children if child not in ending]
        return codes

    def forget(self, child: Child) -> None:
        """Let go of a child that has been killed on purpose."""
        child.wait(0)
        self._children.remove(child)

    def dead(self) -> list[Child]:
        """List the children that ended though nobody asked them to."""
        return [child for child in self._children if child.exit_code is not None]
