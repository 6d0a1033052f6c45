"""The keys of a job, made from its arguments: by a template, as in "invoice:{invoice_id}", or by a function.

`unique_key` says of which jobs one may be alive, `concurrency_key` which ones share a limit, `order_key` which ones
go one after the other.

A template names parameters of the task, and what is in them: `{order.id}`, `{address[city]}`. Parameters that the call
leaves out have their defaults. A function gets the arguments of the call, without the context, and returns text, or
None for a job without a key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from string import Formatter
from types import BuiltinMethodType, MethodType
from typing import Any

from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.misfit import Misfit, a, raised
from django_jobqueue.payload.secret_reference import written_out
from django_jobqueue.payload.signature import named_signature
from django_jobqueue.payload.storable_json import check_text

KeyMaker = str | Callable[..., str | None]

KEYS = ("unique_key", "concurrency_key", "order_key")
"""The options of a task that make one."""

MAX_LENGTH = 255
"""Characters that the column holds. A longer key keeps its beginning, and ends with its SHA-256."""

_HASH_LENGTH = 64


def names_in(template: str) -> set[str]:
    """Return the parameters that a template names. Raises ValueError for what is no template."""
    names = set()
    for _, field, _, conversion in _parsed(template):
        if field is None:
            continue
        name = field.replace("[", ".").split(".")[0]
        if not name.isidentifier():
            raise ValueError(f"names {{{field}}}; a field begins with the name of a parameter")
        if not _FIELD.fullmatch(field):
            raise ValueError(f"has the field {{{field}}}; write it as in {{order.id}} or {{order[id]}}")
        if conversion not in (None, *"sra"):
            raise ValueError(f"has !{conversion}, and a field takes !s, !r or !a")
        names.add(name)
    return names


_STEP = re.compile(r"\.(?P<attribute>\w+)|\[(?P<item>[^\]]+)\]")
_FIELD = re.compile(r"\w+(?:\.\w+|\[[^\]]+\])*")


def _parsed(template: str) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(Formatter().parse(template))
    except ValueError as error:
        # Python's words speak of the end of a string, and of another brace than the one that is wrong.
        one, other = "}{" if str(error).startswith("Single '}'") else "{}"
        raise ValueError(f"has a {one} without its {other}; one that means itself is doubled") from None


class _Filling(Formatter):
    """Fills a template in, and raises Misfit where it can say in words, without any value, why that cannot be done."""

    def get_field(self, field_name: str, args: Any, kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        name = field_name.replace("[", ".").split(".")[0]
        if name not in kwargs:
            raise Misfit(f"{{{field_name}}}: the call gives no {name!r}")
        value = kwargs[name]
        for step in _STEP.finditer(field_name, len(name)):
            value = _stepped(value, step)
        return value, name

    def format_field(self, value: Any, format_spec: str) -> Any:
        try:
            return format(value, format_spec)
        except (TypeError, ValueError):
            if type(value) not in _PLAIN:
                raise
            raise Misfit(f"{_kind(value)} cannot be written with {f':{format_spec}'!r}") from None


_PLAIN = (dict, list, tuple, str, int, float, bool, type(None))
"""Types whose errors are known to be about the template, and not of a property of the project's."""


def _stepped(value: Any, step: re.Match[str]) -> Any:
    """Go one step of a field: `.attribute`, or `[item]`."""
    attribute, item = step["attribute"], step["item"]
    before = step.string[: step.start()]
    where, it = f"{{{step.string}}}", _kind(value)
    if attribute:
        as_item = f"; write {{{before}[{attribute}]{step.string[step.end() :]}}}" if isinstance(value, Mapping) else ""
        try:
            found = getattr(value, attribute)
        except AttributeError:
            if hasattr(type(value), attribute):
                raise
            raise Misfit(f"{where}: {it} has no attribute {attribute!r}{as_item}") from None
        if isinstance(found, BuiltinMethodType | MethodType):
            raise Misfit(f"{where}: it is a method of {it}{as_item}")
        return found
    if not hasattr(type(value), "__getitem__"):
        as_attribute = f"; write {{{before}.{item}{step.string[step.end() :]}}}" if item.isidentifier() else ""
        raise Misfit(f"{where}: {it} has no items{as_attribute}")
    try:
        return value[int(item) if item.isdigit() else item]
    except (KeyError, IndexError, TypeError):
        if type(value) not in _PLAIN:
            raise
        what = f"item {item}" if item.isdigit() else f"key {item!r}"
        raise Misfit(f"{where}: {it} has no {what}") from None


def _kind(value: object) -> str:
    return "None" if value is None else a(type(value).__name__)


def make_key(
    option: str,
    maker: KeyMaker,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    takes_context: bool,
    path: str = "",
) -> str | None:
    """Make the key of a call that an option of its task asks for.

    Raises InvalidPayload for what cannot be one; what a function of the project raises is passed on.
    """
    place = f"{path}{option}"
    if isinstance(maker, str):
        made: Any = None
        flaw = ""
        try:
            # What is missing is for the decorators of the function to give; the template may do without.
            names = named_signature(function, takes_context=takes_context)
            bound = names.bind_partial(*([None] if takes_context else ()), *args, **kwargs)
            bound.apply_defaults()
            with written_out():
                made = _Filling().vformat(maker, (), bound.arguments)
        except Misfit as misfit:
            flaw = misfit.problem
        except Exception as error:  # whatever the attributes of an argument raise; their words may hold its value
            flaw = raised(error)
        if flaw:
            # Outside of the handler: with the error as its context it would be told to the caller after all.
            raise InvalidPayload(place, f"{maker!r} cannot be filled in: {flaw}")
    else:
        with written_out():
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
