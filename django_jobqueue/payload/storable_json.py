"""Arguments and results as JSON text for a jsonb column.

Exactly the same value comes back, or InvalidPayload says where not.

    None, True, False, int, float, str    as they are
    list, tuple                           as a list
    dict with str keys                    as a dict
    a Secret, in arguments                as a reference to it

Everything else is refused, subclasses too: a member of an enum, a SafeString or an OrderedDict
would arrive as something less. So are NaN, infinity, NUL characters, lone surrogates, integers of
more than 4,300 digits, more than 100 levels, and more bytes than allowed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from io import IOBase
from typing import Any, NamedTuple

from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.misfit import Misfit, a, shown
from django_jobqueue.payload.secret_reference import KEY, References, Secret, require_other_names, stored

MAX_DEPTH = 100
"""Levels of nesting. A value that contains itself has more."""

# Python reads no longer integer from text, unless told to: 10 ** 4300 has 14,285 bits.
_MAX_INTEGER_BITS = 14_284

# From here on repr() writes an exponent, and PostgreSQL stores 1e+16 as an integer: it would come
# back as an int.
_EXPONENT_FROM = 1e16

# numeric has no negative zero. This is too small for a float, so that it is read as -0.0, and
# numeric keeps it.
_NEGATIVE_ZERO = "-1e-400"

_BY_HINT = {
    "datetime": "value.isoformat()",
    "date": "value.isoformat()",
    "time": "value.isoformat()",
    "timedelta": "value.total_seconds()",
    "Decimal": "str(value)",
    "UUID": "str(value)",
    "set": "sorted(value)",
    "frozenset": "sorted(value)",
}
"""Types that a hint of the task may name, and what JSON holds instead."""

_BY_HAND = {"bytes": "text, or base64 of it", "bytearray": "text, or base64 of it"}
"""Types of which only the latter helps."""


def dumps(value: Any, path: str, *, max_bytes: int) -> str:
    """Write `value` as JSON text of at most max_bytes in UTF-8.

    path names the value in errors, as in `args` or `result`; a result has no hint that could name its type. Raises
    InvalidPayload.
    """
    text = _text(value, path, max_bytes)
    _require_size(path, text, max_bytes)
    return text


def arguments(
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    max_bytes: int,
    schemes: Collection[str] | None = None,
    are_stored: bool = False,
    path: str = "",
) -> tuple[str, str]:
    """Write the arguments of a call as two JSON texts of at most max_bytes together.

    schemes are those that a Secret may have; None is for texts that no job is made of. With are_stored a reference may
    also be written as it is stored; else its key is refused. path goes before `args` and `kwargs` in errors, as in
    `jobs[3].`. Raises InvalidPayload.
    """
    if schemes is not None:
        require_other_names(kwargs, path=path)
    rules = References(schemes, are_stored=are_stored)
    texts = (
        _text(list(args), f"{path}args", max_bytes, rules),
        _text(dict(kwargs), f"{path}kwargs", max_bytes, rules),
    )
    _require_size(f"{path}args and kwargs", "".join(texts), max_bytes)
    return texts


def loads(text: str) -> Any:
    """Read what `dumps` wrote."""
    return json.loads(text)


class _Advice(NamedTuple):
    """What a person can do about a value that is refused: of an argument, or of a result."""

    verb: str
    may_hint: bool

    def to(self, instead: str, *, hint: str = "") -> str:
        """Say it: what to pass or return instead, or where there are hints to name the type in it."""
        return f"{hint}, or {self.verb} {instead}" if hint and self.may_hint else f"{self.verb} {instead}"


_OF_ARGUMENTS, _OF_A_RESULT = _Advice("pass", may_hint=True), _Advice("return", may_hint=False)


class _Search:
    """One walk over a value: refuses what would not come back, and looks for odd floats."""

    __slots__ = ("advice", "has_odd_floats", "references", "room")

    def __init__(self, max_bytes: int, advice: _Advice, references: References | None) -> None:
        self.room = max_bytes
        self.advice = advice
        self.references = references
        self.has_odd_floats = False

    def check(self, value: Any, depth: int) -> None:
        kind = type(value)
        if kind is str:
            check_text(value)
        elif kind is int:
            if value.bit_length() > _MAX_INTEGER_BITS:
                raise Misfit(f"is an integer of more than 4300 digits; {self.advice.to('it as text')}")
        elif value is None or kind is bool:
            pass
        elif kind is float:
            self._check_float(value)
        elif kind is list or kind is tuple:
            self._enter(value, depth)
            for index, item in enumerate(value):
                try:
                    self.check(item, depth + 1)
                except Misfit as misfit:
                    misfit.steps.append(f"[{index}]")
                    raise
        elif kind is dict:
            self._enter(value, depth)
            if self.references is not None and KEY in value:
                self.references.check_dict(value)
            for key, item in value.items():
                _check_key(key)
                try:
                    self.check(item, depth + 1)
                except Misfit as misfit:
                    misfit.steps.append(f"[{shown(key)}]")
                    raise
        elif kind is Secret and self.references is not None:
            self.references.check(value)
        else:
            raise Misfit(_why_not(value, self.advice))

    def _check_float(self, value: float) -> None:
        if not math.isfinite(value):
            raise Misfit(f"is {value}, which JSON does not know; {self.advice.to('None, or text')}")
        if not -_EXPONENT_FROM < value < _EXPONENT_FROM or (value == 0 and math.copysign(1, value) < 0):
            self.has_odd_floats = True

    def _enter(self, value: Any, depth: int) -> None:
        if depth >= MAX_DEPTH:
            raise Misfit(f"is nested in more than {MAX_DEPTH} levels, or contains itself")
        # Each element takes a byte at least. Without this, a list that holds one list many times
        # over is walked for ever.
        self.room -= len(value)
        if self.room < 0:
            raise Misfit(f"makes it larger than allowed; {self.advice.to('a reference to it, such as an id')}")


def _text(value: Any, path: str, max_bytes: int, references: References | None = None) -> str:
    if value is None:
        # What most tasks return.
        return "null"
    search = _Search(max_bytes, _advice_for(path), references)
    try:
        # The list or dict of the arguments is no level of what is in it.
        search.check(value, 0 if references is None else -1)
    except Misfit as misfit:
        raise misfit.at(path) from None
    if search.has_odd_floats:
        return _written(value)
    return _ENCODER.encode(value)


# What is no plain JSON and has passed the search is a Secret.
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"), default=stored
)


def _written(value: Any) -> str:
    """Write JSON with floats in a form that jsonb gives back as floats.

    Ten times slower than json; few values need it.
    """
    match value:
        case list() | tuple():
            return f"[{','.join([_written(item) for item in value])}]"
        case dict():
            pairs = [f"{_ENCODER.encode(key)}:{_written(item)}" for key, item in value.items()]
            return f"{{{','.join(pairs)}}}"
        case float() if value == 0:
            return _NEGATIVE_ZERO if math.copysign(1, value) < 0 else "0.0"
        case float() if not -_EXPONENT_FROM < value < _EXPONENT_FROM:
            digits, exponent = repr(value).split("e")
            whole, _, fraction = digits.partition(".")
            return f"{whole}{fraction.ljust(int(exponent), '0')}.0"
        case _:
            return _ENCODER.encode(value)


def _check_key(key: Any) -> None:
    if type(key) is not str:
        raise Misfit(f"has the key {shown(key)}, which would come back as text; keys are plain text")
    try:
        check_text(key)
    except Misfit as misfit:
        raise Misfit(f"has a key that {misfit.problem}") from None


def check_text(text: str) -> None:
    """Raise Misfit for text that PostgreSQL cannot hold."""
    if "\0" in text:
        raise Misfit("contains a NUL character, which PostgreSQL cannot store")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise Misfit(
                f"contains a lone surrogate at {error.start}, which is no character; decode the text anew"
            ) from None


def _require_size(path: str, text: str, max_bytes: int) -> None:
    size = len(text) if text.isascii() else len(text.encode())
    if size > max_bytes:
        raise InvalidPayload(
            path,
            f"{size} bytes as JSON, at most {max_bytes} are allowed; "
            f"{_advice_for(path).to('a reference, such as an id')}",
        )


def _advice_for(path: str) -> _Advice:
    return _OF_A_RESULT if path == "result" else _OF_ARGUMENTS


def _why_not(value: Any, advice: _Advice) -> str:
    kind = type(value)
    name = kind.__name__
    if kind is Secret:
        return "is a Secret, which only stands in the arguments of a job; return its .reference"
    if isinstance(value, Enum):
        instead = advice.to("its .value", hint=f"name {name} in the hint")
        return f"is {name}.{value.name}, which would arrive as less; {instead}"
    for plain in (str, int, float, list, tuple, dict):
        if issubclass(kind, plain):
            known = a(plain.__name__)
            return f"is {a(name)}, which would arrive as a plain {plain.__name__}; {advice.to(known)}"
    if hasattr(kind, "__dataclass_fields__") or hasattr(kind, "model_dump") or hasattr(kind, "__struct_fields__"):
        return f"is {a(name)}; {advice.to('a dict', hint=_NAME_IT)}"
    if isinstance(value, IOBase) or hasattr(kind, "chunks"):
        return f"is {a(name)}, a file; store it, and {advice.to('its name or id')}"
    if hasattr(kind, "_meta") and hasattr(value, "pk"):
        fetch = ", and fetch it in the task" if advice.may_hint else ""
        return f"is {a(name)} model instance; {advice.to('its pk')}{fetch}"
    instead = _BY_HINT.get(name) or _BY_HAND.get(name, "text, numbers, lists and dicts")
    return f"is {a(name)}, which JSON cannot hold; {advice.to(instead, hint=_NAME_IT if name in _BY_HINT else '')}"


_NAME_IT = "name the type in the task's hint"
