"""The command: one drill after the other, then a table."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.budgets.settings"

import django

django.setup()

from django.core.management import call_command
from django.db import connection

from benchmarks.budgets import drills, marks, tasks
from benchmarks.budgets.report import Line, render

POLL = 1.2
"""The longest wait between two polls at the defaults, in seconds."""


def main() -> None:
    """Run the drills and print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.budgets", description=__doc__)
    parser.add_argument("--samples", type=int, default=30, help="How often each thing happens.")
    parser.add_argument("--only", default="", help="A word of the budgets' names.")
    parser.add_argument("--out", type=Path, help="Write the table to this file, too.")
    options = parser.parse_args()
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {connection.settings_dict['NAME']} WITH (FORCE)")
        cursor.execute(f"CREATE DATABASE {connection.settings_dict['NAME']}")
    call_command("migrate", verbosity=0)
    marks.create()
    lines = []
    for line in measure(options.samples, options.only):
        print(f"{line.name}: {max(line.figures):.2f} {line.unit} at most", file=sys.stderr)
        lines.append(line)
    table = render(lines)
    print(table)
    if options.out:
        options.out.write_text(table)


def measure(samples: int, only: str) -> Iterator[Line]:
    """Run the drills whose name has this word in it."""
    simple = {
        "a runner dies: attempt closed, slot replaced": (2.0, "s", drills.child_dies),
        f"a keeper dies: job started elsewhere (lease {drills.LEASE} s)": (drills.LEASE + 6.0, "s", drills.keeper_dies),
        f"SIGTERM: exit (grace {drills.GRACE} s, a longer job in hand)": (drills.GRACE + 2.0, "s", drills.stop),
        "second SIGTERM: exit, job handed back": (2.0, "s", drills.stop_now),
        "a wake-up is lost: job started": (POLL, "s", drills.unheard),
        "a poison job beside short ones: slower by": (2.0, "×", drills.poison),
    }
    for name, (budget, unit, drill) in simple.items():
        if only in name:
            yield Line(name, budget, unit, drill(samples))
    if only in "a hung job is killed":
        for what, figures in drills.hung(samples):
            name = f"a hung job is killed: {what} (timeout {tasks.TIMEOUT:g} s)"
            yield Line(name, tasks.TIMEOUT + 2.0, "s", figures)


if __name__ == "__main__":
    main()
