"""The command: the outage without a breaker, then with one, then a table."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.outage.settings"

import django

django.setup()

from django.core.management import call_command
from django.db import connection
from django.db.models.functions import Now

from benchmarks.outage import tasks
from benchmarks.outage.provider import Provider
from django_jobqueue.models import Attempt, CircuitBreaker, DeadLetter, Job, Worker

WARM_SECONDS = 10.0
"""So long all is well before."""

AFTER_SECONDS = 15.0
"""So long jobs arrive after the outage."""

PATIENCE_SECONDS = 180.0


@dataclass(frozen=True)
class Figures:
    """What an outage has cost."""

    jobs: int
    burnt: int
    dead: int
    recovered_seconds: float
    busiest_second: int


def main() -> None:
    """Run both and print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.outage", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="How long the provider is down.")
    parser.add_argument("--per-second", type=float, default=5.0, help="How many jobs arrive.")
    parser.add_argument("--out", type=Path, help="Write the table to this file, too.")
    options = parser.parse_args()
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {connection.settings_dict['NAME']} WITH (FORCE)")
        cursor.execute(f"CREATE DATABASE {connection.settings_dict['NAME']}")
    call_command("migrate", verbosity=0)
    lines = [
        f"A provider is down for {options.seconds:g} s; {options.per_second:g} jobs a second; one worker, 8 threads.",
        "",
        f"{'':<18}{'jobs':>8}{'attempts burnt':>18}{'dead letters':>16}{'recovered after':>18}{'busiest second':>18}",
    ]
    for name, has_breaker in (("without", False), ("with a breaker", True)):
        found = measure(options.seconds, options.per_second, has_breaker=has_breaker)
        lines.append(
            f"{name:<18}{found.jobs:>8}{found.burnt:>18}{found.dead:>16}{found.recovered_seconds:>16.1f} s"
            f"{found.busiest_second:>18}"
        )
        print(lines[-1], file=sys.stderr)
    table = "\n".join(lines) + "\n"
    print(table)
    if options.out:
        options.out.write_text(table)


def measure(seconds: float, per_second: float, *, has_breaker: bool) -> Figures:
    """Have a worker meet an outage."""
    for model in (Attempt, DeadLetter, Job, Worker, CircuitBreaker):
        model.objects.all().delete()
    provider, done = Provider(), threading.Event()
    arrivals = threading.Thread(target=_arrive, args=[provider.port, per_second, done])
    worker = subprocess.Popen(
        [sys.executable, "-m", "django", "runworker", "--processes", "1", "--threads", "8"],
        env=os.environ | {"OUTAGE_BREAKER": "1" if has_breaker else "0"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        arrivals.start()
        _wait(lambda: Job.objects.filter(status="SUCCESSFUL").exists())
        time.sleep(WARM_SECONDS)
        provider.go_down()
        time.sleep(seconds)
        before = Job.objects.latest("pk").pk
        returned = Job.objects.annotate(now=Now()).values_list("now", flat=True)[:1].get()
        since = time.monotonic()
        provider.come_up()
        _wait(lambda: not Job.objects.filter(pk__lte=before, status__in=["WAITING", "READY", "RUNNING"]).exists())
        time.sleep(max(0.0, AFTER_SECONDS - (time.monotonic() - since)))
    finally:
        done.set()
        arrivals.join()
        worker.terminate()
        worker.wait()
        provider.go_down()
    of_before = Job.objects.filter(pk__lte=before)
    last = of_before.order_by("-finished_at").values_list("finished_at", flat=True).first()
    assert last is not None
    return Figures(
        jobs=of_before.count(),
        burnt=Attempt.objects.filter(job__pk__lte=before, charged=True).count(),
        dead=DeadLetter.objects.count(),
        recovered_seconds=max(0.0, (last - returned).total_seconds()),
        busiest_second=provider.busiest_second(since),
    )


def _arrive(port: int, per_second: float, done: threading.Event) -> None:
    while not done.wait(1 / per_second):
        tasks.ask.enqueue(port)
    connection.close()


def _wait(fact: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not fact():
        if time.monotonic() > deadline:
            raise SystemExit("it does not recover")
        time.sleep(0.05)


if __name__ == "__main__":
    main()
