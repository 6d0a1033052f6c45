"""Words that nobody wrote: the last rule for secrets, and the most careful.

A word of 30 to 200 characters counts if its letters and digits alternate as those of a generator do. In base62 three of
five neighbours differ in class (upper, lower, digit); in a slug, an identifier or a CamelCaseName one of four.

Deliberately not found: shorter ones, for so long are ids (a nanoid has 21 characters, a KSUID 27); what is hexadecimal
throughout (checksums, commits, UUIDs); what `innocent_words` knows; base64 of text, and anything in a URL, a path or an
address. What is longer is content.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from itertools import pairwise

from django_jobqueue.payload.innocent_words import INNOCENT, is_identifier_name

MIN_CHARS, MAX_CHARS = 30, 200

_CHUNK = re.compile(r"[^\s\"'`<>,;()\[\]{}|\\•]{30,}")
_WORD = re.compile(r"[A-Za-z0-9_+/~.-]{16,200}={0,2}")
# An id has a prefix, too, that says what of: what is random stands behind it.
_PREFIX = re.compile(r"(?:[a-z][a-z0-9]{1,11}[_-]|[A-Z][A-Z0-9]{1,11}[_-]){1,3}")
_TRIM = ".:!?*=-_"

# What stands in front of a word of text and is no part of it: `name=`, `Header:`.
_NAME = re.compile(r"[A-Za-z][\w.-]{0,40}[=:](?=[^=:])")

_NAME_BACKWARDS = re.compile(r"(?:[\"']\\{0,3})?\s{0,3}[:=]\s{0,3}(?:[\"']\\{0,3})?([\w.-]{1,50})")


def random_words(text: str) -> Iterator[tuple[int, int]]:
    """Yield where words of a generator stand in the text."""
    if len(text) < MIN_CHARS:
        return
    for chunk in _outside_of_blocks(text):
        word, start = chunk.group(), chunk.start()
        if len(word) > MAX_CHARS + 50 or "://" in word or "@" in word or word.startswith((".", "www.")):
            continue
        # Not a part of a word whose other part is masked, nor what follows a data URI's head, nor a header's encoding.
        if text[max(0, start - 7) : start].endswith(("•", "base64,")) or "=?" in word:
            continue
        if text[chunk.end() : chunk.end() + 1] == "•":
            continue
        if name := _NAME.match(word):
            if is_identifier_name(name.group()[:-1]):
                continue
            word, start = word[name.end() :], start + name.end()
        word = word.rstrip(".:!?*-_")
        if (
            not INNOCENT.fullmatch(word)
            and is_random(word[_prefix(word) :])
            and not is_identifier_name(name_before(text, chunk.start()))
        ):
            yield start, start + len(word)


def _prefix(word: str) -> int:
    prefix = _PREFIX.match(word)
    return prefix.end() if prefix is not None else 0


def name_before(text: str, start: int) -> str:
    """Return the name that JSON inside of text gives to what stands at `start`; empty if there is none."""
    named = _NAME_BACKWARDS.match(text[max(0, start - 60) : start][::-1])
    return named.group(1)[::-1] if named is not None else ""


def _outside_of_blocks(text: str) -> Iterator[re.Match[str]]:
    """Yield the chunks of the text, without certificates and public keys; private ones have been found already."""
    start = 0
    while (begin := text.find("-----BEGIN ", start)) >= 0:
        yield from _CHUNK.finditer(text, start, begin)
        end = text.find("-----END ", begin)
        start = end if end >= 0 else len(text)
    yield from _CHUNK.finditer(text, start)


def is_random(word: str, least: int = MIN_CHARS) -> bool:
    """Say whether a generator made this word, of so many characters at least."""
    if not _WORD.fullmatch(word):
        return False
    bare = word.rstrip("=").lstrip(_TRIM)
    if len(bare) < least or INNOCENT.fullmatch(bare) or _is_text_in_base64(word):
        return False
    if word[0] == "/" and not (len(word) == 40 or "+" in word):
        return False
    if "/" in bare and not (len(bare) == 40 or "+" in bare or word.endswith("=")):
        # A path, whose parts are judged alone.
        return any(is_random(part, least) for part in bare.split("/"))
    if "." in bare:
        longest = max(bare.split("."), key=len)
        return len(longest) >= 0.6 * len(bare) and is_random(longest, least)
    letters = re.sub(r"[^A-Za-z0-9]", "", bare)
    if len(letters) < 0.85 * len(bare) or len(set(letters)) < 10:
        return False
    # RaspberryPi-4B-kiosk-07 alternates at its hyphens only.
    longest = max(re.split(r"[^A-Za-z0-9]+", bare), key=len)
    if len(longest) >= 5 and len(letters) < len(bare) and _changes(longest) < 0.35:
        return False
    return _alternates(letters, has_symbols=len(letters) < len(bare))


def _changes(letters: str) -> float:
    """Return which share of neighbours are of different classes: upper, lower, digit."""
    return sum(left != right for left, right in pairwise(map(_class, letters))) / max(1, len(letters) - 1)


def _class(char: str) -> int:
    return 0 if char.isdigit() else 1 if char.islower() else 2


def _alternates(letters: str, *, has_symbols: bool) -> bool:
    digits, lower, upper = map([*map(_class, letters)].count, range(3))
    changes = _changes(letters)
    if lower >= 2 and upper >= 2:
        return changes >= (0.35 if digits >= 1 else 0.42)
    # One case and digits: base36, base32. A serial number has fewer changes, a digest fewer letters.
    beyond_hex = len(re.findall(r"[g-zG-Z]", letters))
    share = digits / len(letters)
    return not has_symbols and len(letters) >= 24 and beyond_hex >= 4 and 0.08 <= share <= 0.6 and changes >= 0.2


def _is_text_in_base64(word: str) -> bool:
    try:
        decoded = base64.b64decode(word.rstrip("=") + "=" * (-len(word.rstrip("=")) % 4), altchars=b"-_", validate=True)
        decoded.decode("ascii")
    except (binascii.Error, ValueError):
        return False
    return all(byte >= 32 or byte in b"\t\r\n" for byte in decoded)
