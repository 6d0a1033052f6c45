"""Texts in which no rule for secrets can find anything: what jobs are given is mostly short, plain or an id.

Asked of every text of every job that is enqueued, so it is the fastest part, and knows of each rule what stirs it.
"""

from __future__ import annotations

import re

_STIRS = ("=", ":", "--", " -", "<", "|", "\uff1a")
_STIRRING_WORDS = (
    "pass", "secret", "auth ", "pw ", "kennwort", "contrase", "senha", "wachtwoord", "login", "basic", "identified",
    "echo ", "net u", "_key", "_token", "parol", "mdp ", "phrase",
)  # fmt: skip
_FOREIGN_WORDS = (
    "парол",
    "hasł",
    "密",
    "パスワード",
    "비밀",
    "şifre",
    "lösen",
    "jelsz",
    "كلمة",
    "סיסמ",
    "κωδικ",
    "รหัส",
)
_DIGITS = re.compile(r"[0-9]{4}[ -][0-9]{4}")
_LONG_WORD = 15
_HARMLESS = re.compile(
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"  # a UUID
    r"|(?=[0-9]*[a-fA-F])[0-9a-fA-F]{15,128}"  # a digest
    r"|[a-z]{1,20}(?:[._-][a-z]{1,20}){0,3}@[a-z]{1,20}(?:[.-][a-z]{2,20}){1,3}"  # an address
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?"  # a moment
)


def is_quiet(text: str) -> bool:
    """Say at once that no rule can find anything: of what jobs are given most is short, plain or an id."""
    if len(text) < 12:
        return "=" not in text and ":" not in text and "\uff1a" not in text
    return not _stirs(text) or _HARMLESS.fullmatch(text) is not None


def _stirs(text: str) -> bool:
    # One expression for all of it would take ten times as long.
    for sign in _STIRS:
        if sign in text:
            return True
    if len(text) >= _LONG_WORD and max(map(len, text.split()), default=0) >= _LONG_WORD:
        return True
    lower = text.lower()
    for word in _STIRRING_WORDS:
        if word in lower:
            return True
    if not text.isascii() and any(word in lower for word in _FOREIGN_WORDS):
        return True
    return _DIGITS.search(text) is not None
