"""Tokens that can be told by their looks: what their makers publish about prefix, alphabet and length.

A shape is searched for by a literal part of it, as fast as `in` is, and compared only where that stands. So a text
without secrets costs a few microseconds, and no text more than its length: what follows a literal is either of a
bounded length, or runs to the end of the word and is then behind us.

Those that are a literal and its rest are in `published_tokens`; here is what takes more than that to be told.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from django_jobqueue.payload.published_tokens import SHAPES, Shape
from django_jobqueue.payload.random_words import is_random


def any_of(literals: Iterable[str]) -> str:
    """Write an expression that finds any of the texts, in one look at each character: as a tree of their letters."""
    tree: dict[str, Any] = {}
    for literal in literals:
        node = tree
        for char in literal:
            node = node.setdefault(char, {})
        node[""] = {}
    return _branches(tree)


def _branches(tree: dict[str, Any]) -> str:
    if "" in tree:
        return ""  # the shorter is found wherever the longer is
    branches = [re.escape(char) + _branches(below) for char, below in sorted(tree.items())]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


class Place(NamedTuple):
    """Where in a text a secret stands, and what it looks like."""

    start: int
    end: int
    why: str


# One look for all literals, of which most texts have none: at each place the shortest, and whatever begins with it.
_ANY_LITERAL = re.compile(f"(?=({any_of(shape.literal for shape in SHAPES)}))")
_BY_LITERAL: dict[str, list[Shape]] = {}
for _shape in SHAPES:
    _shortest = _ANY_LITERAL.match(_shape.literal)
    _BY_LITERAL.setdefault(_shortest.group(1) if _shortest else _shape.literal, []).append(_shape)
_MIN_PART = 20
_ANY_LITERAL = re.compile(any_of(shape.literal for shape in SHAPES))

_LONG_WORD = re.compile(r"\S{15}")

# Only at the start of a run, so that no run is entered twice.
_JWT = re.compile(
    r"(?:(?<![\w.•-])|(?<=\\[nrt])|(?<=%[0-9A-F]{2}))eyJ[\w-]{10,}(?:\.[\w-]*\.[\w-]+[\w.-]*|:[\w-]{6}:[\w-]{27,})"
)
_DISCORD = re.compile(r"(?:(?<![\w.•-])|(?<=\\[nrt]))[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])")
_TELEGRAM = re.compile(r"(?<![0-9•])\d{7,12}:A[A-Za-z0-9_-]{34}(?![\w-])")
_LOGIN = re.compile(r"(?<=://)[^\s/?#:@\"'<>•]{0,100}:(?![{<]|\$\{|%\()([^\s/?#@\"'<>•]{1,300})@")
_USER = re.compile(r"(?<=://)[A-Za-z0-9_-]{20,250}+(?=@)")
_BASIC = re.compile(r"(?i)\b(?:Basic|AUTH PLAIN|AUTH LOGIN)\s{1,3}([A-Za-z0-9+/_-]{6,2000}={0,2})")
_BEARER = re.compile(r"(?i)\b(?:Bearer|Token)\s{1,3}(?=[A-Za-z._~+/-]{0,60}\d)([A-Za-z0-9._~+/-]{16,}=*)")
_DIGITS = re.compile(r"\d{4}[ -]?\d{4,6}[ -]?\d{4}")
_RESET_LINK = re.compile(r"(?<=/)[0-9a-z]{5,8}-[0-9a-f]{32}(?![A-Za-z0-9])")
# Formats without a prefix of letters: tokens of Asana, Bitwarden and Meta's apps, keys of Ghost, Mailgun and Z.ai.
_NUMBERED = re.compile(
    r"[0-9a-f](?:(?<![\w/•-].)|(?<=\\[nrt].))(?:/\d{13,17}(?:/\d{13,17})?:[0-9a-f]{32}|[0-9a-f]{31}-[0-9a-f]{8}-[0-9a-f]{8}"
    r"|\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[A-Za-z0-9]{30}:[A-Za-z0-9+/]{22}=="
    r"|[0-9a-f]{23}:[0-9a-f]{64}|[0-9a-f]{31}\.(?=[A-Za-z]{0,23}\d)[A-Za-z0-9_-]{16,24}|\d{14}\|(?=[A-Za-z_-]{0,26}\d)[\w-]{27,40})(?![\w.-])"
)
# A part of a path that says what the next one is: `/key/…`, `/reset/…`, `/webhooks/…`.
_TELLING_PATH = re.compile(
    r"(?i)/(?:(key|token|secret|api-?key|private|reset|reset-password|password-reset|magic|magic-link|activate|verify|"
    r"invite|invitation|one-?time)|webhooks?|hooks?|incoming|login|signin|confirm|accept|unlock|sso)"
    r"[/-]([A-Za-z0-9_~-]{16,250}+)(?![\w.%•@])"
)
_HEXADECIMAL = re.compile(r"[0-9a-f]{24,128}")
_CARD = re.compile(
    r"(?:(?<![\w.•-])|(?<=\\[nrt]))(?<!\d )(?:"
    r"(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6011|64[4-9]\d|65\d\d|62\d\d|35[2-8]\d)([ -]?)\d{4}\1\d{4}\1\d{4}"
    r"|3[47]\d\d([ -]?)\d{6}\2\d{5}"
    r"|3(?:0[0-5]|[68]\d)\d([ -]?)\d{6}\3\d{4}"
    r")(?![\w-]|[.,]\d| \d{4})"
)
_PEM_BEGIN = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d|---- BEGIN SSH2 ENCRYPTED PRIVATE"
)
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-MAC: [0-9a-f]+")


def token_places(text: str) -> Iterator[Place]:
    """Yield where tokens of known shapes stand in the text. Places may overlap."""
    for sign, search in _SEARCHES:
        if sign in text:
            yield from search(text)
    # No token is shorter: most texts end here.
    if not _LONG_WORD.search(text):
        return
    for sign, search in _SEARCHES_OF_WORDS:
        if sign in text:
            yield from search(text)
    for literal in dict.fromkeys(_ANY_LITERAL.findall(text)):
        for shape in _BY_LITERAL[literal]:
            if shape.literal in text:
                yield from _shaped(shape, text)


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    # At the first use: there are hundreds, of which a process meets a few.
    return re.compile(expression)


def _shaped(shape: Shape, text: str) -> Iterator[Place]:
    why, literal, expression, back = shape
    pattern = _compiled(expression)
    at = text.find(literal)
    while at >= 0:
        match = pattern.match(text, at - back) if at >= back else None
        if match is not None:
            yield Place(match.start(), match.end(), why)
        at = text.find(literal, match.end() if match is not None and match.end() > at else at + 1)


def _private_keys(text: str) -> Iterator[Place]:
    at = 0
    while (begin := _PEM_BEGIN.search(text, at)) is not None:
        end = _PEM_END.search(text, begin.end())
        # Of a key that was cut off no one knows where it ends.
        at = end.end() if end is not None else len(text)
        yield Place(begin.start(), at, "private key")


def _paths(text: str) -> Iterator[Place]:
    for match in _TELLING_PATH.finditer(text):
        is_sure, part = match.group(1) is not None, match.group(2)
        if is_random(part, _MIN_PART) or (is_sure and _HEXADECIMAL.fullmatch(part)):
            yield Place(match.start(2), match.end(2), "secret part of a URL")


def _users(text: str) -> Iterator[Place]:
    # `https://<token>@host/`; Sentry's, of hexadecimal digits, are public.
    for match in _USER.finditer(text):
        if is_random(match.group(), _MIN_PART):
            yield Place(match.start(), match.end(), "token in a URL")


def _by_pattern(why: str, pattern: re.Pattern[str], group: int = 0) -> Callable[[str], Iterator[Place]]:
    def search(text: str) -> Iterator[Place]:
        for match in pattern.finditer(text):
            yield Place(match.start(group), match.end(group), why)

    return search


def _authorization(text: str) -> Iterator[Place]:
    lower = text.lower()
    if "basic" in lower or "auth " in lower:
        for match in _BASIC.finditer(text):
            if _is_login(match.group(1)):
                yield Place(match.start(1), match.end(1), "HTTP Basic login")
    if "bearer" in lower or "token" in lower:
        for match in _BEARER.finditer(text):
            yield Place(match.start(1), match.end(1), "HTTP Bearer token")


def _is_login(written: str) -> bool:
    try:
        bare = written.rstrip("=")
        decoded = base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_" if {"-", "_"} & set(bare) else None)
    except (binascii.Error, ValueError):
        return False
    # SMTP writes zeros between the name and the password.
    parts = decoded[:200].split(b"\0" if decoded.count(b"\0") == 2 else b":")
    return len(parts) > 1 and decoded[:1].isascii() and all(byte >= 32 for part in parts for byte in part)


def _cards(text: str) -> Iterator[Place]:
    for match in _CARD.finditer(text) if len(text) >= 14 and _DIGITS.search(text) else ():
        if _passes_luhn(match.group()):
            yield Place(match.start(), match.end(), "payment card number")


def _passes_luhn(text: str) -> bool:
    digits = [int(char) for char in text if char.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


# Each with what a text must have to be searched at all.
_SEARCHES_OF_WORDS = (
    ("/", _paths),
    ("://", _users),
    ("", _by_pattern("token of numbers", _NUMBERED)),
    ("eyJ", _by_pattern("JSON Web Token", _JWT)),
    (".", _by_pattern("Discord token", _DISCORD)),
    (":A", _by_pattern("Telegram bot token", _TELEGRAM)),
    ("/", _by_pattern("link to reset a password", _RESET_LINK)),
)
_SEARCHES = (
    ("PRIVATE", _private_keys),
    ("PuTTY", _private_keys),
    ("://", _by_pattern("password in a URL", _LOGIN, 1)),
    (" ", _authorization),
    ("", _cards),
)
