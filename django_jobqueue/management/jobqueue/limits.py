"""`jobqueue limits …`: how many jobs of a queue, a task or a concurrency key run at once, and setting that."""

from __future__ import annotations

import argparse
from typing import Any

from django_jobqueue import operations
from django_jobqueue.management.jobqueue.options import add_act_options, add_common_options
from django_jobqueue.management.jobqueue.terminal import Terminal, Usage, printable
from django_jobqueue.models import Limit
from django_jobqueue.queue_policy import MAX_AT_ONCE
from django_jobqueue.shown import text
from django_jobqueue.watch.limits import Standing, hints_for, limits_now

_PARAMETERS = {Limit.Kind.QUEUE: "queue_name", Limit.Kind.TASK: "task", Limit.Kind.KEY: "key"}
"""Of `operations.set_limit`, by kind."""

_COLUMNS = ("kind", "target", "at_once", "reason", "set_by", "set_at")


def add_parsers(subjects: Any) -> None:
    """Add `limits list`, `limits set` and `limits clear`."""
    verbs = subjects.add_parser("limits", help="how many jobs run at once").add_subparsers(required=True)

    parser: argparse.ArgumentParser = verbs.add_parser("list", help="what holds, what is taken, who has set what")
    add_common_options(parser, show)

    parser = verbs.add_parser("set", help="have so many jobs run at once, whatever the code declares")
    _add_target(parser)
    parser.add_argument(
        "--at-once", type=_at_once, required=True, metavar="N", help="so many jobs; 0 is none. What runs runs on"
    )
    add_act_options(parser, reason_required=True)
    add_common_options(parser, set_limit)

    parser = verbs.add_parser("clear", help="have what the code declares hold again")
    _add_target(parser)
    add_act_options(parser)
    add_common_options(parser, clear)


def show(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """List the limits that have live jobs under them or were set, and below who set which."""
    found = limits_now(using)
    cells = [
        [
            _name(row), _numbers(row.at_once), _count(row, "taken"), _count(row, "waiting"), _numbers(row.declared),
            row.set_by_hand and row.set_by_hand.set_by,
        ]
        for row in found.rows
    ]  # fmt: skip
    by_hand = {row.set_by_hand.pk: row.set_by_hand for row in found.rows if row.set_by_hand}
    headings = ["limit", "at once", "taken", "waiting", "declared", "set by"]
    lines = terminal.table(headings, cells) if cells else ["no job is under a limit, and none was set"]
    lines += [] if found.is_all else ["there are more: so many keys have jobs waiting that not all were looked at"]
    if by_hand:
        told = [[_named(limit), limit.at_once, limit.set_by, limit.set_at, _why(limit)] for limit in by_hand.values()]
        lines += ["", *terminal.table(["set by hand", "at once", "by", "since", "because"], told)]
    terminal.answer({"limits": [_document(row) for row in found.rows], "is_all": found.is_all}, lines)
    return True


def set_limit(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """Set it, and say so where it changes nothing."""
    if not options["reason_text"].strip():
        raise Usage("--reason-text is empty; say why it is limited: somebody will ask at night")
    signed = {"by": options["by"], "reason": options["reason_text"]}
    limit = operations.set_limit(**_target(options), at_once=options["at_once"], using=using, **signed)
    assert limit is not None  # noqa: S101 - None is what taking one back answers with
    hints = [text(one) for one in hints_for(limit, using)]
    said = f"{_named(limit)} runs {limit.at_once} at once from now on; what runs runs on"
    lines = [terminal.style.SUCCESS(printable(said)), *(terminal.style.WARNING(printable(one)) for one in hints)]
    terminal.answer({"limit": _limit(limit), "hints": hints}, lines)
    return True


def clear(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """Take back what was set, and say what holds again."""
    target = _target(options)
    operations.set_limit(**target, at_once=None, using=using, by=options["by"], reason=options["reason_text"])
    (kind,) = (kind for kind, parameter in _PARAMETERS.items() if parameter in target)
    (name,) = target.values()
    found = limits_now(using)
    left = found.find(kind, name.strip())
    declared = [min(row.declared[0] for row in left), max(row.declared[1] for row in left)] if left else []
    unseen = "no live job is under one" if found.is_all else "what its jobs say holds"
    again = f"its jobs say {_numbers(declared)}" if declared else unseen
    said = f"{kind} {text(name)} is limited by nobody's hand any more; {again}"
    terminal.answer(
        {"cleared": {"kind": str(kind), "target": text(name)}, "declared": _declared(declared)},
        [terminal.style.SUCCESS(printable(said))],
    )
    return True


def _add_target(parser: argparse.ArgumentParser) -> None:
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--queue", metavar="NAME", help="of a queue, which has max_running in OPTIONS")
    target.add_argument(
        "--task", metavar="NAME", help="stored name of a task, which has a concurrency_limit and no key"
    )
    target.add_argument("--key", metavar="KEY", help="a concurrency key, as it is in the jobs: 'tenant:5'")


def _target(options: dict[str, Any]) -> dict[str, str]:
    return {
        parameter: options[kind.value] for kind, parameter in _PARAMETERS.items() if options[kind.value] is not None
    }


def _at_once(typed: str) -> int:
    if typed.isdecimal() and typed.isascii() and len(typed) < 10 and int(typed) <= MAX_AT_ONCE:
        return int(typed)
    raise argparse.ArgumentTypeError(
        f"takes a whole number from 0 to {MAX_AT_ONCE}, not {typed!r}; `jobqueue limits clear` takes a limit back"
    )


def _document(row: Standing) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "target": row.shown_target,
        "backend": row.backend or None,
        "at_once": row.at_once[-1],
        "declared": _declared(row.declared),
        "taken": row.taken,
        "waiting": row.waiting,
        "lower_bounds": sorted(row.lower_bounds),
        "set_by_hand": row.set_by_hand and _limit(row.set_by_hand),
    }


def _limit(limit: Limit) -> dict[str, Any]:
    return {name: getattr(limit, name) for name in _COLUMNS} | {"target": text(limit.target), "reason": _why(limit)}


def _declared(numbers: list[int]) -> dict[str, int] | None:
    return {"least": numbers[0], "most": numbers[1]} if numbers else None


def _name(row: Standing) -> str:
    return f"{row.kind} {row.shown_target}" + (f" ({row.backend})" if row.backend not in ("", "default") else "")


def _named(limit: Limit) -> str:
    return f"{limit.kind} {text(limit.target)}"


def _numbers(numbers: list[int]) -> str:
    """Write one number, or two where jobs of before and after a deploy say different ones."""
    return "–".join(map(str, dict.fromkeys(numbers)))  # noqa: RUF001 - an en dash between two figures is meant


def _count(row: Standing, name: str) -> str:
    return f"{getattr(row, name)}{'+' if name in row.lower_bounds else ''}"


def _why(limit: Limit) -> str:
    return text(limit.reason)
