"""One text inside another, in every form that messages and logs write it in."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable, Iterator
from urllib.parse import quote, quote_plus

from django_jobqueue.payload.escapes import escaped_forms

HEAD = 20
"""Characters of a long value that give it away when the rest of it was cut off."""
_SHORT = 8
_ENCODED = re.compile("%[0-9A-F]{2}")


def forms_of_literal(value: str) -> list[str]:
    """Write a value as `whole_forms` does; and each line of a value of several."""
    # A group of exceptions puts a bar before each line.
    lines = [line for line in map(str.strip, value.splitlines()) if len(line) >= _SHORT]
    return list(dict.fromkeys([*whole_forms(value), *lines]))


def whole_forms(value: str) -> list[str]:
    """Write a value as it is, and as repr, JSON, a URL, HTML and base64 do; and without the space around it.

    Files and vaults end a value with a newline, and programs strip it.
    """
    forms = [form for text in dict.fromkeys((value, value.strip())) if text for form in _forms_of(text)]
    return list(dict.fromkeys(forms))


def _forms_of(value: str) -> list[str]:
    encoded = value.encode("utf-8", "surrogatepass")
    forms = [
        value,
        *escaped_forms(value),
        quote(encoded),
        quote(encoded, safe=""),
        quote_plus(encoded),
        html.escape(value),
        value.encode("unicode_escape", "surrogatepass").decode("ascii"),
    ]
    forms += [_ENCODED.sub(lambda written: written.group().lower(), form) for form in forms if "%" in form]
    if len(value) >= _SHORT:
        forms += [form for encode in (base64.b64encode, base64.urlsafe_b64encode) for form in _base64(encode, encoded)]
    return forms


def _base64(encode: Callable[[bytes], bytes], encoded: bytes) -> Iterator[str]:
    """Yield what a value is in base64 at the end of a text, and before others: the last character depends on those."""
    written = encode(encoded).decode("ascii").rstrip("=")
    yield written
    yield written[: len(encoded) * 8 // 6]


def stands_in(form: str, text: str) -> bool:
    """Say whether all of a text stands in another; a short one only as a word."""
    return next(_whole_places(form, text), None) is not None


def places_of(form: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield where a text stands in another, and where the beginning or the end of a long one does."""
    if len(form) <= 2 * HEAD:
        yield from _whole_places(form, text)
        return
    after = 0
    for start in _found(form[:HEAD], text):
        if start >= after:
            after = start + _shared(form, text, start)
            yield start, after
    backwards, mirror = form[::-1], text[::-1]
    after = 0
    for start in _found(backwards[:HEAD], mirror):
        if start >= after:
            after = start + _shared(backwards, mirror, start)
            yield len(text) - after, len(text) - start


def _whole_places(form: str, text: str) -> Iterator[tuple[int, int]]:
    for start in _found(form, text):
        end = start + len(form)
        # Anna is not a part of Savannah.
        if len(form) >= _SHORT or not (_is_word(text[start - 1 : start]) or _is_word(text[end : end + 1])):
            yield start, end


def _found(form: str, text: str) -> Iterator[int]:
    start = text.find(form) if form else -1
    while start >= 0:
        yield start
        start = text.find(form, start + len(form))


def _shared(form: str, text: str, start: int) -> int:
    """Count the characters of `form` that stand at `start`. Costs no more than what it finds."""
    length, step = 0, HEAD
    while step:
        if length + step <= len(form) and text.startswith(form[length : length + step], start + length):
            length += step
            step *= 2
        else:
            step //= 2
    return length


def _is_word(char: str) -> bool:
    return char.isalnum()
