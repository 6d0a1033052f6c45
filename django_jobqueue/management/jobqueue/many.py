"""Do one thing to many rows, slowly if asked, and say what became of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django_jobqueue.exceptions import Refused
from django_jobqueue.management.jobqueue.terminal import Terminal, printable
from django_jobqueue.shown import text

MAX_TOLD = 20
"""Rows that a person is told of one by one; --json tells of all."""


@dataclass(frozen=True, slots=True)
class Told:
    """What was done to one row: a line without its verb, the same for --json, and the verb if it is another here."""

    line: str
    document: dict[str, Any]
    done: str = ""


def do_to_each(
    terminal: Terminal,
    ids: Iterable[int | str],
    deed: Callable[[int | str], object],
    *,
    done: str,
    in_all: str = "",
    per_second: float | None = None,
    hints: Callable[[], list[str]] = list,
    is_mistyped: Callable[[], bool] = bool,
) -> bool:
    """Do it to one after the other, and answer; False where one or more were refused.

    done is the past tense of the deed, which may answer with what there is to tell of the row; in_all the same for the
    last line, if it needs other words; hints what to add where no row was found, and is_mistyped whether that is an
    error. Each row is done with, for good, before the next: whoever stops the command halfway, or runs it again, harms
    nothing.
    """
    did: list[int | str] = []
    words: list[Told] = []
    refused: list[dict[str, Any]] = []
    interrupted = False
    try:
        for pk in ids:
            if per_second and (did or refused):
                time.sleep(1 / per_second)
            try:
                answer = deed(pk)
            except Refused as refusal:
                refused.append({"id": pk, "code": refusal.code, "message": text(str(refusal))})
            else:
                did.append(pk)
                words += [answer] if isinstance(answer, Told) else []
    except KeyboardInterrupt:
        interrupted = True
    found_nothing = not did and not refused
    told_besides = hints() if found_nothing else []
    document = {
        done: did,
        "details": [one.document for one in words],
        "refused": refused,
        "interrupted": interrupted,
        "hints": told_besides,
    }
    lines = [f"{printable(one.line)} {one.done or done}" for one in words[:MAX_TOLD]]
    if len(words) > MAX_TOLD:
        lines.append(f"… and {len(words) - MAX_TOLD} more")
    # One line for one row says it all.
    if len(words) != 1 or refused or interrupted:
        lines += _summary(terminal, in_all or done, len(did), refused, interrupted=interrupted)
    terminal.answer(document, [*lines, *told_besides])
    return not refused and not interrupted and not (found_nothing and is_mistyped())


def _summary(
    terminal: Terminal, done: str, number: int, refused: list[dict[str, Any]], *, interrupted: bool
) -> list[str]:
    lines = [terminal.style.WARNING(f"{one['code']}: {printable(one['message'])}") for one in refused]
    summary = f"{number} {done}" + (f", {len(refused)} refused" if refused else "")
    summary += ", then interrupted" if interrupted else ""
    return [*lines, summary if refused or interrupted else terminal.style.SUCCESS(summary)]
