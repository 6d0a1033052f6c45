"""Values that JSON does not know, by the type hints of the task: encoded at the enqueue, the same again on arrival.

    datetime, date, time     ISO 8601               UUID, Decimal      text
    timedelta                seconds                an Enum            its value, or else its name
    a dataclass              an object              list, dict, tuple, set, frozenset and `X | None` of these
    models of pydantic, and msgspec's Structs: an object, by their own rules

The hint decides, not the value: what is stored is plain JSON that a person can read and edit, and a value that is not
of the declared type is refused at the enqueue. Parameters without a hint, and hints of plain types, cost nothing.

A datetime keeps its offset, not the name of its zone.
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

from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.signature import signature_of


class Form(NamedTuple):
    """How values of one type are written and read. Each raises `_Unfit` for a value that is none."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


class _Unfit(Exception):
    """A value that does not fit its hint; the path grows while the search unwinds."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.steps: list[str] = []


class Forms:
    """The forms of a task's parameters; those without one travel as they are."""

    def __init__(self, positional: Sequence[str], forms: Mapping[str, Form]) -> None:
        self._positional, self._forms = positional, forms

    @property
    def are_plain(self) -> bool:
        """Whether every argument travels as it is."""
        return not self._forms

    def write(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], *, path: str = ""
    ) -> tuple[list[Any], dict[str, Any]]:
        """Encode the arguments of a call. Raises InvalidPayload, whose path begins with `path`."""
        return self._each(args, kwargs, path, lambda form, value: form.write(value))

    def read(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], *, path: str = ""
    ) -> tuple[list[Any], dict[str, Any]]:
        """Decode stored arguments. Raises InvalidPayload."""
        return self._each(args, kwargs, path, lambda form, value: form.read(value))

    def _each(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], path: str, turn: Callable[[Form, Any], Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        def turned(form: Form | None, value: Any, place: str) -> Any:
            if form is None:
                return value
            try:
                return turn(form, value)
            except _Unfit as unfit:
                raise InvalidPayload(f"{path}{place}{''.join(reversed(unfit.steps))}", unfit.problem) from None

        names = [*self._positional[: len(args)], *[""] * max(0, len(args) - len(self._positional))]
        return (
            [
                turned(self._forms.get(name), value, f"args[{index}]")
                for index, (name, value) in enumerate(zip(names, args, strict=True))
            ],
            {name: turned(self._forms.get(name), value, f"kwargs[{name!r}]") for name, value in kwargs.items()},
        )


@lru_cache(maxsize=10_000)
def forms_of(function: Callable[..., Any], *, takes_context: bool) -> Forms:
    """Read the forms from a function's hints. A hint that cannot be read, or says nothing, has none."""
    signature = signature_of(function, takes_context=takes_context)
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # names that only a type checker knows; the task works without
        hints = {}
    forms = {name: form for name in signature.keywords.union(signature.positional) if (form := _form(hints.get(name)))}
    return Forms(signature.positional, forms)


def _form(hint: Any) -> Form | None:
    """Find the form for a hint; None where values travel as they are."""
    origin = typing.get_origin(hint)
    if origin is typing.Union or isinstance(hint, types.UnionType):
        return _optional(typing.get_args(hint))
    if origin is not None:
        return _container(origin, typing.get_args(hint))
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if not isinstance(hint, type):
        return None
    if issubclass(hint, Enum):
        return _enum(hint)
    if dataclasses.is_dataclass(hint):
        return _dataclass(hint)
    return _foreign(hint)


def _optional(members: Sequence[Any]) -> Form | None:
    others = [member for member in members if member is not type(None)]
    # Of several types the stored text would not tell which it was.
    form = _form(others[0]) if len(others) == 1 else None
    if form is None:
        return None
    write, read = form
    return Form(
        lambda value: None if value is None else write(value), lambda value: None if value is None else read(value)
    )


def _container(origin: Any, members: Sequence[Any]) -> Form | None:
    if origin is tuple and not (len(members) == 2 and members[1] is ...):
        return _row([_form(member) for member in members])
    if origin in (tuple, set, frozenset):
        return _items(origin, _form(members[0]) or PLAIN)
    form = _form(members[-1]) if members else None
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
        return kind([_at(f"[{index}]", form.read, item) for index, item in enumerate(value)])

    return Form(write, read)


def _row(forms: Sequence[Form | None]) -> Form:
    def turned(value: Any, kind: type, way: int) -> list[Any]:
        _require(value, kind)
        if len(value) != len(forms):
            raise _Unfit(f"has {len(value)} items; the task wants {len(forms)}")
        return [
            _at(f"[{index}]", (form or PLAIN)[way], item)
            for index, (form, item) in enumerate(zip(forms, value, strict=True))
        ]

    return Form(lambda value: turned(value, tuple, 0), lambda value: tuple(turned(value, list, 1)))


def _mapped(turn: Callable[[Any], Any], value: Any) -> dict[str, Any]:
    _require(value, dict)
    return {key: _at(f"[{key!r}]", turn, item) for key, item in value.items()}


def _enum(cls: type[Enum]) -> Form:
    by_value = all(type(member.value) in (str, int) for member in cls)

    def write(value: Any) -> Any:
        _require(value, cls)
        return value.value if by_value else value.name

    def read(value: Any) -> Any:
        try:
            return cls(value) if by_value else cls[value]
        except (ValueError, KeyError, TypeError):
            known = ", ".join(repr(member.value if by_value else member.name) for member in cls)
            raise _Unfit(f"is no {cls.__name__}; that is one of {known}") from None

    return Form(write, read)


def _dataclass(cls: Any) -> Form:
    fields = [field for field in dataclasses.fields(cls) if field.init]
    hints = typing.get_type_hints(cls)
    forms = {field.name: _form(hints[field.name]) or PLAIN for field in fields}
    required = {
        field.name
        for field in fields
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }

    def write(value: Any) -> dict[str, Any]:
        _require(value, cls)
        return {name: _at(f".{name}", form.write, getattr(value, name)) for name, form in forms.items()}

    def read(value: Any) -> Any:
        _require(value, dict)
        if missing := required - value.keys():
            raise _Unfit(f"has no {', '.join(sorted(missing))}, which {cls.__name__} needs")
        # What a newer version of the class has added and this one does not know is left out.
        given = {name: _at(f".{name}", form.read, value[name]) for name, form in forms.items() if name in value}
        return _made(lambda: cls(**given), cls)

    return Form(write, read)


def _foreign(cls: type) -> Form | None:
    """Use the rules of pydantic or msgspec for their own classes, without importing either."""
    if hasattr(cls, "model_validate") and hasattr(cls, "model_dump"):
        validate, dump = cls.model_validate, cls.model_dump

        def write(value: Any) -> Any:
            _require(value, cls)
            return _made(lambda: dump(value, mode="json"), cls)

        return Form(write, lambda value: _made(lambda: validate(value), cls))
    if hasattr(cls, "__struct_fields__"):
        import msgspec  # it is there: the class is one of its

        def write_struct(value: Any) -> Any:
            _require(value, cls)
            return _made(lambda: msgspec.to_builtins(value), cls)

        return Form(write_struct, lambda value: _made(lambda: msgspec.convert(value, cls), cls))
    return None


def _made(make: Callable[[], Any], cls: type) -> Any:
    try:
        return make()
    except Exception as error:  # the class is the project's, and may raise what it likes
        raise _Unfit(f"is no {cls.__name__}: {_why(error)}") from error


def _why(error: Exception) -> str:
    # Never the value itself, which may be a secret; pydantic's own text has it.
    if hasattr(error, "errors"):
        faults = error.errors(include_input=False, include_url=False)
        return "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)[:300]
    return " ".join(str(error).split())[:300]


def _simple(cls: type, write: Callable[[Any], Any], read: Callable[[Any], Any], kind: type | tuple[type, ...]) -> Form:
    def written(value: Any) -> Any:
        _require(value, cls)
        return write(value)

    def read_back(value: Any) -> Any:
        _require(value, kind)
        try:
            return read(value)
        except (ValueError, ArithmeticError, OverflowError):
            raise _Unfit(f"is no {cls.__name__}") from None

    return Form(written, read_back)


def _require(value: Any, kind: type | tuple[type, ...]) -> None:
    # Exactly: a subclass would arrive as something less.
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if type(value) not in kinds:
        wanted = " or ".join(each.__name__ for each in kinds)
        raise _Unfit(f"is of type {type(value).__name__}; the task wants {wanted}")


def _at(step: str, turn: Callable[[Any], Any], value: Any) -> Any:
    try:
        return turn(value)
    except _Unfit as unfit:
        unfit.steps.append(step)
        raise


def _seconds(value: timedelta) -> float:
    seconds = value.total_seconds()
    if timedelta(seconds=seconds) != value:
        raise _Unfit(f"is {value}, too long to be told to the microsecond in seconds")
    return seconds


PLAIN = Form(lambda value: value, lambda value: value)
"""As it is."""

_SIMPLE: dict[Any, Form] = {
    datetime: _simple(datetime, datetime.isoformat, datetime.fromisoformat, str),
    date: _simple(date, date.isoformat, date.fromisoformat, str),
    time: _simple(time, time.isoformat, time.fromisoformat, str),
    timedelta: _simple(timedelta, _seconds, lambda value: timedelta(seconds=value), (int, float)),
    UUID: _simple(UUID, str, UUID, str),
    Decimal: _simple(Decimal, str, Decimal, str),
}
