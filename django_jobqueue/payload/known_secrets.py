"""The project's own secrets: what its settings hold must stand in no job.

Values are compared as they are and as they are written in JSON, in a URL and in base64. Short values and plain words
are not compared at all: a password `postgres` would mask half of every log.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn
from urllib.parse import unquote

from django_jobqueue.payload.literals import forms_of_literal, places_of
from django_jobqueue.payload.secret_names import kind_of

MIN_CHARS = 8
_MAX_DEPTH = 20

_URL = re.compile(r"[a-z][a-z0-9+.-]{1,30}://[^\s/:@]{0,200}:([^\s/@]{1,500})@")
_PLAIN = re.compile(
    r"[a-z]{1,15}|[A-Z]{1,15}|[A-Z]?[a-z]+(?:[-_./: ][A-Za-z]+){0,2}|[A-Za-z_]+(?:\.[A-Za-z_]+)+|\d{1,11}"
)


class KnownSecrets:
    """Values that must not be shown, each with the name of its setting.

    Built once from settings by name. Text counts, and every text of a list; of a dict what has the name of a secret
    (`DATABASES["default"]["PASSWORD"]`), and the password in a URL. Keeps the values in memory, and never tells them:
    not in repr, not by pickle.
    """

    __slots__ = ("_forms", "_names")

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._forms: list[tuple[str, str]] = []
        self._names: set[str] = set()
        seen: set[str] = set()
        for name, value in settings.items():
            for text in _texts(value, name, counts=True, depth=0):
                if not _is_telling(text) or text in seen:
                    continue
                seen.add(text)
                self._names.add(name)
                self._forms += [(form, name) for form in forms_of_literal(text)]

    def __repr__(self) -> str:
        return f"<KnownSecrets: {', '.join(sorted(self._names)) or 'none'}>"

    def __bool__(self) -> bool:
        return bool(self._forms)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("KnownSecrets are not pickled: they would leave the process")

    def places(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and the setting's name for each of these values in the text."""
        for form, name in self._forms:
            for start, end in places_of(form, text):
                yield start, end, name


def _texts(value: Any, name: str, *, counts: bool, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        return
    match value:
        case str():
            if found := _URL.match(value):
                yield from {found.group(1), unquote(found.group(1))}
            if counts:
                yield value
        case bytes():
            yield from _texts(value.decode("latin-1"), name, counts=counts, depth=depth + 1)
        case dict():
            # All of API_KEYS = {"stripe": …} counts; of DATABASES what has the name of a secret.
            all_count = _is_secret_name(name) and counts
            for key, item in value.items():
                yield from _texts(item, str(key), counts=all_count or _is_secret_name(str(key)), depth=depth + 1)
        case list() | tuple() | set() | frozenset():
            yield from _each(value, name, counts, depth)


def _each(values: Iterable[Any], name: str, counts: bool, depth: int) -> Iterator[str]:
    for item in values:
        yield from _texts(item, name, counts=counts, depth=depth + 1)


def _is_secret_name(name: str) -> bool:
    return kind_of(name) is not None or name.upper().rstrip("S").endswith("KEY")


def _is_telling(text: str) -> bool:
    """Say whether a value is its own: long enough, and no word, path, number or name that others use too."""
    return len(text.strip()) >= MIN_CHARS and len(set(text)) >= 6 and not _PLAIN.fullmatch(text)
