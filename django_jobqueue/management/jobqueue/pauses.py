"""`jobqueue queues …` and `jobqueue tasks …`: what there is to do in them, and pausing them."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from functools import partial
from typing import Any

from django_jobqueue import operations, until_when
from django_jobqueue.management.jobqueue.options import add_act_options, add_common_options, moment
from django_jobqueue.management.jobqueue.terminal import Terminal, Usage, duration, printable
from django_jobqueue.models import Pause
from django_jobqueue.shown import text
from django_jobqueue.store.pause import live
from django_jobqueue.watch.glance import glance
from django_jobqueue.watch.names import hints_for
from django_jobqueue.watch.stats import QueueStats, task_stats, total

_COLUMNS = ("kind", "target", "reason", "paused_by", "paused_at", "until")
"""Without what only PostgreSQL needs."""


def add_parsers(subjects: Any) -> None:
    """Add `queues list`, `queues pause`, `queues resume`, and the same of `tasks`."""
    for kind in Pause.Kind:
        verbs = subjects.add_parser(f"{kind}s", help=f"{kind}s, and their pauses").add_subparsers(required=True)

        parser: argparse.ArgumentParser = verbs.add_parser("list", help="how deep and how old, and whether paused")
        add_common_options(parser, partial(show, kind))

        parser = verbs.add_parser("pause", help="have no worker start jobs of it; what runs runs on")
        parser.add_argument("name", metavar="NAME", help=_help(kind))
        parser.add_argument("--until", type=moment, metavar="WHEN", help=until_when.FORMS)
        add_act_options(parser, reason_required=True)
        add_common_options(parser, partial(pause, kind))

        parser = verbs.add_parser("resume", help="have workers start jobs of it again")
        parser.add_argument("name", metavar="NAME", help="as it was given to `pause`")
        add_act_options(parser)
        add_common_options(parser, partial(resume, kind))


def show(kind: Pause.Kind, terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """List the queues, or the tasks, that have something to tell, and the pauses."""
    by_name: dict[str, list[QueueStats]] = {}
    for row in task_stats(using):
        by_name.setdefault(row.queue_name if kind == Pause.Kind.QUEUE else row.task, []).append(row)
    pauses = [pause for pause in pauses_of(using) if pause.kind == kind]
    figures = {name: total(rows) for name, rows in sorted(by_name.items())}
    documents = [_figures(kind, name, stats, pauses) for name, stats in figures.items()]
    cells = [
        [name, stats.depth, _age(stats), stats.running, ", ".join(paused_by(pauses, **_named(kind, name)))]
        for name, stats in figures.items()
    ]
    headings = [str(kind), "depth", "oldest", "running", "paused"]
    lines = terminal.table(headings, cells) if cells else [f"no {kind}s"]
    terminal.answer({f"{kind}s": documents, "pauses": documents_of(pauses)}, [*lines, *lines_of(terminal, pauses)])
    return True


def pause(kind: Pause.Kind, terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """Pause it, and say so where nothing has that name."""
    if not options["reason_text"].strip():
        raise Usage("--reason-text is empty; say why it is paused: somebody will ask at night")
    signed = {"by": options["by"], "reason": options["reason_text"]}
    done = operations.pause(**_named(kind, options["name"]), until=options["until"], using=using, **signed)
    hints = hints_for(done, using)
    until = f"until {done.until.isoformat(timespec='seconds')}" if done.until else "until somebody resumes it"
    lines = [terminal.style.SUCCESS(printable(f"{done} is paused {until}; what runs runs on"))]
    document = {"paused": documents_of([done])[0], "hints": [text(one) for one in hints]}
    terminal.answer(document, [*lines, *(terminal.style.WARNING(printable(text(one))) for one in hints)])
    return True


def resume(kind: Pause.Kind, terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """Resume it, and say what else keeps it paused."""
    signed = {"by": options["by"], "reason": options["reason_text"]}
    named = _named(kind, options["name"])
    over = operations.resume(**named, using=using, **signed)
    others = [each for each in pauses_of(using) if each.kind == kind and each.covers(**named)]
    lines = [terminal.style.SUCCESS(printable(f"{over} is resumed; {over.paused_by} had paused it: {_why(over)}"))]
    lines += [terminal.style.WARNING(printable(f"{other} is still paused, and that covers it")) for other in others]
    terminal.answer({"resumed": documents_of([over])[0], "still_paused_by": documents_of(others)}, lines)
    return True


def pauses_of(using: str) -> list[Pause]:
    """Read what is paused."""
    with glance(using):
        return list(live(using))


def paused_by(pauses: Iterable[Pause], **named: Any) -> list[str]:
    """Name the pauses that cover a queue, a task or both."""
    return [pause.target for pause in pauses if pause.covers(**named)]


def documents_of(pauses: Iterable[Pause]) -> list[dict[str, Any]]:
    """Tell of pauses for --json."""
    return [{name: getattr(pause, name) for name in _COLUMNS} | {"reason": _why(pause)} for pause in pauses]


def lines_of(terminal: Terminal, pauses: list[Pause]) -> list[str]:
    """Tell of pauses, if there are any, below something else."""
    if not pauses:
        return []
    headings = ["paused", "by", "since", "until", "because"]
    cells = [[str(pause), pause.paused_by, pause.paused_at, pause.until, _why(pause)] for pause in pauses]
    return ["", *terminal.table(headings, cells)]


def _figures(kind: Pause.Kind, name: str, stats: QueueStats, pauses: list[Pause]) -> dict[str, Any]:
    named = _named(kind, name)
    return {
        **({"queue_name": name} if kind == Pause.Kind.QUEUE else named),
        "depth": stats.depth,
        "oldest_ready_seconds": stats.oldest_ready_seconds,
        "running": stats.running,
        "lower_bounds": sorted(stats.lower_bounds & {"depth", "running"}),
        "paused_by": paused_by(pauses, **named),
    }


def _named(kind: Pause.Kind, name: str) -> dict[str, str]:
    return {"queue_name": name} if kind == Pause.Kind.QUEUE else {"task": name}


def _why(pause: Pause) -> str:
    return text(pause.reason)


def _age(stats: QueueStats) -> str | None:
    return duration(stats.oldest_ready_seconds) if stats.oldest_ready_seconds else None


def _help(kind: Pause.Kind) -> str:
    what = "stored name of a task" if kind == Pause.Kind.TASK else "name of a queue"
    return f"{what}, or the beginning of several and *, in quotes: 'mail-*'"
