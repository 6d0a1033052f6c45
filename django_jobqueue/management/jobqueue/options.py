"""What several subcommands are asked in the same words."""

from __future__ import annotations

import argparse
import getpass
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django_jobqueue import registry, until_when
from django_jobqueue.management.jobqueue.terminal import Terminal, Usage, printable
from django_jobqueue.watch.names import hint, queue_names, task_names

MAX_ROWS = 1000
"""Most that a list shows."""

MAX_BATCH = 10_000
"""Most that one command changes by a filter."""


Run = Callable[[Terminal, str, dict[str, Any]], bool]
"""What a subcommand does: answers on the terminal about a database; False where something was refused."""


def add_common_options(parser: argparse.ArgumentParser, run: Run) -> None:
    """Add what every subcommand takes, and say what it runs."""
    parser.add_argument("--json", action="store_true", help="answer with one JSON document")
    parser.add_argument("--backend", default="default", metavar="ALIAS", help="of TASKS; default %(default)s")
    parser.set_defaults(run=run)


def add_list_options(parser: argparse.ArgumentParser) -> None:
    """Add how many rows to show, and where to go on."""
    parser.add_argument("--limit", type=_number_up_to(MAX_ROWS), default=20, help="how many rows; default 20")
    parser.add_argument("--before", type=int, metavar="ID", help="go on below the last row of an earlier list")


def add_act_options(parser: argparse.ArgumentParser, *, reason_required: bool = False) -> None:
    """Add who does it and why, for a verb that changes rows."""
    parser.add_argument("--by", default=default_actor(), help="who does this; default %(default)s")
    parser.add_argument(
        "--reason-text", default="", required=reason_required, metavar="TEXT", help="why, for the audit trail"
    )


def add_choice_options(parser: argparse.ArgumentParser) -> None:
    """Add how to choose rows without naming them."""
    parser.add_argument("--all", action="store_true", help="whatever there is; needs --yes")
    parser.add_argument("--yes", action="store_true", help="mean it")
    parser.add_argument(
        "--limit",
        type=_number_up_to(MAX_BATCH),
        default=1000,
        help="at most so many by a filter, oldest first; default 1000. Run the command again for the rest",
    )


def chosen(ids: Sequence[str], filters: dict[str, Any], *, everything: bool, sure: bool) -> bool:
    """Say whether rows were named (True) or are to be found by filter (False). Raises Usage where neither is clear."""
    if ids:
        if filters or everything:
            raise Usage("name ids or give a filter, not both")
        return True
    if filters and everything:
        raise Usage("--all means no filter")
    if everything and not sure:
        raise Usage("--all takes all there are; add --yes if you mean it")
    if not filters and not everything:
        raise Usage("name ids, or give a filter; --all --yes takes all there are")
    return False


def given(options: dict[str, Any], **columns: str) -> dict[str, Any]:
    """Pick the filters that were typed: option name = column."""
    return {column: options[name] for name, column in columns.items() if options[name] is not None}


def filter_hints(options: dict[str, Any], *, queues: Iterable[str] = ()) -> list[str]:
    """Say, where a filter found nothing, what of it is no name, and which may have been meant.

    queues are names that are known to the caller. Those of tasks and of QUEUES are added.
    """
    try:
        tasks = registry.known_tasks()
    except ImportError:
        return []
    hints = [
        hint("task is named", options.get("task"), task_names(tasks)),
        hint("task has the queue", options.get("queue"), queue_names(tasks, queues)),
    ]
    return [printable(one) for one in hints if one]


def is_no_task(options: dict[str, Any]) -> bool:
    """Say whether --task names no task of the code that is here. A queue may have any name, and be empty just now."""
    return bool(filter_hints({"task": options["task"]}))


def default_actor() -> str:
    """Sign as `cli:` and the name of the operating system's user."""
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError, ImportError):
        # A container may run under a number without a name.
        return f"cli:{os.getuid()}"


def _number_up_to(maximum: int) -> Any:
    def number(typed: str) -> int:
        if typed.isdecimal() and 0 < int(typed) <= maximum:
            return int(typed)
        raise argparse.ArgumentTypeError(f"takes a number from 1 to {maximum}, not {typed!r}")

    return number


def moment(typed: str) -> Any:
    """Read when something is to end: a duration or a moment."""
    try:
        return until_when.read(typed)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
