"""What a depth limit costs an enqueue, and how often it refuses early: `python -m benchmarks.backpressure`.

Sixteen processes enqueue one by one, each in a transaction of its own: without a limit, under one that is never
reached, and under a small one that a worker drains meanwhile. All figures are of one run, so compare their ratios.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import time
from typing import Any

os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.throughput.settings"

import django

django.setup()

from django.core.management import call_command
from django.db import connection, connections

from benchmarks.throughput.tasks import nothing
from django_jobqueue.backend import JobQueueBackend
from django_jobqueue.exceptions import QueueFull
from django_jobqueue.models import Job
from django_jobqueue.store import depth
from django_jobqueue.store.depth import Bound

TABLES = "django_jobqueue_job, django_jobqueue_attempt, django_jobqueue_deadletter, django_jobqueue_credit"


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.backpressure", description=__doc__)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {connection.settings_dict['NAME']} WITH (FORCE)")
        cursor.execute(f"CREATE DATABASE {connection.settings_dict['NAME']}")
    call_command("migrate", verbosity=0)
    rates: dict[str, list[float]] = {}
    for _ in range(options.rounds):
        for name, max_depth in (("no limit", None), ("a limit that is never reached", 1_000_000)):
            accepted, refused, _early = storm(max_depth, options)
            rates.setdefault(name, []).append(accepted / options.seconds)
            print(f"{name}: {accepted / options.seconds:,.0f}/s, {refused} refused")
    plain, limited = (statistics.median(values) for values in rates.values())
    print(f"limited / plain: {limited / plain:.2f}")
    for max_depth in (100, 1000):
        drained(max_depth, options)


def drained(max_depth: int, options: argparse.Namespace) -> None:
    """Enqueue under a small limit beside a worker."""
    command = [sys.executable, "-m", "django", "runworker", "--processes", "1"]
    worker = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(2)
        accepted, refused, early = storm(max_depth, options)
    finally:
        worker.terminate()
        worker.wait()
    share = early / max(1, accepted + refused)
    print(
        f"max_depth {max_depth} beside a worker: {accepted / options.seconds:,.0f}/s accepted, {refused} refused, "
        f"{early} of them with more than a tenth of the room left: {share:.3%} of all calls"
    )


def storm(max_depth: int | None, options: argparse.Namespace) -> tuple[int, int, int]:
    """Have all clients enqueue at once; answer with what was accepted, refused, and refused early."""
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {TABLES}")
    connections.close_all()
    context = multiprocessing.get_context("fork")
    start = context.Barrier(options.clients)
    with context.Pool(options.clients, initializer=_begin, initargs=(start,)) as pool:
        counts = pool.map(client, [(number, max_depth, options.seconds) for number in range(options.clients)], 1)
    accepted, refused, early = (sum(each) for each in zip(*counts, strict=True))
    return accepted, refused, early


_start: Any = None


def _begin(start: Any) -> None:
    globals()["_start"] = start


def client(asked: tuple[int, int | None, float]) -> tuple[int, int, int]:
    """Enqueue until the time is over."""
    number, max_depth, seconds = asked
    random.seed(number)
    rules = {} if max_depth is None else {"queues": {"default": {"max_depth": max_depth}}}
    backend = JobQueueBackend("default", {"QUEUES": [], "OPTIONS": {"notify": False} | rules})
    connection.ensure_connection()
    accepted = refused = early = 0
    _start.wait()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            backend.enqueue(nothing, (accepted,), {})
            accepted += 1
        except QueueFull:
            refused += 1
            bound = Bound("queue", "default", "default", max_depth or 1)
            early += depth.left(bound, using="default") > bound.max_depth / 10
            time.sleep(0.001)
    connections.close_all()
    return accepted, refused, early


if __name__ == "__main__":
    main()
    print(f"rows: {Job.objects.count()}")
