"""The command: rounds of raw and ours, then a table of medians and ratios."""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.throughput.settings"

import django

django.setup()

from django.core.management import call_command
from django.db import connection

from benchmarks.throughput import raw
from benchmarks.throughput.tasks import note_the_time, nothing
from django_jobqueue.compat import task_backends

TABLES = "django_jobqueue_job, django_jobqueue_attempt, django_jobqueue_deadletter, django_jobqueue_worker"


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.throughput", description=__doc__)
    parser.add_argument("--jobs", type=int, default=30_000, help="Jobs of a drain.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=100, help="Jobs of a pick-up measurement.")
    options = parser.parse_args()
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {connection.settings_dict['NAME']} WITH (FORCE)")
        cursor.execute(f"CREATE DATABASE {connection.settings_dict['NAME']}")
    call_command("migrate", verbosity=0)
    parameters = connection.get_connection_params()
    for name in ("context", "cursor_factory", "prepare_threshold"):
        parameters.pop(name, None)
    rounds: dict[str, list[float]] = {}
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
        for name, rate in one_round(parameters, options):
            rounds.setdefault(name, []).append(rate)
    report({name: statistics.median(values) for name, values in rounds.items()})


def one_round(parameters: dict[str, object], options: argparse.Namespace) -> list[tuple[str, float]]:
    """Measure everything once."""
    with raw.connect(parameters) as plain:
        figures = [("raw drain", raw.drain(plain, options.jobs))]
        figures.append(("drain, 1 process", drain(options.jobs, "--processes", "1")))
        figures.append(("drain, default", drain(options.jobs)))
        figures.append(("drain, 2 workers", drain(options.jobs, "--processes", "1", workers=2)))
        figures.append(("raw drain", raw.drain(plain, options.jobs)))
        figures.append(("raw enqueue", raw.enqueue_one(plain, 1.5)))
        figures.append(("enqueue", enqueue_one(1.5)))
        figures.append(("raw enqueue many", raw.enqueue_many(plain, 20_000)))
        figures.append(("enqueue many", enqueue_many(20_000)))
    floor = raw.pick_up(parameters, options.samples, 0.05)
    figures += [("raw pick-up p50", percentile(floor, 0.5)), ("raw pick-up p95", percentile(floor, 0.95))]
    returned, called = pick_up(options.samples, 0.05)
    figures += [("pick-up p50", percentile(returned, 0.5)), ("pick-up p95", percentile(returned, 0.95))]
    figures += [("from the call p50", percentile(called, 0.5)), ("from the call p95", percentile(called, 0.95))]
    return figures


def drain(jobs: int, *arguments: str, workers: int = 1) -> float:
    """Let real workers run no-op jobs that were enqueued before.

    Jobs a second, from the first claim to the last finish.
    """
    empty()
    task_backends["default"].enqueue_many([(nothing, (number,), {}) for number in range(jobs)])
    command = [sys.executable, "-m", "django", "runworker", "--until-idle", "-v", "0", *arguments]
    for process in [subprocess.Popen(command) for _ in range(workers)]:
        if process.wait() != 0:
            raise SystemExit("a worker failed")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), extract(epoch FROM max(finished_at) - min(last_attempted_at))::float8 "
            "FROM django_jobqueue_job WHERE status = 'SUCCESSFUL' AND attempt_count = 1"
        )
        done, seconds = cursor.fetchone()
        cursor.execute("SELECT count(*) FROM django_jobqueue_attempt")
        if done != jobs or cursor.fetchone()[0] != jobs:
            raise SystemExit(f"{done} of {jobs} jobs are SUCCESSFUL with one attempt each")
    return done / seconds


def enqueue_one(seconds: float) -> float:
    """Enqueue one by one, each in its own transaction; jobs a second."""
    empty()
    started, done = time.perf_counter(), 0
    while time.perf_counter() - started < seconds:
        nothing.enqueue(done)
        done += 1
    return done / (time.perf_counter() - started)


def enqueue_many(jobs: int) -> float:
    """Enqueue by a thousand; jobs a second."""
    empty()
    started = time.perf_counter()
    for start in range(0, jobs, 1000):
        task_backends["default"].enqueue_many([(nothing, (start + number,), {}) for number in range(1000)])
    return jobs / (time.perf_counter() - started)


def pick_up(samples: int, pause: float) -> tuple[list[float], list[float]]:
    """Enqueue for an idle worker; seconds from the return, and from the call, to the first line of the task."""
    empty()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "moments"
        path.touch()
        environment = os.environ | {"BENCH_PICK_UP_FILE": str(path)}
        worker = subprocess.Popen([sys.executable, "-m", "django", "runworker", "-v", "0"], env=environment)
        called, returned = {}, {}
        for number in range(-20, samples):
            called[number] = time.clock_gettime(time.CLOCK_MONOTONIC)
            note_the_time.enqueue(number)
            returned[number] = time.clock_gettime(time.CLOCK_MONOTONIC)
            # The first ones wait for the worker to be there.
            time.sleep(0.25 if number < 0 else pause)
        time.sleep(1.5)
        worker.send_signal(signal.SIGTERM)
        worker.wait()
        started = dict(line.split() for line in path.read_text().splitlines())
    begun = {int(number): float(moment) for number, moment in started.items() if int(number) >= 0}
    if len(begun) != samples:
        raise SystemExit(f"{len(begun)} of {samples} jobs were picked up")
    return sorted(begun[n] - returned[n] for n in begun), sorted(begun[n] - called[n] for n in begun)


def empty() -> None:
    """Start with empty tables."""
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {TABLES}")


def percentile(values: list[float], part: float) -> float:
    """Take a value from a sorted list."""
    return values[min(len(values) - 1, int(len(values) * part))]


def report(figures: dict[str, float]) -> None:
    """Print medians and ratios."""
    print("\n| Work | Ours | Raw, same run | Ratio |\n|---|---|---|---|")
    rates = [("drain, 1 process", "raw drain"), ("drain, default", "raw drain"), ("drain, 2 workers", "raw drain")]
    rates += [("enqueue", "raw enqueue"), ("enqueue many", "raw enqueue many")]
    for ours, base in rates:
        ratio = figures[ours] / figures[base]
        print(f"| {ours} | {figures[ours]:,.0f}/s | {figures[base]:,.0f}/s | {ratio:.2f} |")
    for part in ("p50", "p95"):
        ours, base = figures[f"pick-up {part}"] * 1000, figures[f"raw pick-up {part}"] * 1000
        call = figures[f"from the call {part}"] * 1000
        print(f"| pick-up {part} | {ours:.2f} ms ({call:.2f} from the call) | {base:.2f} ms | {ours / base:.2f} |")


if __name__ == "__main__":
    main()
