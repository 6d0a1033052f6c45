"""Arguments by the type hints of the task: encoded at the enqueue, the same types again on arrival.

The hint decides, not the value: what is stored is plain JSON that a person can read and edit, and a value that is not
of the declared type is refused at the enqueue. Parameters without a hint, and hints of plain types, cost nothing.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from django_jobqueue.payload.forms import Form, form_of
from django_jobqueue.payload.misfit import Misfit, shown
from django_jobqueue.payload.signature import read_signature


class Forms:
    """The forms of a task's parameters; those without one travel as they are."""

    def __init__(self, positional: Sequence[str], forms: Mapping[str, Form]) -> None:
        self._positional, self._forms = positional, forms

    def __bool__(self) -> bool:
        """Whether any parameter has one."""
        return bool(self._forms)

    def write(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], *, path: str = ""
    ) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """Encode the arguments of a call. Raises InvalidPayload, whose path begins with `path`."""
        return self._each(args, kwargs, path, lambda form: form.write)

    def read(self, args: list[Any], kwargs: dict[str, Any], *, path: str = "") -> tuple[list[Any], dict[str, Any]]:
        """Decode stored arguments. Raises InvalidPayload."""
        return self._each(args, kwargs, path, lambda form: form.read)

    def _each(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        path: str,
        way: Callable[[Form], Callable[[Any], Any]],
    ) -> tuple[Any, Any]:
        if not self._forms:
            return args, kwargs

        def turned(name: str, value: Any, place: str) -> Any:
            if name not in self._forms:
                return value
            try:
                return way(self._forms[name])(value)
            except Misfit as misfit:
                raise misfit.at(f"{path}{place}") from None
            except RecursionError:
                raise Misfit("contains itself, or is nested too deeply").at(f"{path}{place}") from None

        names = [*self._positional[: len(args)], *[""] * max(0, len(args) - len(self._positional))]
        return (
            [
                turned(name, value, f"args[{index}]")
                for index, (name, value) in enumerate(zip(names, args, strict=True))
            ],
            {name: turned(name, value, f"kwargs[{shown(name)}]") for name, value in kwargs.items()},
        )


def read_forms(function: Callable[..., Any], *, takes_context: bool) -> Forms:
    """Read the forms from a function's hints. A hint that cannot be read, or says nothing, has none."""
    # A decorator's `*args` has no hints; those are on the function that it wraps.
    signature = read_signature(function, takes_context=takes_context, follow_wrapped=True)
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # names that only a type checker knows; the task works without
        hints = {}
    names = signature.keywords.union(signature.positional)
    return Forms(signature.positional, {name: form for name in names if (form := form_of(hints.get(name)))})


@lru_cache(maxsize=10_000)
def forms_of(function: Callable[..., Any], *, takes_context: bool) -> Forms:
    """Return the forms of a function, which are read once: for functions that last."""
    return read_forms(function, takes_context=takes_context)
