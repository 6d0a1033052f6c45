"""How the command line shows things: tables, moments, and the words of jobs, which may be hostile."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.management.base import OutputWrapper
from django.core.management.color import Style
from django.core.serializers.json import DjangoJSONEncoder

MAX_CELL_CHARS = 60
MAX_TEXT_CHARS = 500


class Usage(Exception):
    """The command line makes no sense; the text says what would."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where a command answers: to a person in lines, or to a program in one JSON document."""

    stdout: OutputWrapper
    style: Style
    as_json: bool

    def answer(self, document: Mapping[str, Any], lines: Iterable[str]) -> None:
        """Write the document, or the lines."""
        if self.as_json:
            self.stdout.write(json.dumps(document, cls=DjangoJSONEncoder, indent=2))
            return
        for line in lines:
            self.stdout.write(line)

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
        """Lay out rows under headings; numbers stand on the right."""
        texts = [[cell(value) for value in row] for row in rows]
        widths = [max(map(len, column)) for column in zip(headings, *texts, strict=True)]
        right = [bool(rows) and all(isinstance(row[i], int | float) for row in rows) for i in range(len(headings))]

        def line(values: Sequence[str]) -> str:
            padded = [v.rjust(w) if r else v.ljust(w) for v, w, r in zip(values, widths, right, strict=True)]
            return "  ".join(padded).rstrip()

        return [self.style.MIGRATE_HEADING(line(headings)), *map(line, texts)]

    def fields(self, values: Mapping[str, Any]) -> list[str]:
        """Lay out names and values, one a line."""
        width = max(map(len, values)) + 1
        return [f"{name + ':':<{width}} {text(value, MAX_TEXT_CHARS)}" for name, value in values.items()]


def cell(value: Any) -> str:
    """Show a value in one short line."""
    return text(value, MAX_CELL_CHARS)


def text(value: Any, max_chars: int) -> str:
    """Show a value in one line of at most max_chars; a dash for nothing."""
    match value:
        case None | "":
            return "-"
        case datetime():
            return value.isoformat(timespec="seconds")
        case dict() | list():
            value = json.dumps(value, ensure_ascii=False, default=str)
    shown = printable(str(value))
    return shown if len(shown) <= max_chars else f"{shown[: max_chars - 1]}…"


def printable(words: str) -> str:
    """Write out what would move the cursor, change colours, or hide: a job's text is anybody's text."""
    return "".join([c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in words])


def printable_lines(words: str) -> list[str]:
    """Do the same to a text of several lines, such as a traceback."""
    return [printable(line.expandtabs(4)) for line in words.splitlines()]


def duration(seconds: float) -> str:
    """Show seconds as a person says them, in the two largest units: 140ms, 45s, 3m20s, 2h05m, 4d06h."""
    if seconds < 1:
        return f"{int(seconds * 1000)}ms"
    whole = int(seconds)
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if minutes == 0:
        return f"{whole}s"
    if hours == 0:
        return f"{minutes}m{whole % 60:02}s"
    if days == 0:
        return f"{hours}h{minutes % 60:02}m"
    return f"{days}d{hours % 24:02}h"
