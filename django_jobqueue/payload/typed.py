"""Arguments by the type hints of the task: encoded at the enqueue, the same types again on arrival.

The hint decides, not the value: what is stored is plain JSON that a person can read and edit, and a value that is not
of the declared type is refused at the enqueue. Parameters without a hint, and hints of plain types, cost nothing.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from django_jobqueue.payload.form import Form
from django_jobqueue.payload.forms import form_of
from django_jobqueue.payload.misfit import Misfit, shown
from django_jobqueue.payload.read_back import require_same
from django_jobqueue.payload.signature import Signature, read_signature


class Forms:
    """The forms of a task's parameters; those without one travel as they are."""

    def __init__(self, signature: Signature, forms: Mapping[str, Form]) -> None:
        self._signature, self._forms = signature, forms

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

    def require_same(
        self,
        given: tuple[Sequence[Any], Mapping[str, Any]],
        arriving: tuple[Sequence[Any], Mapping[str, Any]],
        *,
        path: str = "",
    ) -> None:
        """Raise InvalidPayload where arguments that arrive are others than those that were given.

        Asked of those only that a class of the project's reads.
        """
        if not any(form.may_differ for form in self._forms.values()):
            return
        (args, kwargs), (arrived_args, arrived_kwargs) = given, arriving
        parts = [
            *((self._at(index), f"args[{index}]", value, arrived_args[index]) for index, value in enumerate(args)),
            *((self._named(name), f"kwargs[{shown(name)}]", kwargs[name], arrived_kwargs[name]) for name in kwargs),
        ]
        for form, place, value, arrived in parts:
            if form is not None and form.may_differ:
                try:
                    require_same(value, arrived)
                except Misfit as misfit:
                    raise misfit.at(f"{path}{place}") from None

    def _at(self, index: int) -> Form | None:
        positional = self._signature.positional
        return self._forms.get(positional[index] if index < len(positional) else self._signature.rest)

    def _named(self, name: str) -> Form | None:
        # A parameter that goes by place alone leaves its name to `**named`.
        return self._forms.get(name if name in self._signature.keywords else self._signature.named)

    def _each(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        path: str,
        way: Callable[[Form], Callable[[Any], Any]],
    ) -> tuple[Any, Any]:
        if not self._forms:
            return args, kwargs

        def turned(form: Form | None, value: Any, place: str) -> Any:
            if form is None:
                return value
            try:
                return way(form)(value)
            except Misfit as misfit:
                raise misfit.at(f"{path}{place}") from None
            except RecursionError:
                raise Misfit("contains itself, or is nested too deeply").at(f"{path}{place}") from None

        return (
            [turned(self._at(index), value, f"args[{index}]") for index, value in enumerate(args)],
            {name: turned(self._named(name), value, f"kwargs[{shown(name)}]") for name, value in kwargs.items()},
        )


def read_forms(function: Callable[..., Any], *, takes_context: bool) -> Forms:
    """Read the forms from a function's hints. A hint that cannot be read, or says nothing, has none."""
    # A decorator's `*args` has no hints; those are on the function that it wraps.
    signature = read_signature(function, takes_context=takes_context, follow_wrapped=True)
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # names that only a type checker knows; the task works without
        hints = {}
    names = signature.keywords.union(signature.positional, (signature.rest, signature.named))
    return Forms(signature, {name: form for name in names if (form := form_of(hints.get(name)))})


@lru_cache(maxsize=10_000)
def forms_of(function: Callable[..., Any], *, takes_context: bool) -> Forms:
    """Return the forms of a function, which are read once: for functions that last."""
    return read_forms(function, takes_context=takes_context)
