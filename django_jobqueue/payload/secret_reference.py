"""The name of a secret, which is stored in place of its value.

    Secret("settings:STRIPE_KEY")            in the code
    {"$secret": "settings:STRIPE_KEY"}       in the row

The key is kept for this: a dict of a caller's own that has it is refused at the enqueue (`storable_json`), so what is
stored under it was written by the project, and data that came from outside can name no secret. Nothing here knows a
value: `secret_sources` looks them up, in the process that is about to call the task.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from typing import Any, NoReturn, final

from django_jobqueue.conf import SOURCE_NAME
from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.misfit import Misfit, shown

KEY = "$secret"
"""What a reference is stored under, alone."""

MAX_CHARS = 255
_MAX_DEPTH = 120
_MAX_ELEMENTS = 4_000_000

_EXAMPLE = '"settings:STRIPE_KEY"'
_NAMES = {
    "settings": (
        re.compile(r"[A-Z][A-Z0-9_]*(?:\.[\w-]+)*"),
        f'names no setting; write it as in {_EXAMPLE} or "settings:PROVIDERS.stripe.key"',
    ),
    "env": (
        re.compile(r"[A-Za-z_][A-Za-z0-9_]*"),
        'names no variable of the environment; write it as in "env:STRIPE_KEY"',
    ),
}


@final
class Secret:
    """A reference to a secret, as in `Secret("settings:STRIPE_KEY")`: an argument of a job, but not its value.

    Stored as a reference; the task gets the text that it stands for where it runs. Raises InvalidPayload for what is
    no reference, without repeating it: it may be the secret itself.
    """

    # No dataclass: models of pydantic and msgspec would write one as a dict, without a word.
    __slots__ = ("reference",)
    reference: str

    def __init__(self, reference: str) -> None:
        if problem := _problem(reference):
            raise InvalidPayload("Secret", problem)
        object.__setattr__(self, "reference", "".join((reference,)))

    @property
    def scheme(self) -> str:
        """Where to look: "settings", "env", or a source of OPTIONS `secret_sources`."""
        return self.reference.partition(":")[0]

    @property
    def name(self) -> str:
        """What to look for there."""
        return self.reference.partition(":")[2]

    def __str__(self) -> str:
        return self.reference

    def __repr__(self) -> str:
        return f"Secret({self.reference!r})"

    def __format__(self, spec: str) -> str:
        if _is_written_out.get():
            return format(self.reference, spec)
        # An f-string would have the name in place of the value, and be sent so.
        raise TypeError("a Secret cannot be part of a text: pass it alone, and build the header in the task")

    def __eq__(self, other: object) -> bool:
        return self.reference == other.reference if type(other) is Secret else NotImplemented

    def __hash__(self) -> int:
        return hash((Secret, self.reference))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Secret is not changed; make another one than {self!r}")

    def __reduce__(self) -> tuple[type[Secret], tuple[str]]:
        return Secret, (self.reference,)


_is_written_out: ContextVar[bool] = ContextVar("django_jobqueue_secrets_are_written_out", default=False)


@contextmanager
def written_out() -> Iterator[None]:
    """Let references be part of texts that stay here, such as keys."""
    before = _is_written_out.set(True)
    try:
        yield
    finally:
        _is_written_out.reset(before)


def may_hold(*texts: str) -> bool:
    """Say at once of JSON texts that no reference is in them: of most there is none."""
    return any(KEY in text for text in texts)


def is_reference(value: Any) -> bool:
    """Say whether a value is a reference as it is stored."""
    return type(value) is dict and len(value) == 1 and KEY in value and not _problem(value[KEY])


def stored(secret: Secret) -> dict[str, str]:
    """Write a reference as it is stored."""
    return {KEY: secret.reference}


def require_reference(value: dict[str, Any]) -> Secret:
    """Read a reference as it is stored, from a dict that has its key. Raises Misfit."""
    problem = _problem(value[KEY])
    if len(value) > 1 or problem:
        raise Misfit(
            f"has the key {KEY!r}, and is no reference to a secret: it "
            f"{problem if problem else 'has other keys too; a reference has none'}"
        )
    return Secret(value[KEY])


def require_other_names(kwargs: Mapping[str, Any], *, path: str = "") -> None:
    """Raise InvalidPayload for an argument with the key of references as its name: all of them would be one."""
    if KEY in kwargs:
        problem = "is kept for references to secrets; give the argument another name"
        raise InvalidPayload(f"{path}kwargs[{KEY!r}]", problem)


def revived(args: list[Any], kwargs: dict[str, Any], *, path: str = "") -> tuple[list[Any], dict[str, Any]]:
    """Read the references in the stored arguments of a call. Without any the same objects come back.

    Raises InvalidPayload, whose path begins with `path`, for what has their key and is none.
    """
    if not _walk([args, kwargs], None):
        return args, kwargs
    require_other_names(kwargs, path=path)
    return (
        [_revived_at(value, f"{path}args[{index}]") for index, value in enumerate(args)],
        {name: _revived_at(value, f"{path}kwargs[{shown(name)}]") for name, value in kwargs.items()},
    )


def references_in(value: Any) -> frozenset[Secret]:
    """Collect the references in lists and dicts that `revived` has read."""
    found: set[Secret] = set()
    _walk(value, found)
    return frozenset(found)


def filled(value: Any, values: Mapping[Secret, str]) -> Any:
    """Copy lists and dicts with values in the place of references."""
    match value:
        case Secret():
            return values[value]
        case list():
            return [filled(item, values) for item in value]
        case dict():
            return {key: filled(item, values) for key, item in value.items()}
    return value


class References:
    """What references a value may hold that is about to be stored: of which schemes, and whether as they are stored.

    schemes is None for what no job is made of: nothing is a reference there.
    """

    __slots__ = ("are_stored", "schemes")

    def __init__(self, schemes: Collection[str] | None, *, are_stored: bool) -> None:
        self.schemes, self.are_stored = schemes, are_stored

    def check_dict(self, value: dict[str, Any]) -> None:
        """Raise Misfit for a dict that has the key of a reference, unless it may stand there."""
        if self.schemes is None:
            return
        if not self.are_stored:
            raise Misfit(
                f"has the key {KEY!r}, which is kept for references to secrets; "
                'pass Secret("settings:…") for one, or what you have under another key'
            )
        self.check(require_reference(value))

    def check(self, secret: Secret) -> None:
        """Raise Misfit for a reference to a source that nobody knows."""
        if self.schemes is not None and secret.scheme not in self.schemes:
            raise Misfit(unknown_source(secret, self.schemes))


def unknown_source(secret: Secret, schemes: Collection[str]) -> str:
    """Say that a reference names a source that is not known, and which are."""
    near = get_close_matches(secret.scheme, schemes, n=1)
    known = f"known are {', '.join(sorted(schemes))}; OPTIONS secret_sources adds others"
    return f"refers to the unknown source {secret.scheme!r}; " + (f"did you mean {near[0]!r}?" if near else known)


def _problem(reference: object) -> str:
    """Say what is wrong with a reference; nothing if it is one. Never tells it."""
    if not isinstance(reference, str):
        return f"is of type {type(reference).__name__}; a reference is text, as in {_EXAMPLE}"
    reference = "".join((reference,))  # a subclass may lie about itself
    if len(reference) > MAX_CHARS:
        return f"has {len(reference)} characters; a reference has at most {MAX_CHARS}, as {_EXAMPLE} has"
    scheme, colon, name = reference.partition(":")
    if not colon or not SOURCE_NAME.fullmatch(scheme):
        return f'names no source; write it as in {_EXAMPLE} or "env:STRIPE_KEY"'
    if scheme in _NAMES:
        pattern, problem = _NAMES[scheme]
        return "" if pattern.fullmatch(name) else problem
    if not name or not name.isprintable() or any(map(str.isspace, name)):
        return f"names nothing in its source; write it without spaces, as in {_EXAMPLE}"
    return ""


def _walk(value: Any, found: set[Secret] | None) -> bool:
    """Collect references; without a set, stop at the first, or at a dict that may be one."""
    # Not by recursion: asked of the arguments of every job.
    left, room = [value], _MAX_ELEMENTS
    while left:
        item = left.pop()
        kind = type(item)
        if kind is dict:
            if found is None and KEY in item:
                return True
            left.extend(item.values())
        elif kind is list:
            left.extend(item)
        elif kind is Secret:
            if found is None:
                return True
            found.add(item)
        room -= 1
        if room < 0:
            # An upgrade may have made a list that contains itself; to read it says so.
            return True
    return False


def _revived_at(value: Any, place: str) -> Any:
    try:
        return _revived(value, 0)
    except Misfit as misfit:
        raise misfit.at(place) from None


def _revived(value: Any, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise Misfit("contains itself, or is nested too deeply")
    if type(value) is dict:
        if KEY in value:
            return require_reference(value)
        return {key: _step(f"[{shown(key)}]", item, depth) for key, item in value.items()}
    if type(value) is list:
        return [_step(f"[{index}]", item, depth) for index, item in enumerate(value)]
    return value


def _step(step: str, value: Any, depth: int) -> Any:
    try:
        return _revived(value, depth + 1)
    except Misfit as misfit:
        misfit.steps.append(step)
        raise
