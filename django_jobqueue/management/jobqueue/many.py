"""Do one thing to many rows, slowly if asked, and say what became of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from django_jobqueue.exceptions import Refused
from django_jobqueue.management.jobqueue.terminal import Terminal, printable


def do_to_each(
    terminal: Terminal,
    ids: Iterable[int | str],
    deed: Callable[[int | str], object],
    *,
    done: str,
    per_second: float | None = None,
) -> bool:
    """Do it to one after the other, and answer; False where one or more were refused.

    done is the past tense of the deed. Each row is done with, for good, before the next: whoever stops the command
    halfway, or runs it again, harms nothing.
    """
    did: list[int | str] = []
    refused: list[dict[str, Any]] = []
    interrupted = False
    try:
        for pk in ids:
            if per_second and (did or refused):
                time.sleep(1 / per_second)
            try:
                deed(pk)
            except Refused as refusal:
                refused.append({"id": pk, "code": refusal.code, "message": str(refusal)})
            else:
                did.append(pk)
    except KeyboardInterrupt:
        interrupted = True
    document = {done: did, "refused": refused, "interrupted": interrupted}
    terminal.answer(document, _lines(terminal, done, len(did), refused, interrupted=interrupted))
    return not refused and not interrupted


def _lines(
    terminal: Terminal, done: str, number: int, refused: list[dict[str, Any]], *, interrupted: bool
) -> list[str]:
    lines = [terminal.style.WARNING(f"{one['code']}: {printable(one['message'])}") for one in refused]
    summary = f"{number} {done}" + (f", {len(refused)} refused" if refused else "")
    summary += ", then interrupted" if interrupted else ""
    return [*lines, summary if refused or interrupted else terminal.style.SUCCESS(summary)]
