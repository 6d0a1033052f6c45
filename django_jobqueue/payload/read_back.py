"""Whether what arrives is what was passed: equal, and of the same types, in every part.

`==` alone is too kind: it takes 1 for True and for a member of an IntFlag, and a class may compare what it likes. And
it is too strict for datetimes in the hour that a zone has twice.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from datetime import datetime, time
from decimal import Decimal
from typing import Any

from django_jobqueue.payload.form import at
from django_jobqueue.payload.misfit import Misfit

_MISSING = object()


def require_same(given: Any, arrived: Any) -> None:
    """Raise Misfit, with the place, where a value that arrives is another than that which was given.

    A tuple may be a list by then, as everywhere in JSON.
    """
    if given is arrived:
        return
    kind = type(given)
    if kind is not type(arrived) and not (kind is tuple and type(arrived) is list):
        raise Misfit(f"is of type {kind.__name__}, and would arrive as {type(arrived).__name__}")
    if kind in (list, tuple):
        _require(len(given) == len(arrived))
        _each((f"[{index}]", *pair) for index, pair in enumerate(zip(given, arrived, strict=True)))
    elif kind is dict:
        _require({key: type(key) for key in given} == {key: type(key) for key in arrived})
        # No key is named: it may be data.
        _each(("[…]", item, arrived[key]) for key, item in given.items())
    elif kind in (set, frozenset):
        _require({item: type(item) for item in given} == {item: type(item) for item in arrived})
    elif (names := _field_names(kind)) is not None:
        _each((f".{name}", getattr(given, name, _MISSING), getattr(arrived, name, _MISSING)) for name in names)
    else:
        _require(_is_same(given, arrived))


def _each(parts: Iterable[tuple[str, Any, Any]]) -> None:
    for step, given, arrived in parts:
        at(step, _compare_with(arrived), given)


def _compare_with(arrived: Any) -> Callable[[Any], None]:
    return lambda given: require_same(given, arrived)


def _field_names(kind: type) -> list[str] | None:
    """Return what a value of a class with fields is made of; None for any other class."""
    if dataclasses.is_dataclass(kind):
        # Also those that are not passed to __init__; what its author leaves out of comparisons may differ.
        return [field.name for field in dataclasses.fields(kind) if field.compare]
    if hasattr(kind, "model_fields") and hasattr(kind, "model_dump"):
        return [*kind.model_fields, "__pydantic_extra__", "__pydantic_private__"]
    if hasattr(kind, "__struct_fields__"):
        return [*kind.__struct_fields__]
    return None


def _is_same(given: Any, arrived: Any) -> bool:
    try:
        match given:
            case datetime():
                # By the wall clock and the offset: to == no moment of a repeated hour equals one of another zone.
                return _moment(given) == _moment(arrived)
            case time():
                return bool(given == arrived) and (given.tzinfo is None) == (arrived.tzinfo is None)
            case Decimal():
                return given.is_finite() and str(given) == str(arrived)
            case float():
                return repr(given) == repr(arrived)
        return bool(given == arrived)
    except Exception:  # the class is the project's
        return False


def _moment(value: datetime) -> tuple[Any, ...]:
    return value.replace(tzinfo=None, fold=0), value.utcoffset(), value.tzinfo is None


def _require(is_same: bool) -> None:
    if not is_same:
        raise Misfit("would arrive as another value; pass what its JSON gives back, or a reference to what it hides")
