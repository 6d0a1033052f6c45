"""What the arguments of a call come in: a list, and a dict with names as keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.misfit import a


def require_shape(args: Any, kwargs: Any, *, path: str = "") -> None:
    """Raise InvalidPayload unless these are a list or tuple of arguments, and a mapping; path goes before their names.

    A text, a set or a mapping could be read as a list of arguments, and would be another one than was meant.
    """
    if not isinstance(args, Sequence) or isinstance(args, str | bytes | bytearray):
        raise InvalidPayload(f"{path}args", f"is {a(type(args).__name__)}, not a list of arguments")
    if not isinstance(kwargs, Mapping):
        raise InvalidPayload(f"{path}kwargs", f"is {a(type(kwargs).__name__)}, not a dict of arguments")
    for name in kwargs:
        if not isinstance(name, str):
            raise InvalidPayload(f"{path}kwargs", f"has a name of type {type(name).__name__}; names are text")
