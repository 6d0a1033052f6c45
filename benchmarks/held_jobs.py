"""What jobs that wait for a slot cost the claims of others.

    python -m benchmarks.held_jobs [--held 100000] [--jobs 20000] [--rounds 5]

Drains no-op jobs by the worker's own statements, a hundred at a time, in transactions that settle and claim: with
nothing else there, and with so many jobs held behind one concurrency key whose slot is taken. A third drain admits in
each transaction as well, as a worker does that has ended jobs while others wait. All are measured in each round, in one
database: only the ratios mean something.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from uuid import uuid4

os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.throughput.settings"

import django

django.setup()

from django.core.management import call_command
from django.db import connection

from django_jobqueue.models import Attempt, DeadLetter, Job
from django_jobqueue.policy.outcomes import OutcomeName
from django_jobqueue.policy.retry import Decision, Finish
from django_jobqueue.store.admit import admit_limited, admit_lock, admit_ordered
from django_jobqueue.store.claim import Serving, claim
from django_jobqueue.store.control import hold
from django_jobqueue.store.session import Session
from django_jobqueue.store.settle import Settlement, settle

BATCH = 100
TASK = "benchmarks.others"
FINISH = Decision(Finish("null"), OutcomeName.SUCCEEDED)


def main() -> None:
    """Run the rounds and print medians and ratios."""
    parser = argparse.ArgumentParser(prog="benchmarks.held_jobs", description=__doc__)
    parser.add_argument("--held", type=int, default=100_000, help="Jobs that wait behind one key.")
    parser.add_argument("--jobs", type=int, default=20_000, help="Jobs of a drain.")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {connection.settings_dict['NAME']} WITH (FORCE)")
        cursor.execute(f"CREATE DATABASE {connection.settings_dict['NAME']}")
    call_command("migrate", verbosity=0)
    held = f"{options.held:,} held"
    drains = {"none held": (0, False), held: (options.held, False), f"{held}, admitting": (options.held, True)}
    rates: dict[str, list[float]] = {name: [] for name in drains}
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
        for name, (count, admits) in drains.items():
            rates[name].append(drain(options.jobs, count, admits=admits))
    report(rates)


def drain(jobs: int, held: int, *, admits: bool) -> float:
    """Claim and finish all that may run; answer with the jobs a second."""
    fill(jobs, held)
    session, worker_id = Session("default"), uuid4()
    look = [admit_lock(), admit_ordered(), admit_limited()] if admits else []
    done, ended = 0, []
    started = time.perf_counter()
    while True:
        token = uuid4()
        take = claim(
            backend="default",
            tasks=(TASK,),
            serving=Serving(),
            limit=BATCH,
            token=token,
            worker_id=worker_id,
            lease_seconds=30,
        )
        *_, claimed = session.run(*settle(ended), *look, hold(), take)
        if not claimed:
            break
        done += len(claimed)
        ended = [Settlement(job.id, token, FINISH, TASK) for job in claimed]
    seconds = time.perf_counter() - started
    session.close()
    assert done == jobs, f"{done} of {jobs} jobs ran"
    return jobs / seconds


def fill(jobs: int, held: int) -> None:
    """Leave nothing but so many jobs to run, and so many that wait for the one slot of their key, which is taken."""
    tables = ", ".join(model._meta.db_table for model in (Job, Attempt, DeadLetter))
    add = f"INSERT INTO {Job._meta.db_table} (task, status, waiting_for, concurrency_key, key_limit)"
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {tables} CASCADE")
        cursor.execute(f"{add} SELECT %s, 'READY', '', NULL, NULL FROM generate_series(1, %s)", [TASK, jobs])
        words = "'benchmarks.held', status, waiting_for, 'one', 1"
        waiting = "SELECT 'WAITING' AS status, 'limit' AS waiting_for FROM generate_series(1, %s)"
        cursor.execute(f"{add} SELECT {words} FROM ({waiting}) AS held", [held])
        if held:
            cursor.execute(f"{add} SELECT {words} FROM (SELECT 'READY' AS status, '' AS waiting_for) AS first")
    # Autovacuum would come at a moment of its own, in the middle of one of the drains.
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM ANALYZE {Job._meta.db_table}")


def report(rates: dict[str, list[float]]) -> None:
    """Print medians, and the median of the ratios within each round."""
    first, *_ = rates.values()
    for name, values in rates.items():
        ratio = statistics.median(one / base for one, base in zip(values, first, strict=True))
        print(f"{name:<28} {statistics.median(values):>10,.0f} jobs/s {ratio:>8.2f}")


if __name__ == "__main__":
    main()
