"""Workers in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.budgets import marks

PATIENCE_SECONDS = 60.0


class Worker:
    """A `runworker`."""

    def __init__(self, *arguments: str, **options: Any) -> None:
        handle, name = tempfile.mkstemp(suffix=".log")
        self._log = Path(name)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "django", "runworker", *arguments],
            env=os.environ | {"BUDGET_OPTIONS": json.dumps(options), "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=handle,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        os.close(handle)

    @property
    def log(self) -> str:
        """What it has said so far."""
        return self._log.read_text()

    def end(self) -> None:
        """Kill what is left of it; its runners die with it."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._log.unlink()

    def seconds_to_exit(self, number: int = signal.SIGTERM) -> float:
        """Send a signal, and measure how long it takes until the process has ended."""
        began = time.monotonic()
        self.process.send_signal(number)
        code = self.process.wait(timeout=PATIENCE_SECONDS)
        seconds = time.monotonic() - began
        if code != 0:
            raise SystemExit(f"a worker left with {code}:\n{self.log}")
        return seconds


@contextmanager
def working(*arguments: str, **options: Any) -> Iterator[Worker]:
    """Have a worker, on empty tables, that has said that it is there."""
    marks.empty()
    worker = Worker(*arguments, **options)
    try:
        wait_for(lambda: marks.ask("SELECT 1 FROM django_jobqueue_worker LIMIT 1"), worker)
        yield worker
    finally:
        worker.end()


def wait_for(fact: Callable[[], Any], worker: Worker | None = None) -> Any:
    """Wait until something is true, and answer with it."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (answer := fact()):
        if time.monotonic() > deadline:
            raise SystemExit(f"not true within {PATIENCE_SECONDS:g} s: {fact}\n{worker.log if worker else ''}")
        time.sleep(0.01)
    return answer
