"""Models of pydantic and Structs of msgspec, written and read by their own rules.

What they say of a fault may quote the value, or a key of a dict; it is told by its kind, and by names of fields.
"""

from __future__ import annotations

import dataclasses
import re
import typing
from functools import lru_cache
from typing import Any

from django_jobqueue.payload.form import Form, made, require_type


def pydantic_form(cls: Any) -> Form:
    """Return the form of a model of pydantic."""

    def why(error: Any) -> str:
        if not hasattr(error, "error_count"):
            return type(error).__name__
        faults = error.errors(include_input=False, include_url=False, include_context=False)
        return "; ".join(f"{_place(cls, fault['loc'])}: {fault['type']}" for fault in faults)

    def write(value: Any) -> Any:
        require_type(value, cls)
        # Its warnings quote what is in a field that is of another type.
        dump = lambda: value.model_dump(mode="json", by_alias=True, round_trip=True, warnings=False)  # noqa: E731
        return made(cls, dump, why)

    return Form(write, lambda value: made(cls, lambda: cls.model_validate(value), why), may_differ=True)


def _place(cls: type, steps: tuple[int | str, ...]) -> str:
    names = _field_names(cls)
    return ".".join(str(step) if isinstance(step, int) or step in names else "…" for step in steps)


@lru_cache(maxsize=1000)
def _field_names(cls: type) -> frozenset[str]:
    """Collect the names of the fields of a model, and of the models in it: any other step of a path is data."""
    names: set[str] = set()
    seen: set[Any] = set()
    rest: list[Any] = [cls]
    while rest:
        hint = rest.pop()
        if id(hint) in seen:
            continue
        seen.add(id(hint))
        rest += typing.get_args(hint)
        for name, field in getattr(hint, "model_fields", {}).items():
            names |= {each for each in (name, field.alias, field.validation_alias) if isinstance(each, str)}
            rest.append(field.annotation)
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            names |= {field.name for field in dataclasses.fields(hint)}
    return frozenset(names)


def msgspec_form(cls: Any, hint: Any) -> Form:
    """Return the form of a Struct of msgspec; the hint is the class, or says what a generic one is of."""
    import msgspec  # it is there: the class is one of its

    def why(error: Exception) -> str:
        if not isinstance(error, msgspec.MsgspecError):
            return type(error).__name__
        # It quotes what an Enum does not know, and the name of a field that there is not.
        return re.sub("unknown field `.*`", "an unknown field", re.sub("'.*'", "'…'", str(error)))

    def write(value: Any) -> Any:
        require_type(value, cls)
        return made(cls, lambda: msgspec.to_builtins(value), why)

    return Form(write, lambda value: made(cls, lambda: msgspec.convert(value, hint), why), may_differ=True)
