"""How the values of a type are written as JSON, and read.

    datetime, date, time     ISO 8601               UUID, Decimal      text
    timedelta                seconds                an Enum            its value, or else its name
    a dataclass              an object              list, dict, tuple, set, frozenset and `X | None` of these
    models of pydantic, and msgspec's Structs: an object, by their own rules

A datetime keeps its offset, not the name of its zone. No error tells the value, which may be a secret.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache, partial
from typing import Any, NamedTuple
from uuid import UUID

from django_jobqueue.payload.form import PLAIN, Form, at, made, require_type
from django_jobqueue.payload.misfit import Misfit, a, shown
from django_jobqueue.payload.model_forms import msgspec_form, pydantic_form


def form_of(hint: Any) -> Form | None:
    """Find the form for a type hint; None where values travel as they are."""
    if isinstance(hint, typing.NewType):
        return form_of(hint.__supertype__)
    origin = typing.get_origin(hint)
    if origin is typing.Union or isinstance(hint, types.UnionType):
        return _optional(typing.get_args(hint))
    if dataclasses.is_dataclass(origin):
        return _dataclass(origin, hint)
    if hasattr(origin, "__struct_fields__"):
        return msgspec_form(origin, hint)
    if origin is not None:
        members = typing.get_args(hint)
        # typing.Set and its like, without brackets, say nothing of what is in them.
        return _container(origin, members) if members or hint == tuple[()] else None
    if not isinstance(hint, type):
        return None
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if issubclass(hint, Enum):
        return _enum(hint)
    if dataclasses.is_dataclass(hint):
        return _dataclass(hint, hint)
    if hasattr(hint, "model_validate") and hasattr(hint, "model_dump"):
        return pydantic_form(hint)
    if hasattr(hint, "__struct_fields__"):
        return msgspec_form(hint, hint)
    return None


def _optional(members: Sequence[Any]) -> Form | None:
    others = [member for member in members if member is not type(None)]
    # Of several types the stored text would not tell which it was.
    form = form_of(others[0]) if len(others) == 1 else None
    if form is None:
        return None
    write, read, may_differ = form
    return Form(
        lambda value: None if value is None else write(value),
        lambda value: None if value is None else read(value),
        may_differ,
    )


def _container(origin: Any, members: Sequence[Any]) -> Form | None:
    if origin is tuple and not (len(members) == 2 and members[1] is ...):
        return _row(_flat(members))
    if origin in (tuple, set, frozenset):
        return _items(origin, form_of(members[0]) or PLAIN)
    form = form_of(members[-1]) if members else None
    if form is not None and origin in (list, Sequence):
        return _items(list, form)
    if form is not None and origin in (dict, Mapping) and members[0] is str:
        return Form(partial(_mapped, form.write), partial(_mapped, form.read), form.may_differ)
    return None


def _items(kind: type, form: Form) -> Form:
    def write(value: Any) -> list[Any]:
        require_type(value, kind)
        written = [at(f"[{index}]", form.write, item) for index, item in enumerate(value)]
        # A set has no order; the same set is the same text.
        return sorted(written, key=repr) if kind in (set, frozenset) else written

    def read(value: Any) -> Any:
        require_type(value, list)
        items = [at(f"[{index}]", form.read, item) for index, item in enumerate(value)]
        try:
            return kind(items)
        except TypeError:
            raise Misfit(f"has an item that a {kind.__name__} cannot hold") from None

    return Form(write, read, form.may_differ)


def _flat(members: Sequence[Any]) -> list[tuple[Form, bool]]:
    """Return the forms of a tuple's members, and of each whether it stands for any number of them."""
    found: list[tuple[Form, bool]] = []
    for member in members:
        inner = typing.get_args(member)[0] if typing.get_origin(member) is typing.Unpack else member
        if inner is member and not getattr(member, "__unpacked__", False):
            found.append((form_of(member) or PLAIN, False))
        elif typing.get_origin(inner) is not tuple:  # a TypeVarTuple
            found.append((PLAIN, True))
        elif (items := typing.get_args(inner))[-1:] == (...,):
            found.append((form_of(items[0]) or PLAIN, True))
        else:
            found += _flat(items)
    return found


def _row(members: Sequence[tuple[Form, bool]]) -> Form:
    single = sum(not is_many for _, is_many in members)
    has_many = single < len(members)

    def turned(value: Any, kind: type, way: Callable[[Form], Callable[[Any], Any]]) -> list[Any]:
        require_type(value, kind)
        many = len(value) - single
        if many < 0 or (many and not has_many):
            raise Misfit(f"has {len(value)} items; the task wants {single}{' or more' if has_many else ''}")
        forms = [form for form, is_many in members for _ in range(many if is_many else 1)]
        return [at(f"[{index}]", way(form), item) for index, (form, item) in enumerate(zip(forms, value, strict=True))]

    return Form(
        lambda value: turned(value, tuple, lambda form: form.write),
        lambda value: tuple(turned(value, list, lambda form: form.read)),
        any(form.may_differ for form, _ in members),
    )


def _mapped(turn: Callable[[Any], Any], value: Any) -> dict[str, Any]:
    require_type(value, dict)
    return {key: at(f"[{shown(key)}]", turn, item) for key, item in value.items()}


def _enum(cls: type[Enum]) -> Form:
    by_value = all(type(member.value) in (str, int) for member in cls)

    def write(value: Any) -> Any:
        require_type(value, cls)
        return value.value if by_value else value.name

    def read(value: Any) -> Any:
        try:
            return cls(value) if by_value else cls[value]
        except Exception:  # an Enum may look for what it misses by code of its own
            known = ", ".join(repr(member.value if by_value else member.name) for member in cls)
            raise Misfit(f"is no {cls.__name__}; that is one of {known}") from None

    return Form(write, read)


class _Fields(NamedTuple):
    """What a dataclass is made from."""

    forms: dict[str, Form]
    required: frozenset[str]


@lru_cache(maxsize=1000)
def _fields(cls: Any, hint: Any) -> _Fields:
    try:
        hints = typing.get_type_hints(cls)
        known = dict(zip(getattr(cls, "__parameters__", ()), typing.get_args(hint), strict=False))
        hints = {name: _filled(each, known) for name, each in hints.items()}
    except Exception:  # names that only a type checker knows
        raise Misfit(f"is {a(cls.__name__)}, whose hints cannot be read") from None
    fields = [field for field in dataclasses.fields(cls) if field.init]
    return _Fields(
        {field.name: form_of(hints[field.name]) or PLAIN for field in fields},
        frozenset(
            field.name
            for field in fields
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        ),
    )


def _filled(hint: Any, known: Mapping[Any, Any]) -> Any:
    """Put what a generic class is of in the place of its type variables."""
    if isinstance(hint, typing.TypeVar):
        return known.get(hint, hint)
    if known and not isinstance(hint, type) and (variables := getattr(hint, "__parameters__", ())):
        return hint[tuple(known.get(each, each) for each in variables)]
    return hint


def _dataclass(cls: Any, hint: Any) -> Form:
    # The fields are looked up when a value comes: a class may contain itself.
    def write(value: Any) -> dict[str, Any]:
        require_type(value, cls)
        forms = _fields(cls, hint).forms
        return {name: at(f".{name}", form.write, getattr(value, name)) for name, form in forms.items()}

    def read(value: Any) -> Any:
        require_type(value, dict)
        forms, required = _fields(cls, hint)
        if missing := required - value.keys():
            raise Misfit(f"has no {', '.join(sorted(missing))}, which {cls.__name__} needs")
        # What a newer version of the class has added and this one does not know is left out.
        given = {name: at(f".{name}", form.read, value[name]) for name, form in forms.items() if name in value}
        return made(cls, lambda: cls(**given), lambda error: type(error).__name__)

    return Form(write, read, may_differ=True)


def _simple(cls: type, write: Callable[[Any], Any], read: Callable[[Any], Any], kind: type | tuple[type, ...]) -> Form:
    def written(value: Any) -> Any:
        require_type(value, cls)
        return write(value)

    def read_back(value: Any) -> Any:
        require_type(value, kind)
        try:
            return read(value)
        except (ValueError, ArithmeticError):
            raise Misfit(f"is no {cls.__name__}") from None

    return Form(written, read_back)


def _seconds(value: timedelta) -> float:
    seconds = value.total_seconds()
    if timedelta(seconds=seconds) != value:
        raise Misfit("is too long to be told to the microsecond in seconds")
    return seconds


def _time(value: time) -> str:
    if value.tzinfo is not None and value.utcoffset() is None:
        raise Misfit("has a zone whose offset depends on the day; pass a datetime, or a time without a zone")
    return value.isoformat()


def _digits(value: Decimal) -> str:
    if not value.is_finite():
        raise Misfit("is NaN or infinite, which equals no amount; pass None, or text")
    return str(value)


def _decimal(text: str) -> Decimal:
    value = Decimal(text)
    if not value.is_finite():
        raise ValueError
    return value


_SIMPLE: dict[Any, Form] = {
    datetime: _simple(datetime, datetime.isoformat, datetime.fromisoformat, str),
    date: _simple(date, date.isoformat, date.fromisoformat, str),
    time: _simple(time, _time, time.fromisoformat, str),
    timedelta: _simple(timedelta, _seconds, lambda value: timedelta(seconds=value), (int, float)),
    UUID: _simple(UUID, str, UUID, str),
    Decimal: _simple(Decimal, _digits, _decimal, str),
}
