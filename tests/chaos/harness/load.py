"""The producer: a process that enqueues by the product's own front door, and writes down what became of each call.

    python -m tests.chaos.harness.load <seed> <jobs a second> <mix as JSON>

An intent is written before the call, its outcome after it: `ok` (accepted: the transaction has committed),
`indeterminate` (the connection was lost: it may have) or `rejected`. A third of the jobs is enqueued in one transaction
with a row of the caller's own. It works until SIGTERM.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

from tests.chaos.harness.ledger import Ledger
from tests.chaos.harness.process import ROOT, dying_with_us

MIX = {"fast": 0.78, "slow": 0.12, "long": 0.01, "fails": 0.05, "dies": 0.02, "slow_async": 0.02}
"""Shares of the jobs by fate. slow is 0.1 to 1 s; long is longer than the lease."""

PRODUCER = "CHAOS_INTENTS"
LONG_SECONDS = (2.5, 3.5)
UNANSWERED = ("57P01", "57P02", "57P03", "08006", "08003", None)
"""What a connection that breaks says, if it says anything: whether the COMMIT arrived nobody knows."""


class Producer:
    """The process, as the run sees it."""

    def __init__(self, seed, rate, mix, *, environment, intents, log_path):
        with log_path.open("w") as log:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", "tests.chaos.harness.load", str(seed), str(rate), json.dumps(mix)],
                cwd=ROOT,
                env=environment | {PRODUCER: str(intents.path)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=dying_with_us(),  # noqa: PLW1509 - it only calls prctl
            )
        self.log_path = log_path

    def stop(self):
        """Let it finish the call it makes, and leave."""
        self._popen.send_signal(signal.SIGTERM)
        try:
            code = self._popen.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._popen.returncode
        return code

    def kill(self):
        """End it at once."""
        self._popen.kill()
        self._popen.wait()


def choose(dice, mix):
    """Choose the fate of a job: the name of its task and its arguments."""
    (fate,) = dice.choices(list(mix), list(mix.values()))
    match fate:
        case "slow":
            return "work", {"seconds": round(dice.uniform(0.1, 1.0), 3)}
        case "slow_async":
            return "work_async", {"seconds": round(dice.uniform(0.1, 1.0), 3)}
        case "long":
            return "work", {"seconds": round(dice.uniform(*LONG_SECONDS), 3)}
        case "fails":
            return "work", {"failures": dice.choice([1, 2, 99])}
        case "dies":
            return "work", {"failures": 99}
        case "exit" | "segfault" | "abort" | "eat_memory":
            return "die", {"how": fate}
        case "spin" | "keep_gil":
            return "hang", {"how": fate}
        case _:
            return dice.choice(["work", "work", "work_async"]), {}


def main(seed, rate, mix):
    """Be the producer."""
    import django

    django.setup()
    from django.db import Error, connection, transaction

    from tests.chaos import tasks
    from tests.stage.models import Order

    intents = Ledger(os.environ[PRODUCER])
    dice = random.Random(seed)
    told = []
    signal.signal(signal.SIGTERM, lambda *_: told.append(True))
    number = 0
    while not told:
        number += 1
        name, words = choose(dice, mix)
        with_row = dice.random() < 1 / 3
        intents.write("intent", intent=number, task=name, row=with_row, **words)
        began = time.monotonic()
        try:
            if with_row:
                with transaction.atomic():
                    Order.objects.create(key=f"intent {number}")
                    job = getattr(tasks, name).enqueue(intent=number, **words)
            else:
                job = getattr(tasks, name).enqueue(intent=number, **words)
        except Error as error:
            state = getattr(error.__cause__, "sqlstate", None)
            outcome = "indeterminate" if state in UNANSWERED else "rejected"
            intents.write(outcome, intent=number, sqlstate=state, message=str(error)[:200])
            connection.close()
        else:
            intents.write("ok", intent=number, job=int(job.id))
        time.sleep(max(0.0, dice.uniform(0.5, 1.5) / rate - (time.monotonic() - began)))
    connection.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), json.loads(sys.argv[3]))
