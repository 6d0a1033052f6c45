"""Secrets in tables inside of text: CSV with a header, and tables of Markdown. The header names the column."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django_jobqueue.payload.secret_names import kind_of
from django_jobqueue.payload.secret_values import is_secret
from django_jobqueue.payload.secret_words import Kind

# JSON inside of text has its line breaks escaped, and JSON inside of that once more.
_BREAK = re.compile(r"\r?\n|\\{1,4}r\\{1,4}n|\\{1,4}n")
_RULE = re.compile(r"[\s|:+-]+")
_CELL_NAME = re.compile(r"[^\W\d][\w .()/-]{0,39}")
_DELIMITERS = "|\t;,"
_MAX_CELLS = 60


def table_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Yield where cells stand under the name of a secret."""
    columns: dict[int, Kind] = {}
    delimiter, width = "", 0
    for start, end in _lines(text):
        line = text[start:end]
        if columns:
            if _RULE.fullmatch(line):
                continue
            if line.count(delimiter) == width:
                yield from _cells(line, start, delimiter, columns)
                continue
            columns = {}
        delimiter = next((sign for sign in _DELIMITERS if sign in line), "")
        width = line.count(delimiter) if delimiter else 0
        if 1 <= width <= _MAX_CELLS:
            columns = _header(line, delimiter)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for broken in _BREAK.finditer(text):
        if broken.start() > start:
            yield start, broken.start()
        start = broken.end()
    if start < len(text):
        yield start, len(text)


def _header(line: str, delimiter: str) -> dict[int, Kind]:
    names = [cell.strip(" \"'\\") for cell in line.split(delimiter)]
    # Markdown has bars at both ends; in code a comma ends a line.
    inner = names[1:-1] if delimiter == "|" and not names[0] and not names[-1] else names
    if not all(map(_CELL_NAME.fullmatch, inner)):
        return {}
    kinds = {index: kind_of(name.replace(" ", "_")) for index, name in enumerate(names) if name}
    return {index: kind for index, kind in kinds.items() if kind is not None}


def _cells(line: str, start: int, delimiter: str, columns: dict[int, Kind]) -> Iterator[tuple[int, int]]:
    for index, cell in enumerate(line.split(delimiter)):
        value = cell.strip(" \"'\\")
        # A word may be the name of a column once more, in a table of columns.
        if index in columns and "•" not in value and not value.isalpha() and is_secret(value, columns[index]):
            at = start + cell.index(value)
            yield at, at + len(value)
        start += len(cell) + len(delimiter)
