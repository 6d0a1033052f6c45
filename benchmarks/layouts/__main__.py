"""Run designs through scenarios in rounds and print the report."""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from . import report
from .cluster import throwaway_cluster
from .designs import DESIGNS, Design
from .scenarios import SCENARIOS, measure, measure_churn, measure_renewals


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
    parser.add_argument(
        "--dsn", help="use this server instead of a throw-away cluster (its schemas lane_0, lane_1 … are dropped)"
    )
    parser.add_argument("--scenario", action="append", choices=[*SCENARIOS, "renew", "churn"], help="default: base")
    parser.add_argument(
        "--design", action="append", choices=list(DESIGNS), help="default: all; raw always runs besides"
    )
    parser.add_argument("--size", action="append", type=int, help="jobs in a batch; default: 100 and 200")
    parser.add_argument("--clients", action="append", type=int, help="clients at once; default: 1")
    parser.add_argument(
        "--floor", action="store_true", help="measure each design besides with a low-water mark, where it has one"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--side-by-side",
        type=int,
        default=2,
        help="designs at a time besides raw and plain; more crowd the shared buffers",
    )
    parser.add_argument(
        "--snapshot-seconds", type=float, help="drain each design at most this long under the old snapshot; default: 60"
    )
    parser.add_argument("--snapshot-jobs", type=int, help="drain this many jobs under it; default: 300,000")
    parser.add_argument("--out", type=Path, help="append each run to this file, a JSON object a line")
    parser.add_argument("--render", type=Path, help="measure nothing: report the runs of this file")
    return parser.parse_args()


def run_all(dsn: str, options: argparse.Namespace) -> list[dict]:
    """Run every scenario in every round; a few designs side by side at a time, always with raw and plain among them."""
    runs: list[dict] = []
    for round_number in range(options.rounds):
        for name in options.scenario or ["base"]:
            for size in options.size or [100, 200]:
                for clients in options.clients or [1]:
                    for group in groups(options, name):
                        for run in run_group(dsn, options, name, group, size, clients):
                            runs.append({"round": f"{round_number} {group[-1][0].name}"} | run)
                            announce(runs[-1], options.out)
    return runs


def groups(options: argparse.Namespace, scenario: str) -> list[list[tuple[Design, bool]]]:
    """Return pairs of a design and whether its claims start at a floor, a few at a time."""
    others = [(DESIGNS[name], False) for name in options.design or DESIGNS if name not in ("raw", "plain")]
    if options.floor:
        others += [(DESIGNS[name], True) for name in options.design or ["plain"] if DESIGNS[name].claim_above_floor]
    random.shuffle(others)
    base = [(DESIGNS["plain"], False)] if scenario == "renew" else [(DESIGNS["raw"], False), (DESIGNS["plain"], False)]
    step = options.side_by_side
    return [base + others[first : first + step] for first in range(0, max(1, len(others)), step)]


def run_group(
    dsn: str, options: argparse.Namespace, name: str, group: list[tuple[Design, bool]], size: int, clients: int
) -> list[dict]:
    if name == "renew":
        return measure_renewals(dsn, [design for design, _ in group])
    if name == "churn":
        return measure_churn(dsn, [design for design, _ in group], size=size)
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
