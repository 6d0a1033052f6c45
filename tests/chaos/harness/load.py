"""The producer: a process that enqueues by the product's own front door, and writes down what became of each call.

    python -m tests.chaos.harness.load <seed> <jobs a second> <mix as JSON> [<first number> <number of jobs>]

With a number of jobs it enqueues so many at once, the first with that number, and leaves. Without, it works until
SIGTERM.

An intent is written before the call, its outcome after it: `ok` (accepted: the transaction has committed),
`indeterminate` (the connection was lost: it may have) or `rejected`. A part of the jobs is enqueued in one transaction
with a row of the caller's own, and a part several at a time.
"""

import json
import os
import random
import signal
import sys
import time

from tests.chaos.harness.ledger import Ledger

MIX = {"fast": 0.75, "slow": 0.12, "long": 0.01, "fails": 0.05, "dies": 0.02, "slow_async": 0.02, "once": 0.03}
"""Shares of the jobs by fate. slow is 0.1 to 1 s; long is longer than the lease; once has one attempt."""

WITH_ATOMIC = MIX | {"atomic": 0.1}
"""For faults that spare the database: an atomic task works in it."""

EFFECTS = {"atomic": 0.3, "keyed": 0.4, "external": 0.3}
"""Jobs whose effects are to happen once: in one transaction with the job, by `once`, and by `once.external`."""

GATED = {"fast": 0.35, "of_a_tenant": 0.25, "in_few": 0.12, "in_a_narrow_queue": 0.1, "in_line": 0.18}
"""Jobs of which only so many may run at once, and jobs that go one after the other, among others."""

WAYS = {"plain": 0.55, "row": 0.35, "many": 0.1}
"""How they are enqueued: by a statement of its own, with a row of the caller's, several with one statement."""
MANY = 3
AT_ONCE = 50
"""With one statement, of a number of jobs."""

VARIABLE = "CHAOS_INTENTS"
LONG_SECONDS = (2.5, 3.5)
UNANSWERED = ("57P01", "57P02", "57P03", "08006", "08003", None)
"""What a connection that breaks says, if it says anything: whether the COMMIT arrived nobody knows."""


def choose(dice, mix):
    """Choose the fate of a job: the name of its task and its arguments."""
    (fate,) = dice.choices(list(mix), list(mix.values()))
    match fate:
        case "slow":
            return "work", {"seconds": round(dice.uniform(0.1, 1.0), 3)}
        case "slow_async":
            return "work_async", {"seconds": round(dice.uniform(0.1, 1.0), 3)}
        case "once" | "atomic" | "keyed" | "external":
            return f"work_{fate}", {"seconds": round(dice.uniform(0.0, 0.5), 3)}
        case "of_a_tenant":
            return f"work_{fate}", gated(dice) | {"tenant": dice.choice("abc")}
        case "in_line":
            return f"work_{fate}", gated(dice) | {"account": dice.choice("abcd")}
        case "in_few" | "in_a_narrow_queue":
            return f"work_{fate}", gated(dice)
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


def gated(dice):
    """Choose the arguments of a job for which others wait: it is short, and fails now and then."""
    return {"seconds": round(dice.uniform(0.0, 0.2), 3), "failures": dice.choice([0] * 7 + [1, 2, 99])}


def main(seed, rate, mix, first=1, count=0):
    """Be the producer."""
    import django

    django.setup()
    from django.db import Error, connection

    intents = Ledger(os.environ[VARIABLE])
    dice = random.Random(seed)
    told = []
    signal.signal(signal.SIGTERM, lambda *_: told.append(True))
    number = first
    while not told and not 0 < count <= number - first:
        (way,) = dice.choices(list(WAYS), list(WAYS.values())) if not count else ["many"]
        size = min(AT_ONCE, first + count - number) if count else MANY if way == "many" else 1
        calls = {intent: choose(dice, mix) for intent in range(number, number + size)}
        for intent, (name, words) in calls.items():
            intents.write("intent", intent=intent, task=name, row=way == "row", batch=number, **words)
        number += size
        began = time.monotonic()
        try:
            jobs = enqueue(way, calls)
        except Error as error:
            state = getattr(error.__cause__, "sqlstate", None)
            outcome = "indeterminate" if state in UNANSWERED else "rejected"
            for intent in calls:
                intents.write(outcome, intent=intent, sqlstate=state, message=str(error)[:200])
            connection.close()
        else:
            for intent, job in zip(calls, jobs, strict=True):
                intents.write("ok", intent=intent, job=int(job.id))
        if not count:
            time.sleep(max(0.0, len(calls) * dice.uniform(0.5, 1.5) / rate - (time.monotonic() - began)))
    connection.close()


def enqueue(way, calls):
    """Enqueue the calls, which are (task, arguments) by intent; answer with the jobs."""
    from django.db import transaction

    from django_jobqueue.compat import task_backends
    from tests.chaos import tasks
    from tests.stage.models import Order

    wanted = [(getattr(tasks, name), [], {"intent": intent, **words}) for intent, (name, words) in calls.items()]
    if way == "many":
        return task_backends["default"].enqueue_many(wanted)
    ((task, _, words),) = wanted
    if way == "plain":
        return [task.enqueue(**words)]
    with transaction.atomic():
        Order.objects.create(key=f"intent {words['intent']}")
        return [task.enqueue(**words)]


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), json.loads(sys.argv[3]), *map(int, sys.argv[4:]))
