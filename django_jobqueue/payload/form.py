"""A form: how values of one type are written as JSON, and read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from django_jobqueue.payload.misfit import Misfit


class Form(NamedTuple):
    """How values of one type are written and read. Each raises Misfit for a value that is none."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]
    may_differ: bool = False
    """Whether what is read may be another value than what was written: a class of the project's has a say in it."""


PLAIN = Form(lambda value: value, lambda value: value)
"""As it is."""


def require_type(value: Any, kind: type | tuple[type, ...]) -> None:
    """Raise Misfit unless a value is of a type exactly: a subclass would arrive as something less."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if type(value) not in kinds:
        wanted = " or ".join(each.__name__ for each in kinds)
        raise Misfit(f"is of type {type(value).__name__}; the task wants {wanted}")


def made(cls: type, make: Callable[[], Any], why: Callable[[Any], str]) -> Any:
    """Call what the class of a project does; `why` says what it raises, without the value."""
    try:
        return make()
    except (Exception, SystemExit) as error:  # the class is the project's, and may raise what it likes
        raise Misfit(f"is no {cls.__name__}: {why(error):.300}") from error


def at(step: str, turn: Callable[[Any], Any], value: Any) -> Any:
    """Turn a part of a value; a Misfit says that it was there."""
    try:
        return turn(value)
    except Misfit as misfit:
        misfit.steps.append(step)
        raise
