"""Fields whose values are stored without their names: a list has no keys to look for.

So msgspec writes a Struct with `array_like=True`, and msgspec and pydantic a NamedTuple.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import lru_cache
from typing import Any

from django_jobqueue.payload.secret_names import Names


@lru_cache(maxsize=10_000)
def parameters_with(sensitive: tuple[str, ...], function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the parameters whose hint has a sensitive field of this kind, at any depth: for functions that last."""
    names = Names(sensitive)
    hints: dict[str, Any] = {}
    with suppress(Exception):  # names that only a type checker knows
        hints = typing.get_type_hints(function)
    return tuple(name for name, hint in hints.items() if any(field in names for field in nameless_fields(hint)))


def nameless_fields(hint: Any) -> Collection[str]:
    """Return the names of such fields in a type, and in what it is made of."""
    found: set[str] = set()
    left: list[Any] = [hint]
    seen: list[Any] = []
    while left:
        kind = left.pop()
        if kind in seen:
            continue
        seen.append(kind)
        # A generic type, what it is of, a NewType, and `type X = …` of Python 3.12.
        left += [typing.get_origin(kind), *typing.get_args(kind)]
        left += [getattr(kind, name, None) for name in ("__supertype__", "__value__")]
        if not isinstance(kind, type):
            continue
        struct: Any = kind
        if hasattr(kind, "__struct_fields__") and struct.__struct_config__.array_like:
            found.update(struct.__struct_fields__, struct.__struct_encode_fields__)
        elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
            found.update(kind._fields)
        with suppress(Exception):  # as above
            left += typing.get_type_hints(kind).values()
    return found
