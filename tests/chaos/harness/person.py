"""The person: a process that cancels, replays and discards by the product's own front door, and writes down each act.

    python -m tests.chaos.harness.person <seed> <acts a second>

An act is written down before the call, the answer after it: `done`, `refused` with the code, or `unsure` where the
connection was lost; then the same is asked for again, at once. It works until SIGTERM.
"""

import os
import random
import signal
import sys
import time

from tests.chaos.harness.ledger import Ledger

VARIABLE = "CHAOS_ACTS"
VERBS = {"cancel": 0.35, "force": 0.2, "replay": 0.3, "discard": 0.15}
"""Shares of what is done; force is a cancel that stops the job with its process."""


def main(seed, rate):
    """Be the person."""
    import django

    django.setup()
    from django.db import Error, connection

    acts = Ledger(os.environ[VARIABLE])
    dice = random.Random(seed)
    told = []
    signal.signal(signal.SIGTERM, lambda *_: told.append(True))
    number = 0
    while not told:
        time.sleep(dice.uniform(0.5, 1.5) / rate)
        (verb,) = dice.choices(list(VERBS), list(VERBS.values()))
        try:
            chosen = choose(verb, dice)
        except Error:
            connection.close()
            continue
        again = None
        while chosen is not None:
            number += 1
            acts.write("act", act=number, verb=verb, job=chosen["job"], again=again)
            answer = act(verb, chosen, f"act {number}")
            acts.write(answer.pop("what"), act=number, **answer)
            is_unsure = "sqlstate" in answer
            again = number
            if not is_unsure:
                break
            connection.close()
    connection.close()


def choose(verb, dice):
    """Choose a job that lives, or a dead letter; None where there is none."""
    from django_jobqueue.models import DeadLetter, Job

    if verb in ("cancel", "force"):
        found = Job.objects.filter(status__in=["WAITING", "READY", "RUNNING"]).values_list("pk", "pk")
    else:
        found = DeadLetter.objects.filter(status__in=["OPEN", "DISCARDED"]).values_list("job_id", "pk")
    rows = sorted(found)
    return dict(zip(("job", "id"), dice.choice(rows), strict=True)) if rows else None


def act(verb, chosen, reason):
    """Do it, and answer with what came of it."""
    from django.db import Error

    from django_jobqueue import operations
    from django_jobqueue.exceptions import Refused

    words = {"by": "person", "reason": reason}
    try:
        match verb:
            case "cancel" | "force":
                operations.cancel(chosen["id"], force=verb == "force", **words)
            case "replay":
                operations.replay(chosen["id"], **words)
            case "discard":
                operations.discard(chosen["id"], **words)
    except Refused as refusal:
        return {"what": "refused", "code": refusal.code}
    except Error as error:
        return {"what": "unsure", "sqlstate": getattr(error.__cause__, "sqlstate", None)}
    return {"what": "done"}


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
