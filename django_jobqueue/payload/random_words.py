"""Words that nobody wrote: the last rule for secrets, and the most careful.

A word of 20 to 200 characters counts if its letters and digits alternate as those of a generator do. In base62 three of
five neighbours differ in class (upper, lower, digit); in a slug, an identifier or a CamelCaseName one of four.

Deliberately not found: what is hexadecimal throughout (checksums, commits, UUIDs), ULIDs, IBANs, typed ids such as
`cus_Nf…`, base64 of text, files by their first bytes, and anything in a URL, a path or an address. What is longer is
content.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

MIN_CHARS, MAX_CHARS = 20, 200

_CHUNK = re.compile(r"[^\s\"'`<>,;()\[\]{}|\\•]{20,}")
_WORD = re.compile(r"[A-Za-z0-9_+/~.-]{20,200}={0,2}")
_TRIM = ".:!?*=-_"

# What stands in front of a word of text and is no part of it: `name=`, `Header:`.
_NAME = re.compile(r"[A-Za-z][\w.-]{0,40}[=:](?=[^=:])")

_NAME_BACKWARDS = re.compile(r"(?:[\"']\\{0,3})?\s{0,3}[:=]\s{0,3}(?:[\"']\\{0,3})?([\w.-]{1,50})")

_NOT_RANDOM = re.compile(
    r"[0-9a-fA-F_\-:.]+"  # digests, UUIDs
    r"|[0-7][0-9A-HJKMNP-TV-Z]{25}"  # a ULID
    r"|[A-Z]{2}\d{2}[A-Z0-9]{11,30}"  # an IBAN
    r"|(?!live_|test_|pat_|key_|api_|sec|tok)[a-z]{1,12}_[A-Za-z0-9]{10,28}"
    r"|(?:cs|pk)_(?:test|live)_.*"  # an id that names its type
    r"|sha(?:256|384|512)-.*"  # integrity of a script
    r"|(?:R0lGOD|iVBORw0KGgo|/9j/|UklGR|JVBERi0|PHN2Zy|UEsDB|H4sI|PD94bWw).*"  # images, PDF, ZIP
    r"|.*\.[A-Za-z]{1,5}\d?"  # a file's name
)

_ID_NAME = re.compile(
    r"(?i)(?:^|[_\-.]|(?<=[a-z0-9]))(?:ids?|uuid|etag|checksum|digest|hash|md5|crc|sha\d*|cursor|key|ref|"
    r"reference|number|"
    r"fingerprint|integrity|version|revision|commit|slug|thumbnail|image|public_?key|page_?token|path|file_?name|"
    r"boundary|receipt_?handle|verification|serial)$|^[xyn]$"
)


@lru_cache(maxsize=4096)
def is_identifier_name(name: str) -> bool:
    """Say whether a name announces what is random and yet no secret: an id, a checksum, a cursor."""
    return _ID_NAME.search(name[:100]) is not None


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
        if is_random(word) and not is_identifier_name(_name_before(text, chunk.start())):
            yield start, start + len(word)


def _name_before(text: str, start: int) -> str:
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


def is_random(word: str) -> bool:
    """Say whether a generator made this word."""
    if not _WORD.fullmatch(word):
        return False
    bare = word.rstrip("=").lstrip(_TRIM)
    if len(bare) < MIN_CHARS or _NOT_RANDOM.fullmatch(bare) or _is_text_in_base64(word):
        return False
    if word[0] == "/" and not (len(word) == 40 or "+" in word):
        return False
    if "/" in bare and not (len(bare) == 40 or "+" in bare or word.endswith("=")):
        # A path, whose parts are judged alone.
        return any(map(is_random, bare.split("/")))
    if "." in bare:
        longest = max(bare.split("."), key=len)
        return len(longest) >= 0.6 * len(bare) and is_random(longest)
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
