"""What in a value looks like a secret: by its name, by its looks, by what the settings hold, by chance.

    sensitive          the task has declared the name
    key name           `api_key`, `password`: see `secret_names`
    GitHub token, …    see `token_shapes`
    assigned in text   `password=…` inside of text: see `assignments`
    high entropy       a word of a generator: see `random_words`
    the value of settings.X

A reference to a secret is none, whatever the name it stands under; what stands in its text by mistake is found.

A finding tells where and why, never what. Nothing here raises, whatever the value; what is too large or too deep to be
looked through is itself a finding.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django_jobqueue.payload.assignments import assigned_secrets
from django_jobqueue.payload.coded_secrets import coded_secrets
from django_jobqueue.payload.innocent_words import is_identifier_name
from django_jobqueue.payload.known_secrets import KnownSecrets
from django_jobqueue.payload.prefixed_tokens import MIN_PREFIXED, prefixed_tokens
from django_jobqueue.payload.quiet_texts import is_quiet
from django_jobqueue.payload.random_words import random_words
from django_jobqueue.payload.secret_names import Names, kind_of
from django_jobqueue.payload.secret_reference import KEY, is_reference
from django_jobqueue.payload.secret_values import is_secret
from django_jobqueue.payload.secret_words import Kind
from django_jobqueue.payload.storable_json import MAX_DEPTH
from django_jobqueue.payload.token_shapes import Place, token_places

MASK = "••••••"

SENSITIVE = "sensitive"
"""Why, where a task has declared the name."""

MAX_TEXT = 1_000_000
"""Characters of one text that are looked at, and shown."""
MAX_ROOM = 8_000_000
"""Characters of one value, where each element counts as 16 more."""
_ELEMENT = 16


@dataclass(frozen=True, slots=True)
class Finding:
    """A place that looks like a secret: the path as in `['billing'][0]['api_key']`, and why."""

    path: str
    why: str

    def __str__(self) -> str:
        return f"{self.path or 'the value'} ({self.why})"


def findings(value: Any, *, sensitive: Collection[str] = (), known: KnownSecrets | None = None) -> list[Finding]:
    """Find what looks like a secret in a value made of dicts, lists, tuples and scalars. Never raises.

    sensitive are names that count at any depth, written in any way (`api_key` is `apiKey` too). One finding a place.
    """
    search = _Search(sensitive, known)
    search.look(value, "", None, 0)
    return search.found


def call_findings(
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    positional: Sequence[str] = (),
    sensitive: Collection[str] = (),
    hidden: Collection[str] = (),
    known: KnownSecrets | None = None,
) -> list[Finding]:
    """Find what looks like a secret in the arguments of a call: paths begin with `args[0]` and `kwargs['name']`.

    positional names them as `Signature.places` does: an argument's name counts as a key's does. hidden are names in
    kwargs that count as sensitive ones, as of `Signature.hidden_keywords`.
    """
    search = _Search(sensitive, known)
    for index, value in enumerate(args):
        search.look_under(positional[index] if index < len(positional) else "", value, f"args[{index}]", None, 0)
    for name, value in kwargs.items():
        if name in hidden and not is_reference(value):
            search.found.append(Finding(f"kwargs[{_shown_key(name, known)}]", SENSITIVE))
        else:
            search.look_under(name, value, ("kwargs", name), None, 0)
    return search.found


Path = str | tuple["Path", int | str]
"""Where a value is: the name of the whole, or a place and a step from it. Written only for what is found."""


class Room:
    """How much may still be looked at. A list that holds one list many times over would be walked for ever."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MAX_ROOM

    def takes(self, text: str | None, depth: int) -> bool:
        # What contains itself twice is too deep in more places than can be counted.
        self.left -= MAX_ROOM // 100 if depth > MAX_DEPTH else _ELEMENT + len(text or "")
        return depth <= MAX_DEPTH and self.left >= 0


class _Search:
    def __init__(self, sensitive: Collection[str], known: KnownSecrets | None) -> None:
        self.names, self.known = Names(sensitive), known
        self.found: list[Finding] = []
        self.room = Room()
        self.is_cut = False

    def look(self, value: Any, path: Path, kind: Kind | None, depth: int, name: str = "") -> None:
        try:
            self._look(value, path, kind, depth, name)
        except Exception:  # a class of somebody else's; and a stack that is nearly full
            self._note(path, "cannot be looked through")

    def look_under(self, name: str, value: Any, path: Path, kind: Kind | None, depth: int) -> None:
        if name in self.names and not is_reference(value):
            self._note(path, SENSITIVE)
        else:
            self.look(value, path, kind_under(name, value, kind), depth, name)

    def _look(self, value: Any, path: Path, kind: Kind | None, depth: int, name: str) -> None:
        if value is None or value is True or value is False:
            return
        text = text_of(value)
        if not self.room.takes(text, depth):
            if not self.is_cut:
                self.is_cut = True
                self._note(path, "too large or too deep to be looked through")
        elif text is not None:
            if kind is not None and is_secret(value if isinstance(value, int) else text, kind):
                self._note(path, "key name")
            elif place := next(secret_places(text, known=self.known, name=name), None):
                self._note(path, place.why)
        elif isinstance(value, dict):
            if KEY in value and is_reference(value):
                if place := next(reference_places(value, self.known), None):
                    self._note(path, place.why)
                return
            label = label_in(value)
            for key, item in value.items():
                name = key if type(key) is str else str(key)
                step = (path, name)
                if is_secret_key(name, self.known):
                    self._note(step, "the key itself")
                self.look_under(name_of(name, value, label), item, step, kind, depth + 1)
        elif isinstance(value, (list, tuple, set, frozenset)):
            for index, (item, item_kind) in enumerate(with_kinds(value, kind)):
                self.look(item, (path, index), item_kind, depth + 1, name)

    def _note(self, path: Path, why: str) -> None:
        steps = []
        while isinstance(path, tuple):
            path, step = path
            steps.append(f"[{step}]" if isinstance(step, int) else f"[{_shown_key(step, self.known)}]")
        self.found.append(Finding(path + "".join(reversed(steps)), why))


def kind_under(name: str, value: Any, outer: Kind | None) -> Kind | None:
    """Say what a name makes of its value, below a name that may have said something itself.

    `credentials: {"user": …, "key": …}`: all that machines have made in it counts.
    """
    kind = kind_of(name)
    if kind is None:
        is_other = is_identifier_name(name) and not name.lower().endswith("key")
        return Kind.TOKEN if outer is not None and not is_other else None
    return Kind.TOKEN if isinstance(value, dict) and kind is not Kind.KEY else kind


def with_kinds(items: Iterable[Any], kind: Kind | None) -> Iterator[tuple[Any, Kind | None]]:
    """Yield the items of a list, each with what is announced: by the list's name, or by the option before the item.

    `["--password", "…"]` is how a command line travels.
    """
    option = ""
    for item in items:
        is_option = isinstance(item, str) and str.startswith(item, "-")
        yield item, (kind_of(option) or kind) if option and not is_option else kind
        option = str.lstrip(item, "-") if is_option and len(item) > _MIN_OPTION else ""


_MIN_OPTION = 4
_VALUE_KEYS = frozenset(("value", "Value", "val", "content", "new_value", "old_value", "newValue", "oldValue"))
_LABEL_KEYS = ("name", "key", "header", "field", "variable", "attribute", "Name", "Key")
# What of a JSON Web Key is private (RFC 7518).
_PRIVATE_PARTS = frozenset(("d", "k", "p", "q", "dp", "dq", "qi"))


def name_of(key: str, value: dict[Any, Any], label: str) -> str:
    """Return the name of what stands under a key of a dict: the key, or what the dict says in other keys."""
    if label and key in _VALUE_KEYS:
        return label
    return "private_key" if key in _PRIVATE_PARTS and "kty" in value else key


def label_in(value: dict[Any, Any]) -> str:
    """Return the name that a dict gives its value in another key: `{"name": "X-Api-Key", "value": …}`."""
    if not _VALUE_KEYS.isdisjoint(value):
        for key in _LABEL_KEYS:
            if isinstance(label := value.get(key), str):
                return "".join((label,))
    return ""


def text_of(value: Any) -> str | None:
    """Return the text of a scalar that may be a secret: plain text, bytes, whole numbers; None for others."""
    if isinstance(value, str):
        return "".join((value,))  # a subclass may lie about itself
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("latin-1")
    # The longest numbers take long to write, and are none.
    return str(int(value)) if isinstance(value, int) and int(value).bit_length() <= 80 else None


def is_secret_key(key: str, known: KnownSecrets | None) -> bool:
    """Say whether the key of a dict is itself a secret."""
    is_word = key.isidentifier() and key.islower() and key.replace("_", "").isalpha()
    return len(key) >= 12 and not is_word and next(secret_places(key, known=known), None) is not None


def _shown_key(key: str, known: KnownSecrets | None) -> str:
    if is_secret_key(key, known):
        return MASK
    return repr(key if len(key) <= 60 else f"{key[:60]}…")


def reference_places(value: dict[str, str], known: KnownSecrets | None) -> Iterator[Place]:
    """Yield where secrets stand in the text of a reference, which is a name: by mistake."""
    yield from _known_places(value[KEY], known)
    yield from token_places(value[KEY])


def _known_places(text: str, known: KnownSecrets | None) -> Iterator[Place]:
    if known is not None:
        for start, end, setting in known.places(text):
            yield Place(start, end, f"the value of settings.{setting}")


def secret_places(
    text: str, *, known: KnownSecrets | None = None, name: str = "", by_chance: bool = True
) -> Iterator[Place]:
    """Yield where secrets stand in a text, by all rules but the names of dicts. Places may overlap.

    name is the key it stands under: an id or a checksum is random, and no secret. Without by_chance random words are
    left, which tracebacks and logs are full of.
    """
    text = text[:MAX_TEXT]
    yield from _known_places(text, known)
    if is_quiet(text):
        return
    yield from token_places(text)
    if len(text) >= MIN_PREFIXED:
        for start, end in prefixed_tokens(text, name):
            yield Place(start, end, "token with a prefix")
    for start, end in assigned_secrets(text):
        yield Place(start, end, "assigned in text")
    for start, end in coded_secrets(text):
        yield Place(start, end, "secret in base64")
    if by_chance and (not is_identifier_name(name) or " " in text):
        for start, end in random_words(text):
            yield Place(start, end, "high entropy")
