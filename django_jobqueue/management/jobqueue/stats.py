"""`jobqueue stats`: the figures of every queue."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from django_jobqueue.management.jobqueue.options import add_common_options, filter_hints
from django_jobqueue.management.jobqueue.pauses import documents_of, lines_of, paused_by, pauses_of
from django_jobqueue.management.jobqueue.terminal import Terminal, duration
from django_jobqueue.models import Pause
from django_jobqueue.watch.stats import QueueStats, queue_stats, task_stats, total

_COUNTS = ("depth", "running", "scheduled", "retrying", "snoozed", "unknown", "dead")
_MEANING = (
    "depth: jobs that could start now. oldest: how long the oldest of them has been due. failed: of the attempts that "
    "ended in the last hour, the share that failed, timed out or was lost. unknown: jobs whose task, or version of it, "
    "no living worker knows, and how long the oldest of them has been put aside."
)


def add_parsers(subjects: Any) -> None:
    """Add `stats`."""
    parser: argparse.ArgumentParser = subjects.add_parser(
        "stats", help="depth, age, failures and dead letters", epilog=_MEANING
    )
    parser.add_argument("--queue", metavar="NAME", help="only this one")
    parser.add_argument("--by-task", action="store_true", help="a row for each task in each queue")
    add_common_options(parser, stats)


def stats(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """Show a row for each queue, and their total."""
    rows = task_stats(using) if options["by_task"] else queue_stats(using)
    busy = {row.queue_name for row in rows}
    if options["queue"] is not None:
        rows = [row for row in rows if row.queue_name == options["queue"]]
    everything, pauses = total(rows), pauses_of(using)
    document = {
        "queues": [_document(row) | {"paused_by": _paused_by(pauses, row, **options)} for row in rows],
        "total": _document(everything),
        "pauses": documents_of(pauses),
    }
    hints = [] if rows else filter_hints({"queue": options["queue"]}, queues=busy)
    lines = _lines(terminal, rows, everything, by_task=options["by_task"])
    terminal.answer(document, [*lines, *lines_of(terminal, pauses), *hints])
    return True


def _paused_by(pauses: list[Pause], row: QueueStats, *, by_task: bool, **_: Any) -> list[str]:
    """Name the pauses of a whole queue, or of a task in it."""
    return paused_by(pauses, queue_name=row.queue_name, task=row.task if by_task else None)


def _document(stats: QueueStats) -> dict[str, Any]:
    return asdict(stats) | {"failure_rate": stats.failure_rate, "lower_bounds": sorted(stats.lower_bounds)}


def _lines(terminal: Terminal, rows: list[QueueStats], everything: QueueStats, *, by_task: bool) -> list[str]:
    names = ["queue", "task"] if by_task else ["queue"]
    headings = [*names, "depth", "oldest", *_COUNTS[1:], "failed"]
    cells = [[row.queue_name, row.task][: len(names)] + _figures(row) for row in rows]
    cells.append(["total", ""][: len(names)] + _figures(everything))
    lines = terminal.table(headings, cells)
    return [*lines[:-1], terminal.style.SUCCESS(lines[-1])]


def _figures(row: QueueStats) -> list[Any]:
    counts: list[Any] = [_count(row, name) for name in _COUNTS]
    oldest = duration(row.oldest_ready_seconds) if row.oldest_ready_seconds else None
    rate = None if row.failure_rate is None else f"{row.failure_rate:.1%} of {row.attempts_ended}"
    return [counts[0], oldest, *counts[1:], rate]


def _count(row: QueueStats, name: str) -> int | str:
    number: int = getattr(row, name)
    shown = f"{number}+" if name in row.lower_bounds else number
    if name == "unknown" and number:
        return f"{shown} ({duration(row.oldest_unknown_seconds)})"
    return shown
