"""The table: one line a budget."""

from __future__ import annotations

import os
import platform
import time
from typing import NamedTuple

from benchmarks.budgets import marks


class Line(NamedTuple):
    """A budget, and what was measured."""

    name: str
    budget: float
    unit: str
    figures: list[float]


def render(lines: list[Line]) -> str:
    """Write the table."""
    version = marks.ask("SHOW server_version").split()[0]
    load = ", ".join(f"{number:.1f}" for number in os.getloadavg())
    width = max(len(line.name) for line in lines)
    rows = [
        f"Time budgets, {time.strftime('%Y-%m-%d', time.gmtime())}: "
        f"Python {platform.python_version()}, PostgreSQL {version} on the same machine, {os.cpu_count()} CPUs, "
        f"load average at the end {load}.",
        "",
        f"{'':<{width}}  {'budget':>8}  {'n':>4}  {'p50':>7}  {'p99':>7}  {'max':>7}  within",
    ]
    for line in lines:
        figures = sorted(line.figures)
        values = [percentile(figures, 0.5), percentile(figures, 0.99), figures[-1]]
        cells = "  ".join(f"{value:>5.2f} {line.unit}" for value in values)
        within = "yes" if figures[-1] <= line.budget else "NO"
        rows.append(f"{line.name:<{width}}  {line.budget:>6.2f} {line.unit}  {len(figures):>4}  {cells}  {within}")
    return "\n".join(rows) + "\n"


def percentile(values: list[float], part: float) -> float:
    """Take a value from a sorted list."""
    return values[min(len(values) - 1, int(len(values) * part))]
