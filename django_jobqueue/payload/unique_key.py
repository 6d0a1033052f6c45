"""The key of a unique job, made from its arguments: by a template, as in "invoice:{invoice_id}", or by a function.

A template names parameters of the task, and what is in them: `{order.id}`, `{address[city]}`. Parameters that the call
leaves out have their defaults. A function gets the arguments of the call, without the context, and returns text, or
None for a job without a key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from string import Formatter
from typing import Any

from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.misfit import Misfit, raised
from django_jobqueue.payload.signature import named_signature
from django_jobqueue.payload.storable_json import check_text

KeyMaker = str | Callable[..., str | None]

MAX_LENGTH = 255
"""Characters that the column holds. A longer key keeps its beginning, and ends with its SHA-256."""

_HASH_LENGTH = 64


def names_in(template: str) -> set[str]:
    """Return the parameters that a template names. Raises ValueError for what is no template."""
    names = set()
    for _, field, _, _ in Formatter().parse(template):
        if field is not None:
            name = field.replace("[", ".").split(".")[0]
            if not name.isidentifier():
                raise ValueError(f"names {{{field}}}; a field begins with the name of a parameter")
            names.add(name)
    return names


def unique_key(
    maker: KeyMaker,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    takes_context: bool,
    path: str = "",
) -> str | None:
    """Make the key of a call.

    Raises InvalidPayload for what cannot be one; what a function of the project raises is passed on.
    """
    place = f"{path}unique_key"
    if isinstance(maker, str):
        made: Any = None
        flaw = ""
        try:
            # What is missing is for the decorators of the function to give; the template may do without.
            names = named_signature(function, takes_context=takes_context)
            bound = names.bind_partial(*([None] if takes_context else ()), *args, **kwargs)
            bound.apply_defaults()
            made = Formatter().vformat(maker, (), bound.arguments)
        except Exception as error:  # whatever the attributes of an argument raise; their words may hold its value
            flaw = raised(error)
        if flaw:
            # Outside of the handler: with the error as its context it would be told to the caller after all.
            raise InvalidPayload(place, f"{maker!r} cannot be filled in: {flaw}")
    else:
        made = maker(*args, **kwargs)
        if made is None:
            return None
    if type(made) is not str or not made:
        raise InvalidPayload(place, f"is {'empty' if made == '' else f'of type {type(made).__name__}'}; it is a text")
    try:
        check_text(made)
    except Misfit as misfit:
        raise misfit.at(place) from None
    return _shortened(made)


def _shortened(key: str) -> str:
    if len(key) <= MAX_LENGTH:
        return key
    return key[: MAX_LENGTH - _HASH_LENGTH] + sha256(key.encode()).hexdigest()
