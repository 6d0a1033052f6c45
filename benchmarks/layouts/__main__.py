"""Run designs through scenarios in rounds and print the report."""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from pathlib import Path

from . import report
from .cluster import throwaway_cluster
from .designs import DESIGNS, Design
from .scenarios import RENEWALS, SCENARIOS, measure, measure_churn, measure_renewals


def main() -> None:
    # So that the cluster is stopped and deleted on SIGTERM too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = parse_options()
    if options.render:
        runs = report.read(options.render)
    else:
        with nullcontext(options.dsn) if options.dsn else throwaway_cluster() as dsn:
            runs = run_all(dsn, options)
    print(report.render(runs))
    print(report.render_plans(runs))


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.layouts", description="Measure the physical layout of the job table."
    )
    add = parser.add_argument
    add("--dsn", help="use this server, not a throw-away cluster; its schemas lane_0, lane_1 … are dropped")
    add("--scenario", action="append", choices=[*SCENARIOS, *RENEWALS, "churn"], help="default: base")
    add("--design", action="append", choices=list(DESIGNS), help="default: all; raw and plain always run besides")
    add("--size", action="append", type=int, help="jobs in a batch; default: 100 and 200")
    add("--clients", action="append", type=int, help="clients at once; default: 1")
    add(
        "--floor", choices=["also", "only"], help="claim from a low-water mark, where a design can: besides, or only so"
    )
    add("--rounds", type=int, default=3)
    add("--side-by-side", type=int, default=2, help="designs at a time; more of them crowd the shared buffers")
    add("--snapshot-seconds", type=float, help="drain each at most so long under the old snapshot; default: 60")
    add("--snapshot-jobs", type=int, help="drain this many jobs under it; default: 300,000")
    add("--out", type=Path, help="append each run to this file, a JSON object a line")
    add("--render", type=Path, help="measure nothing: report the runs of this file")
    return parser.parse_args()


def run_all(dsn: str, options: argparse.Namespace) -> list[dict]:
    """Run every scenario in every round, a few designs side by side at a time."""
    runs: list[dict] = []
    sizes, clients = options.size or [100, 200], options.clients or [1]
    for number, name, size, count in product(range(options.rounds), options.scenario or ["base"], sizes, clients):
        for group in groups(options, name):
            for run in run_group(dsn, options, name, group, size, count):
                runs.append({"round": f"{number} {group[-1][0].name}"} | run)
                announce(runs[-1], options.out)
    return runs


def groups(options: argparse.Namespace, scenario: str) -> list[list[tuple[Design, bool]]]:
    """Return pairs of a design and whether its claims start at a floor, a few at a time."""
    if options.floor == "only":
        return [[(DESIGNS[name], True) for name in options.design or ["plain"]]]
    others = [(DESIGNS[name], False) for name in options.design or DESIGNS if name not in ("raw", "plain")]
    if options.floor:
        others += [(DESIGNS[name], True) for name in options.design or ["plain"] if DESIGNS[name].claim_above_floor]
    random.shuffle(others)
    base = [(DESIGNS[name], False) for name in ("raw", "plain") if name == "plain" or scenario not in RENEWALS]
    step = options.side_by_side
    return [base + others[first : first + step] for first in range(0, max(1, len(others)), step)]


def run_group(
    dsn: str, options: argparse.Namespace, name: str, group: list[tuple[Design, bool]], size: int, clients: int
) -> list[dict]:
    designs = [design for design, _ in group]
    if name in RENEWALS:
        running, times = RENEWALS[name]
        return measure_renewals(dsn, designs, running=running, times=times)
    if name == "churn":
        return measure_churn(dsn, designs, size=size)
    scenario = SCENARIOS[name]
    if scenario.old_snapshot:
        ready, seconds = options.snapshot_jobs or scenario.ready, options.snapshot_seconds or scenario.most_seconds
        scenario = replace(scenario, ready=ready, most_seconds=seconds)
    return measure(dsn, group, scenario, size=size, clients=clients)


def announce(run: dict, out: Path | None) -> None:
    print(f"{run['scenario']} {run['design']} x{run['size']}: {run['rate']:,.0f}/s", file=sys.stderr, flush=True)
    if out:
        with out.open("a") as file:
            file.write(json.dumps(run) + "\n")


if __name__ == "__main__":
    main()
