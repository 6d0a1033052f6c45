"""`jobqueue prune`: delete what nobody needs any more."""

from __future__ import annotations

from typing import Any

from django_jobqueue import operations
from django_jobqueue.management.jobqueue.options import add_common_options
from django_jobqueue.management.jobqueue.terminal import Terminal


def add_parsers(subjects: Any) -> None:
    """Add `prune`."""
    parser = subjects.add_parser("prune", help="delete records of `once` whose time is over")
    add_common_options(parser, prune)


def prune(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """Delete them, and say how many there were."""
    effects = operations.prune(using=using)
    terminal.answer({"effects": effects}, [f"{effects} records of once deleted"])
    return True
