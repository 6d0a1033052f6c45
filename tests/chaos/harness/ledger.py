"""An append-only file of facts, one JSON object a line.

One write of a short line is whole or not there, whoever is killed and however many processes append; it does not
depend on the database that is being tormented, nor on the clock of the process that writes: moments are the monotonic
clock of the machine, counted from where the run has said that it began.
"""

import json
import os
import time
from pathlib import Path

VARIABLE = "CHAOS_LEDGER"
EPOCH_VARIABLE = "CHAOS_EPOCH"
EPOCH = float(os.environ.get(EPOCH_VARIABLE) or time.time() - time.monotonic())
"""What the monotonic clock has to be added to, to be the time of day."""


class Ledger:
    """One file. Opened anew by each process, and by each fork on its first write."""

    def __init__(self, path):
        self.path = Path(path)
        self._fd = None
        self._pid = None

    @classmethod
    def of_environment(cls):
        """Return the ledger that the run has named; where nobody did, writes go nowhere."""
        return cls(os.environ.get(VARIABLE, os.devnull))

    def write(self, what, **facts):
        """Append a fact, with the moment."""
        if self._pid != os.getpid():
            self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            self._pid = os.getpid()
        os.write(self._fd, (json.dumps({"what": what, "at": EPOCH + time.monotonic(), **facts}) + "\n").encode())

    def read(self, *kinds):
        """Read the facts of some kinds, in the order they were written."""
        if not self.path.exists():
            return []
        facts = [json.loads(line) for line in self.path.read_text().splitlines()]
        return [fact for fact in facts if fact["what"] in kinds]
