"""How the values of a type are written as JSON, and read.

    datetime, date, time     ISO 8601               UUID, Decimal      text
    timedelta                seconds                an Enum            its value, or else its name
    a dataclass              an object              list, dict, tuple, set, frozenset and `X | None` of these
    models of pydantic, and msgspec's Structs: an object, by their own rules

A datetime keeps its offset, not the name of its zone. No error tells the value, which may be a secret.
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache, partial
from typing import Any, NamedTuple
from uuid import UUID

from django_jobqueue.payload.misfit import Misfit, a, shown


class Form(NamedTuple):
    """How values of one type are written and read. Each raises Misfit for a value that is none."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


PLAIN = Form(lambda value: value, lambda value: value)
"""As it is."""


def form_of(hint: Any) -> Form | None:
    """Find the form for a type hint; None where values travel as they are."""
    if isinstance(hint, typing.NewType):
        return form_of(hint.__supertype__)
    origin = typing.get_origin(hint)
    if origin is typing.Union or isinstance(hint, types.UnionType):
        return _optional(typing.get_args(hint))
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
        return _dataclass(hint)
    if hasattr(hint, "model_validate") and hasattr(hint, "model_dump"):
        return _pydantic(hint)
    if hasattr(hint, "__struct_fields__"):
        return _msgspec(hint)
    return None


def _optional(members: Sequence[Any]) -> Form | None:
    others = [member for member in members if member is not type(None)]
    # Of several types the stored text would not tell which it was.
    form = form_of(others[0]) if len(others) == 1 else None
    if form is None:
        return None
    write, read = form
    return Form(
        lambda value: None if value is None else write(value), lambda value: None if value is None else read(value)
    )


def _container(origin: Any, members: Sequence[Any]) -> Form | None:
    if origin is tuple and not (len(members) == 2 and members[1] is ...):
        return _row([form_of(member) for member in members])
    if origin in (tuple, set, frozenset):
        return _items(origin, form_of(members[0]) or PLAIN)
    form = form_of(members[-1]) if members else None
    if form is not None and origin in (list, Sequence):
        return _items(list, form)
    if form is not None and origin in (dict, Mapping) and members[0] is str:
        return Form(partial(_mapped, form.write), partial(_mapped, form.read))
    return None


def _items(kind: type, form: Form) -> Form:
    def write(value: Any) -> list[Any]:
        _require(value, kind)
        written = [_at(f"[{index}]", form.write, item) for index, item in enumerate(value)]
        # A set has no order; the same set is the same text.
        return sorted(written, key=repr) if kind in (set, frozenset) else written

    def read(value: Any) -> Any:
        _require(value, list)
        items = [_at(f"[{index}]", form.read, item) for index, item in enumerate(value)]
        try:
            return kind(items)
        except TypeError:
            raise Misfit(f"has an item that a {kind.__name__} cannot hold") from None

    return Form(write, read)


def _row(forms: Sequence[Form | None]) -> Form:
    def turned(value: Any, kind: type, way: int) -> list[Any]:
        _require(value, kind)
        if len(value) != len(forms):
            raise Misfit(f"has {len(value)} items; the task wants {len(forms)}")
        return [
            _at(f"[{index}]", (form or PLAIN)[way], item)
            for index, (form, item) in enumerate(zip(forms, value, strict=True))
        ]

    return Form(lambda value: turned(value, tuple, 0), lambda value: tuple(turned(value, list, 1)))


def _mapped(turn: Callable[[Any], Any], value: Any) -> dict[str, Any]:
    _require(value, dict)
    return {key: _at(f"[{shown(key)}]", turn, item) for key, item in value.items()}


def _enum(cls: type[Enum]) -> Form:
    by_value = all(type(member.value) in (str, int) for member in cls)

    def write(value: Any) -> Any:
        _require(value, cls)
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
def _fields(cls: Any) -> _Fields:
    try:
        hints = typing.get_type_hints(cls)
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


def _dataclass(cls: Any) -> Form:
    # The fields are looked up when a value comes: a class may contain itself.
    def write(value: Any) -> dict[str, Any]:
        _require(value, cls)
        return {name: _at(f".{name}", form.write, getattr(value, name)) for name, form in _fields(cls).forms.items()}

    def read(value: Any) -> Any:
        _require(value, dict)
        forms, required = _fields(cls)
        if missing := required - value.keys():
            raise Misfit(f"has no {', '.join(sorted(missing))}, which {cls.__name__} needs")
        # What a newer version of the class has added and this one does not know is left out.
        given = {name: _at(f".{name}", form.read, value[name]) for name, form in forms.items() if name in value}
        return _made(cls, lambda: cls(**given), lambda error: type(error).__name__)

    return Form(write, read)


def _pydantic(cls: Any) -> Form:
    def why(error: Any) -> str:
        if not hasattr(error, "error_count"):
            return type(error).__name__
        faults = error.errors(include_input=False, include_url=False)
        return "; ".join(
            # What a project's own validator says may have the value in it.
            f"{'.'.join(map(str, fault['loc']))}: {fault['type' if 'error' in fault.get('ctx', ()) else 'msg']}"
            for fault in faults
        )

    def write(value: Any) -> Any:
        _require(value, cls)
        written = _made(cls, lambda: value.model_dump(mode="json", by_alias=True, round_trip=True), why)
        # A SecretStr is written as asterisks, and those are read without a word; a field may be left out.
        if read(written) != value:
            raise Misfit(f"is {a(cls.__name__)} that does not come back as it was; pass a reference to what it hides")
        return written

    def read(value: Any) -> Any:
        return _made(cls, lambda: cls.model_validate(value), why)

    return Form(write, read)


def _msgspec(cls: Any) -> Form:
    import msgspec  # it is there: the class is one of its

    def why(error: Exception) -> str:
        # It quotes what an Enum does not know.
        return re.sub("'.*'", "'…'", str(error)) if isinstance(error, msgspec.MsgspecError) else type(error).__name__

    def write(value: Any) -> Any:
        _require(value, cls)
        return _made(cls, lambda: msgspec.to_builtins(value), why)

    return Form(write, lambda value: _made(cls, lambda: msgspec.convert(value, cls), why))


def _made(cls: type, make: Callable[[], Any], why: Callable[[Exception], str]) -> Any:
    try:
        return make()
    except Exception as error:  # the class is the project's, and may raise what it likes
        raise Misfit(f"is no {cls.__name__}: {why(error):.300}") from error


def _simple(cls: type, write: Callable[[Any], Any], read: Callable[[Any], Any], kind: type | tuple[type, ...]) -> Form:
    def written(value: Any) -> Any:
        _require(value, cls)
        return write(value)

    def read_back(value: Any) -> Any:
        _require(value, kind)
        try:
            return read(value)
        except (ValueError, ArithmeticError):
            raise Misfit(f"is no {cls.__name__}") from None

    return Form(written, read_back)


def _require(value: Any, kind: type | tuple[type, ...]) -> None:
    # Exactly: a subclass would arrive as something less.
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if type(value) not in kinds:
        wanted = " or ".join(each.__name__ for each in kinds)
        raise Misfit(f"is of type {type(value).__name__}; the task wants {wanted}")


def _at(step: str, turn: Callable[[Any], Any], value: Any) -> Any:
    try:
        return turn(value)
    except Misfit as misfit:
        misfit.steps.append(step)
        raise


def _seconds(value: timedelta) -> float:
    seconds = value.total_seconds()
    if timedelta(seconds=seconds) != value:
        raise Misfit("is too long to be told to the microsecond in seconds")
    return seconds


_SIMPLE: dict[Any, Form] = {
    datetime: _simple(datetime, datetime.isoformat, datetime.fromisoformat, str),
    date: _simple(date, date.isoformat, date.fromisoformat, str),
    time: _simple(time, time.isoformat, time.fromisoformat, str),
    timedelta: _simple(timedelta, _seconds, lambda value: timedelta(seconds=value), (int, float)),
    UUID: _simple(UUID, str, UUID, str),
    Decimal: _simple(Decimal, str, Decimal, str),
}
