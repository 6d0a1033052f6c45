"""Copies of values and texts that may be shown: what is secret in them is MASK.

What is stored is never altered. Of text only the token inside of it is hidden, so that the sentence can be read; under
a name that says so, the whole value. Masking what is masked changes nothing. Nothing here raises, and all takes time
in proportion to what it is given.

Mask first, shorten after: of a secret that was cut in two the halves are harder to tell.
"""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from django_jobqueue.payload.known_secrets import KnownSecrets
from django_jobqueue.payload.literals import forms_of_literal, places_of
from django_jobqueue.payload.secret_names import Names
from django_jobqueue.payload.secret_reference import KEY, is_reference
from django_jobqueue.payload.secret_shapes import (
    MASK,
    MAX_TEXT,
    Room,
    is_secret_key,
    kind_under,
    label_in,
    name_of,
    reference_places,
    secret_places,
    text_of,
    with_kinds,
)  # fmt: skip
from django_jobqueue.payload.secret_values import is_secret
from django_jobqueue.payload.secret_words import Kind

__all__ = ["MASK", "is_telling", "literal_values", "masked", "masked_arguments", "masked_text"]

MAX_VALUES = 1000
"""Literal values that a text is searched for; a text that has more to hide is hidden."""
MIN_LITERAL = 4
_MIN_NUMBER = 10_000

_TRIVIAL = frozenset(["true", "false", "none", "null", "yes", "no", "on", "off", "undefined", "nan", "test", "string"])
# Shown as they are: what they hold is a number or a moment.
_SHOWN = (float, decimal.Decimal, datetime.date, datetime.time, datetime.timedelta, uuid.UUID)
_ROUNDS = 4


def masked(value: Any, *, sensitive: Collection[str] = (), known: KnownSecrets | None = None) -> Any:
    """Copy a value made of dicts, lists, tuples and scalars, with MASK for what is sensitive or looks like a secret.

    sensitive are names, of keys at any depth, written in any way: `api_key` is `apiKey` and `API-KEY` too. Whatever
    stands under one is hidden whole: a dict, a number, None; but not a reference to a secret. Paths are not names. An
    object of another class becomes `<ClassName>`: what it would say of itself may be the secret. What is nested in more
    than 100 levels, or larger than MAX_ROOM, is hidden. Never raises.
    """
    return _Copy(sensitive, known).of(value, None, 0)


def masked_arguments(
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    positional: Sequence[str] = (),
    sensitive: Collection[str] = (),
    hidden: Collection[str] = (),
    known: KnownSecrets | None = None,
) -> tuple[list[Any], dict[str, Any]]:
    """Mask the arguments of a call.

    positional names them as `Signature.places` does; hidden are names in kwargs whose values are hidden whole, as of
    `Signature.hidden_keywords`.
    """
    copy = _Copy(sensitive, known)
    kwargs = {name: MASK if name in hidden and not is_reference(value) else value for name, value in kwargs.items()}
    names = [*positional[: len(args)], *[""] * max(0, len(args) - len(positional))]
    return (
        [copy.under(name, value, None, 0) for name, value in zip(names, args, strict=True)],
        copy.of(kwargs, None, 0),
    )


def blank(value: Any, *, known: KnownSecrets | None = None) -> Any:
    """Copy JSON with MASK for every value in it: of what nobody knows the names that are sensitive. Never raises.

    The shape is left, with keys that read as names do, and references to secrets.
    """
    try:
        return _blank(value, known)
    except RecursionError:
        return MASK


def _blank(value: Any, known: KnownSecrets | None) -> Any:
    if is_reference(value):
        return masked(value, known=known)
    match value:
        case list():
            return [_blank(item, known) for item in value]
        case dict():
            copy: dict[str, Any] = {}
            for key, item in value.items():
                shown = key if key.isidentifier() and not is_secret_key(key, known) else MASK
                while shown in copy:
                    shown += "•"
                copy[shown] = _blank(item, known)
            return copy
    return MASK


def masked_text(text: str, *, values: Collection[str] = (), known: KnownSecrets | None = None) -> str:
    """Hide in free text, such as an error or a traceback, the values given and what has the shape of a secret.

    values (of `literal_values`) are also found as repr, JSON, URLs, HTML and base64 write them, and by the beginning or
    the end of one longer than 40 characters. Left as they are, or no text could be read: values of fewer than 4
    characters, words such as `true` and `None`, numbers below 10,000; one of fewer than 8 characters counts as a whole
    word. So a PIN in a message is found if the message names it: `pin=…`. Random words are left too: ids are the better
    half of a traceback. Of more than a million characters the rest is cut; with more than MAX_VALUES values to hide,
    the text is MASK. Never raises.
    """
    try:
        return _masked_text("".join((text,)), _forms(values), known, name="", by_chance=False)
    except Exception:
        return MASK


def literal_values(value: Any, *, sensitive: Collection[str] = (), known: KnownSecrets | None = None) -> set[str]:
    """Collect what `masked` would hide, for `masked_text`: an error may quote it where no name stands beside it.

    That is every text and number under a sensitive name, and what looks like a secret by its name, its shape or by
    chance. For the arguments of a call pass a dict by name. Of a value larger than MAX_ROOM the rest is not looked at.
    Never raises.
    """
    harvest = _Harvest(sensitive, known)
    harvest.collect(value, None, 0, inside=False)
    return harvest.found


class _Copy:
    def __init__(self, sensitive: Collection[str], known: KnownSecrets | None) -> None:
        self.names, self.known = Names(sensitive), known
        self.room = Room()

    def of(self, value: Any, kind: Kind | None, depth: int, name: str = "") -> Any:
        try:
            return self._of(value, kind, depth, name)
        except Exception:  # a class of somebody else's; and a stack that is nearly full
            return MASK

    def under(self, name: str, value: Any, kind: Kind | None, depth: int) -> Any:
        is_hidden = name in self.names and not is_reference(value)
        return MASK if is_hidden else self.of(value, kind_under(name, value, kind), depth, name)

    def _of(self, value: Any, kind: Kind | None, depth: int, name: str) -> Any:
        if value is None or value is True or value is False:
            return value
        text = text_of(value)
        if not self.room.takes(text, depth):
            return MASK
        if text is not None:
            return self._scalar(value, text, kind, name)
        if is_reference(value):
            return {KEY: _replaced(value[KEY], [place[:2] for place in reference_places(value, self.known)])}
        if isinstance(value, dict):
            return self._dict(value, kind, depth)
        if isinstance(value, (list, tuple)):
            items = [self.of(item, item_kind, depth + 1, name) for item, item_kind in with_kinds(value, kind)]
            return tuple(items) if isinstance(value, tuple) else items
        if isinstance(value, (set, frozenset)):
            return frozenset(self.of(item, kind, depth + 1, name) for item in value)
        return value if isinstance(value, (int, *_SHOWN)) else f"<{type(value).__name__}>"

    def _scalar(self, value: Any, text: str, kind: Kind | None, name: str) -> Any:
        if kind is not None and is_secret(value if isinstance(value, int) else text, kind):
            return MASK
        hidden = _masked_text(text, (), self.known, name=name, by_chance=True)
        if hidden == text:
            return value if not isinstance(value, str) else text
        # A number or bytes that are secret in part are hidden whole.
        return hidden if isinstance(value, str) else MASK

    def _dict(self, value: dict[Any, Any], kind: Kind | None, depth: int) -> dict[Any, Any]:
        copy: dict[Any, Any] = {}
        label = label_in(value)
        for key, item in value.items():
            shown = key
            if is_secret_key(str(key), self.known):
                shown = MASK
                while shown in copy:
                    shown += "•"
            copy[shown] = self.under(name_of(str(key), value, label), item, kind, depth + 1)
        return copy


def _masked_text(text: str, forms: Iterable[str], known: KnownSecrets | None, *, name: str, by_chance: bool) -> str:
    cut = len(text) - MAX_TEXT
    if cut > 0:
        text = text[:MAX_TEXT]
    for _ in range(_ROUNDS):
        places = [place for form in forms for place in places_of(form, text)]
        places += [(start, end) for start, end, _ in secret_places(text, known=known, name=name, by_chance=by_chance)]
        if not places:
            break
        # What stood beside a secret may look like one when that is gone: look again.
        text = _replaced(text, places)
    if cut <= 0:
        return text
    # The last secret may be cut in two.
    return f"{text[: MAX_TEXT - 5000]}\n… {cut + 5000} characters cut …\n"


def _replaced(text: str, places: list[tuple[int, int]]) -> str:
    pieces, shown = [], 0
    for start, end in _merged(places):
        pieces += [text[shown:start], MASK]
        shown = end
    return "".join([*pieces, text[shown:]])


def _merged(places: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    start, end = -1, -1
    for left, right in sorted(places):
        if left > end:
            if end > start:
                yield start, end
            start, end = left, right
        else:
            end = max(end, right)
    if end > start:
        yield start, end


def _forms(values: Collection[str]) -> list[str]:
    telling = {value for value in values if is_telling(value)}
    if len(telling) > MAX_VALUES:
        raise ValueError("too much to hide")
    return [form for value in telling for form in forms_of_literal(value)]


def is_telling(value: str) -> bool:
    """Say whether a literal value can be looked for: it is neither short nor a word or number of every text."""
    text = value.strip()
    if len(text) < MIN_LITERAL or text.lower() in _TRIVIAL or set(text) <= set("•*"):
        return False
    try:
        return abs(float(text)) >= _MIN_NUMBER
    except ValueError:
        return True


class _Harvest:
    def __init__(self, sensitive: Collection[str], known: KnownSecrets | None) -> None:
        self.names, self.known = Names(sensitive), known
        self.found: set[str] = set()
        self.room = Room()

    def collect(self, value: Any, kind: Kind | None, depth: int, *, inside: bool, name: str = "") -> None:
        # What can be had beside an odd value is better than nothing.
        with suppress(Exception):
            self._collect(value, kind, depth, inside, name)

    def _collect(self, value: Any, kind: Kind | None, depth: int, inside: bool, name: str) -> None:
        text = text_of(value)
        if value is None or isinstance(value, bool) or not self.room.takes(text, depth):
            return
        if is_reference(value):
            self.found.update(value[KEY][start:end] for start, end, _ in reference_places(value, self.known))
        elif isinstance(value, dict):
            label = label_in(value)
            for key, item in value.items():
                self._collect_item(name_of(str(key), value, label), item, kind, depth, inside)
        elif isinstance(value, (list, tuple, set, frozenset)):
            for item, item_kind in with_kinds(value, kind):
                self.collect(item, item_kind, depth + 1, inside=inside, name=name)
        elif inside:
            self.found.add(text if text is not None else str(value) if isinstance(value, _SHOWN) else "")
        elif text is not None and kind is not None and is_secret(value if isinstance(value, int) else text, kind):
            self.found.add(text)
        elif text is not None:
            self.found.update(text[start:end] for start, end, _ in secret_places(text, known=self.known, name=name))

    def _collect_item(self, key: str, item: Any, kind: Kind | None, depth: int, inside: bool) -> None:
        # Of keys under a sensitive name only data are hidden: `street` and `email` are words of every traceback.
        if (inside and not key.isidentifier()) or is_secret_key(key, self.known):
            self.found.add(key)
        self.collect(item, kind_under(key, item, kind), depth + 1, inside=inside or key in self.names, name=key)
