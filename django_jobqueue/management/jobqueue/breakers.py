"""`jobqueue breakers …`: which circuit breakers there are and how they stand, and setting them by hand."""

from __future__ import annotations

import argparse
from contextlib import suppress
from typing import Any

from django_jobqueue import breakers, operations, until_when
from django_jobqueue.management.jobqueue.options import add_act_options, add_common_options, moment
from django_jobqueue.management.jobqueue.terminal import Terminal, Usage, printable
from django_jobqueue.models import CircuitBreaker
from django_jobqueue.policy.breaker import State
from django_jobqueue.shown import text
from django_jobqueue.store.breakers import known
from django_jobqueue.watch.glance import glance

_COLUMNS = ("name", "state", "ended", "tripped", "last_failure", "openings", "changed_at", "opened_at", "next_probe_at")


def add_parsers(subjects: Any) -> None:
    """Add `breakers list`, `breakers open` and `breakers close`."""
    verbs = subjects.add_parser("breakers", help="circuit breakers of tasks").add_subparsers(required=True)

    parser: argparse.ArgumentParser = verbs.add_parser("list", help="how each stands, why, and when it is probed")
    add_common_options(parser, show)

    parser = verbs.add_parser("open", help="have no worker start jobs of its tasks; what runs runs on")
    parser.add_argument("name", metavar="NAME", help="of the breaker")
    parser.add_argument("--until", type=moment, metavar="WHEN", help=f"when probes may start: {until_when.FORMS}")
    add_act_options(parser, reason_required=True)
    add_common_options(parser, open_)

    parser = verbs.add_parser("close", help="have workers start jobs of its tasks again, a few at first")
    parser.add_argument("name", metavar="NAME", help="of the breaker")
    add_act_options(parser, reason_required=True)
    add_common_options(parser, close)


def show(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """List the breakers that workers have made known, and those that code declares."""
    tasks: dict[str, list[str]] = {}
    # A module that is broken is told by the worker; what is known of the others helps whoever looks now.
    with suppress(ImportError):
        tasks = {name: names for name, (_rules, names) in breakers.declared().items()}
    with glance(using):
        rows = list(known(using))
    documents = [document_of(row) | {"tasks": tasks.get(row.name, [])} for row in rows]
    documents += [
        {"name": name, "state": State.CLOSED.value, "tasks": names}
        for name, names in sorted(tasks.items())
        if name not in {row.name for row in rows}
    ]
    cells = [
        [each["name"], each["state"], _counted(each), each.get("next_probe_at"), _why(each), ", ".join(each["tasks"])]
        for each in documents
    ]
    headings = ["breaker", "state", "failed", "next probe", "because", "tasks"]
    lines = terminal.table(headings, cells) if cells else ["no task has a circuit breaker"]
    terminal.answer({"breakers": documents}, lines)
    return True


def open_(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """Open one."""
    row = operations.open_breaker(options["name"], until=options["until"], using=using, **_signed(options))
    when = f"probes may start at {row.next_probe_at.isoformat(timespec='seconds')}" if row.next_probe_at else ""
    ends = when or "until somebody closes it"
    terminal.answer(
        {"opened": document_of(row)},
        [terminal.style.SUCCESS(printable(f"breaker {row} is open, {ends}; what runs runs on"))],
    )
    return True


def close(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """Close one."""
    row = operations.close_breaker(options["name"], using=using, **_signed(options))
    terminal.answer(
        {"closed": document_of(row)},
        [terminal.style.SUCCESS(printable(f"breaker {row} is closed; its jobs start in growing numbers"))],
    )
    return True


def document_of(row: CircuitBreaker) -> dict[str, Any]:
    """Tell of a breaker for --json."""
    return {name: getattr(row, name) for name in _COLUMNS} | {"reason": text(row.reason), "set_by": row.set_by}


def _signed(options: dict[str, Any]) -> dict[str, Any]:
    if not options["reason_text"].strip():
        raise Usage("--reason-text is empty; say why: somebody will ask at night")
    return {"by": options["by"], "reason": options["reason_text"]}


def _counted(document: dict[str, Any]) -> str:
    return f"{document['tripped']} of {document['ended']}" if document.get("ended") else ""


def _why(document: dict[str, Any]) -> str:
    by = f"{document['set_by']}: " if document.get("set_by") else ""
    return f"{by}{document.get('reason', '')}"
