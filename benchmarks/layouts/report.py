"""Turn runs into a table of medians, and of ratios taken within each round."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import median

COLUMNS = {
    "rate": "jobs/s",
    "to_raw": "of raw",
    "to_plain": "of plain",
    "cpu_us": "CPU us/job",
    "cpu_to_plain": "CPU of plain",
    "claim_buffers": "claim buffers",
    "settle_buffers": "settle buffers",
    "wal": "WAL bytes/job",
    "table_bytes": "table bytes/job",
    "index_bytes": "index bytes/job",
    "hot": "HOT",
    "load_cpu_us": "load CPU us",
    "load_wal": "load WAL",
    "rescue_ms": "rescue ms",
    "rescue_floor_ms": "rescue since last scan ms",
    "promote_ms": "promote ms",
}
FRACTIONS = {"to_raw", "to_plain", "cpu_to_plain", "hot"}


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def render(runs: Iterable[dict]) -> str:
    """Return one Markdown table for each (scenario, batch size, clients)."""
    tables: dict[tuple, list[dict]] = defaultdict(list)
    for run in with_ratios(list(runs)):
        tables[run["scenario"], run["size"], run["clients"]].append(run)
    return "\n\n".join(render_table(key, tables[key]) for key in sorted(tables))


def with_ratios(runs: list[dict]) -> list[dict]:
    """Add the ratio of each run to the raw and the plain run of its own round."""
    beside = {(run["round"], run["scenario"], run["size"], run["clients"], run["design"]): run for run in runs}
    for run in runs:
        key = (run["round"], run["scenario"], run["size"], run["clients"])
        if raw := beside.get((*key, "raw")):
            run["to_raw"] = run["rate"] / raw["rate"]
        if plain := beside.get((*key, "plain")):
            run["to_plain"] = run["rate"] / plain["rate"]
            run["cpu_to_plain"] = run["cpu_us"] / plain["cpu_us"]
    return runs


def render_table(key: tuple, runs: list[dict]) -> str:
    names = list(dict.fromkeys(run["design"] for run in runs))
    # Plain runs in every group: as many runs of it as groups.
    columns = [column for column in COLUMNS if any(column in run for run in runs)]
    lines = [
        f"**{key[0]}**, batch {key[1]}, {key[2]} client(s), medians",
        "",
        "| design | " + " | ".join(COLUMNS[column] for column in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for name in names:
        mine = [run for run in runs if run["design"] == name]
        lines.append(f"| {name} | " + " | ".join(cell(column, mine) for column in columns) + " |")
    if key[0] == "snapshot":
        lines += [tenths(run) for run in runs]
    return "\n".join(lines)


def tenths(run: dict) -> str:
    """Say how the rate fell, tenth by tenth of what was drained."""
    rates = run["tenths"]
    rescans = f", rescans {run['rescan_ms']} ms" if "rescan_ms" in run else ""
    if not rates:
        return ""
    cpu = f"CPU us/job {run['tenths_cpu_us']}"
    return f"\n{run['design']}: by tenth {rates}, last / first {rates[-1] / rates[0]:.2f}; {cpu}{rescans}"


def cell(column: str, runs: list[dict]) -> str:
    values = [run[column] for run in runs if run.get(column) is not None]
    if not values:
        return "–"
    middle = median(values)
    if column in FRACTIONS:
        spread = f" ({min(values):.2f}–{max(values):.2f})" if len(values) > 1 and column != "hot" else ""
        return f"{middle:.2f}{spread}"
    return f"{middle:,.0f}" if abs(middle) >= 100 else f"{middle:.1f}"


def render_plans(runs: Iterable[dict]) -> str:
    """Name the scans that each design's claim and settle used, once each."""
    seen = dict.fromkeys((run["scenario"], run["design"], run["plans"]) for run in runs if run.get("plans"))
    return "\n".join(f"- {scenario}, {design}: {plans}" for scenario, design, plans in seen)
