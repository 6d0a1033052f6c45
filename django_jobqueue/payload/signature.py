"""Whether a call fits what a function takes: asked at the enqueue, where a developer sees the answer.

A worker asks the same of stored arguments, which may be older than the function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.misfit import shown


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


def read_signature(function: Callable[..., Any], *, takes_context: bool, follow_wrapped: bool = False) -> Signature:
    """Read what a function takes; or what the one takes that its decorators wrap, with follow_wrapped.

    The call goes to the decorator, which may add arguments of its own.
    """
    parameters = list(inspect.signature(function, follow_wrapped=follow_wrapped).parameters.values())
    kinds = inspect.Parameter
    positions = [p for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
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
    )


@lru_cache(maxsize=10_000)
def signature_of(function: Callable[..., Any], *, takes_context: bool, follow_wrapped: bool = False) -> Signature:
    """Return what a function takes, which is read once: for functions that last."""
    return read_signature(function, takes_context=takes_context, follow_wrapped=follow_wrapped)
