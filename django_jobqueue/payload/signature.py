"""Whether a call fits what a function takes: asked at the enqueue, where a developer sees the answer.

A worker asks the same of stored arguments, which may be older than the function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from itertools import dropwhile, takewhile
from typing import Any

from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.misfit import shown
from django_jobqueue.payload.secret_names import Names


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a task, without the context that the worker adds."""

    name: str
    positional: tuple[str, ...]
    required: frozenset[str]
    keywords: frozenset[str]
    """What may be named."""
    takes_more_positions: bool
    takes_more_keywords: bool
    rest: str = ""
    """The name of `*rest`; empty if there is none."""
    named: str = ""
    """The name of `**named`."""
    context: str = ""
    """The name under which the worker gives the context, if a call could give it too."""

    def places(self, count: int) -> tuple[str, ...]:
        """Name so many arguments by place: those beyond the others are all `*rest`."""
        return (*self.positional[:count], *[self.rest] * (count - len(self.positional)))

    def hidden_keywords(self, kwargs: Mapping[str, Any], sensitive: Collection[str]) -> Collection[str]:
        """Return the names that `**named` takes, if that is sensitive."""
        return kwargs.keys() - self.keywords if self.named and self.named in Names(sensitive) else ()

    def require_fit(self, args: Sequence[Any], kwargs: Mapping[str, Any], *, path: str = "") -> None:
        """Raise InvalidPayload unless the function can be called so; path goes before `args` and `kwargs`.

        Asks for the number and the names of arguments, not for their types.
        """
        given = len(args)
        if given > len(self.positional) and not self.takes_more_positions:
            most = len(self.positional)
            takes = "takes none" if not most else f"takes {most} at most ({', '.join(self.positional)})"
            raise InvalidPayload(f"{path}args[{most}]", f"is an argument too many; {self.name}() {takes}")
        for name in kwargs:
            if name in self.keywords:
                if name in self.positional[:given]:
                    place = f"args[{self.positional.index(name)}]"
                    raise InvalidPayload(f"{path}kwargs[{shown(name)}]", f"is given twice; it is {place} too")
            elif name == self.context:
                raise InvalidPayload(f"{path}kwargs[{shown(name)}]", "is the context, which the worker gives")
            elif not self.takes_more_keywords:
                raise InvalidPayload(f"{path}kwargs[{shown(name)}]", self._no_such(name))
        if missing := self.required - kwargs.keys() - set(self.positional[:given]):
            names = ", ".join(name for name in self._in_order() if name in missing)
            raise InvalidPayload(f"{path}args and kwargs", f"{self.name}() needs {names}")

    def _no_such(self, name: str) -> str:
        if name in self.positional:
            return f"cannot be named; it is argument {self.positional.index(name) + 1} of {self.name}()"
        near = get_close_matches(name, self.keywords, n=1)
        known = f"it takes {', '.join(self._in_order())}" if self._in_order() else "it takes none"
        return f"is no argument of {self.name}(); " + (f"did you mean {near[0]!r}?" if near else known)

    def _in_order(self) -> list[str]:
        return [*self.positional, *sorted(self.keywords.difference(self.positional))]


def named_signature(function: Callable[..., Any], *, takes_context: bool) -> inspect.Signature:
    """Return what a caller may name: what the outermost decorator names, and of what it wraps what it passes on to.

    A decorator keeps what it names before `*args`, and passes on what follows; one that the function names too is the
    same. Behind such a one out of its place, or one that may be left out, no place tells what is meant: what follows is
    by name only, as it is all where a decorator takes `**kwargs` alone.
    """
    own = inspect.signature(function, follow_wrapped=False)
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is None or not _PASSED_ON & {parameter.kind for parameter in own.parameters.values()}:
        return own
    inner = [*named_signature(wrapped, takes_context=takes_context).parameters.values()]
    if takes_context and any(parameter.kind in _PLACES for parameter in own.parameters.values()):
        inner = inner[1:]  # whatever the decorator calls it
    return own.replace(parameters=_joined([*own.parameters.values()], inner))


def _joined(own: list[inspect.Parameter], inner: list[inspect.Parameter]) -> list[inspect.Parameter]:
    kinds = {parameter.kind for parameter in own}
    places = [parameter for parameter in own if parameter.kind in _PLACES]
    by_name = [parameter for parameter in own if parameter.kind is _Kind.KEYWORD_ONLY]
    known = {parameter.name for parameter in [*places, *by_name]}
    may_end_early = any(parameter.default is not _Kind.empty for parameter in places)

    def has_a_place(parameter: inspect.Parameter) -> bool:
        if parameter.kind in _PLACES:
            return parameter.name not in known and not (may_end_early and parameter.default is _Kind.empty)
        return parameter.kind is _Kind.VAR_POSITIONAL

    if _Kind.VAR_POSITIONAL in kinds:
        before = {parameter.name for parameter in places}
        inner = list(dropwhile(lambda parameter: parameter.kind in _PLACES and parameter.name in before, inner))
        passed_on = list(takewhile(has_a_place, inner))
        inner = inner[len(passed_on) :]
        if _Kind.POSITIONAL_OR_KEYWORD in {parameter.kind for parameter in places}:
            # Python has none that goes by place alone behind one that goes by name too.
            passed_on = [
                parameter.replace(kind=_Kind.POSITIONAL_OR_KEYWORD) if parameter.kind in _PLACES else parameter
                for parameter in passed_on
            ]
        places += passed_on
    by_name += [
        parameter.replace(kind=_Kind.KEYWORD_ONLY)
        for parameter in inner
        if parameter.kind in (_Kind.POSITIONAL_OR_KEYWORD, _Kind.KEYWORD_ONLY) and parameter.name not in known
    ]
    more = [parameter for parameter in inner if parameter.kind is _Kind.VAR_KEYWORD and _Kind.VAR_KEYWORD in kinds]
    return [*places, *by_name, *more]


_Kind = inspect.Parameter
_PLACES = {_Kind.POSITIONAL_ONLY, _Kind.POSITIONAL_OR_KEYWORD}
_PASSED_ON = {_Kind.VAR_POSITIONAL, _Kind.VAR_KEYWORD}


def require_names(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], *, takes_context: bool, path: str = ""
) -> None:
    """Raise InvalidPayload if nobody can tell which parameters the positional arguments are for.

    So it is where a decorator takes `*args`, and the function that it wraps does not take what the call has: then the
    decorator gives arguments of its own, or takes some away.
    """
    if not args or not hasattr(function, "__wrapped__"):
        return
    own = signature_of(function, takes_context=takes_context)
    if not own.takes_more_positions:
        return
    try:
        signature_of(function, takes_context=takes_context, follow_wrapped=True).require_fit(args, kwargs)
    except InvalidPayload as refusal:
        raise InvalidPayload(
            f"{path}args",
            f"cannot be told apart: a decorator of {own.name}() takes any, and the function does not take these "
            f"({refusal}); pass them by name, or have the decorator say what is left, by parameters of its own or a "
            "__signature__",
        ) from None


def read_signature(function: Callable[..., Any], *, takes_context: bool, follow_wrapped: bool = False) -> Signature:
    """Read what a function takes; or the names of that, seen through its decorators, with follow_wrapped.

    The call goes to the decorator, which may add arguments of its own.
    """
    if follow_wrapped:
        signature = named_signature(function, takes_context=takes_context)
    else:
        signature = inspect.signature(function, follow_wrapped=False)
    parameters = list(signature.parameters.values())
    kinds = inspect.Parameter
    positions = [p for p in parameters if p.kind in _PLACES]
    if takes_context:
        positions = positions[1:]
    named = [p for p in parameters if p.kind is kinds.KEYWORD_ONLY]
    return Signature(
        name=getattr(function, "__name__", type(function).__name__),
        positional=tuple(p.name for p in positions),
        required=frozenset(p.name for p in [*positions, *named] if p.default is kinds.empty),
        keywords=frozenset(p.name for p in [*positions, *named] if p.kind is not kinds.POSITIONAL_ONLY),
        takes_more_positions=any(p.kind is kinds.VAR_POSITIONAL for p in parameters),
        takes_more_keywords=any(p.kind is kinds.VAR_KEYWORD for p in parameters),
        rest=next((p.name for p in parameters if p.kind is kinds.VAR_POSITIONAL), ""),
        named=next((p.name for p in parameters if p.kind is kinds.VAR_KEYWORD), ""),
        context=next((p.name for p in parameters[:takes_context] if p.kind is kinds.POSITIONAL_OR_KEYWORD), ""),
    )


@lru_cache(maxsize=10_000)
def signature_of(function: Callable[..., Any], *, takes_context: bool, follow_wrapped: bool = False) -> Signature:
    """Return what a function takes, which is read once: for functions that last."""
    return read_signature(function, takes_context=takes_context, follow_wrapped=follow_wrapped)
