"""What stands behind the name of a secret: looked up in the process that is about to call the task, and nowhere else.

    settings:STRIPE_KEY             a setting
    settings:PROVIDERS.stripe.key   what a setting holds: keys of dicts, numbers in lists; never an attribute
    env:STRIPE_KEY                  a variable of the environment
    vault:billing/stripe            what the function of OPTIONS `secret_sources` answers

A reference comes from a row, and says which name to look for. Which function is asked is said by the project's settings
alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from inspect import iscoroutinefunction
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from django_jobqueue.conf import OWN_SOURCES
from django_jobqueue.exceptions import SecretUnavailable
from django_jobqueue.payload.secret_reference import Secret, unknown_source

MAX_CHARS = 65_536
"""Of a value: what an error quotes is searched for it."""

Sources = Mapping[str, str]
"""The dotted paths of the project's own sources, by scheme."""


def look_up(secrets: Iterable[Secret], sources: Sources) -> dict[Secret, str]:
    """Find what references stand for. Raises SecretUnavailable, which names the first that stands for nothing.

    Each text is an object that nobody else has: so it can be told from another that is equal by chance.
    """
    own: dict[str, str] = {}
    values = {secret: _value(secret, sources) for secret in sorted(secrets, key=str)}
    return {secret: own.setdefault(value, _own(value)) for secret, value in values.items()}


def _own(value: str) -> str:
    # Python gives the text itself for a copy, and keeps one of each that stands in code.
    return f"{value} "[:-1]


def are_at_hand(secrets: Iterable[Secret]) -> bool:
    """Say whether these can be looked up without calling the project's code."""
    return all(secret.scheme in OWN_SOURCES for secret in secrets)


def problem(secret: Secret, sources: Sources) -> str:
    """Say what will keep a reference from being looked up here, as far as can be said without asking a source."""
    if secret.scheme in sources:
        return ""
    try:
        _value(secret, sources)
    except SecretUnavailable as error:
        return str(error)
    return ""


def fault(path: str) -> str:
    """Say what is wrong with the path of a source; nothing if it can be called."""
    try:
        source = import_string(path)
    except Exception as error:  # to import it is to run the project's code
        return f"cannot be imported: {type(error).__name__}: {error}"
    if not callable(source):
        return f"is of type {type(source).__name__}, and is no function"
    is_async = iscoroutinefunction(source)
    return "is a coroutine, and its answer cannot be awaited; use a plain function" if is_async else ""


def _value(secret: Secret, sources: Sources) -> str:
    match secret.scheme:
        case "settings":
            value = _setting(secret)
        case "env":
            value = os.environ.get(secret.name)
            if value is None:
                raise _unavailable(secret, f"the environment has no {secret.name}; {_SET_IT}")
        case scheme if scheme in sources:
            value = _answer(secret, sources[scheme])
        case _:
            raise _unavailable(secret, f"it {unknown_source(secret, (*OWN_SOURCES, *sources))}")
    if not isinstance(value, str):
        raise _unavailable(secret, f"it is of type {type(value).__name__}, and a secret is text")
    text = "".join((value,))  # of no class of its own, which may write itself in another way
    if not text:
        raise _unavailable(secret, f"it is empty; {_SET_IT}")
    if len(text) > MAX_CHARS:
        raise _unavailable(secret, f"it has {len(text)} characters, and a secret has {MAX_CHARS} at most")
    return text


_SET_IT = "set it where the worker runs"


def _unavailable(secret: Secret, why: str) -> SecretUnavailable:
    return SecretUnavailable(f"the job needs {secret!r}, which cannot be had: {why}")


def _setting(secret: Secret) -> Any:
    name, *steps = secret.name.split(".")
    try:
        value = getattr(settings, name)
    except AttributeError:
        raise _unavailable(secret, f"the settings have no {name}; {_SET_IT}") from None
    except Exception as error:  # settings are code too
        raise _unavailable(secret, f"settings.{name} raises {type(error).__name__}") from error
    place = name
    for step in steps:
        match value:
            case Mapping() if step in value:
                value = value[step]
            case list() | tuple() if step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            case _:
                raise _unavailable(secret, f"settings.{place} has no {step!r}; {_SET_IT}")
        place = f"{place}.{step}"
    return value


def _answer(secret: Secret, path: str) -> Any:
    try:
        source: Callable[[str], Any] = import_string(path)
        return source(secret.name)
    except BaseException as error:  # the project's code, and whatever it asks: a client that gives up may exit
        raise _unavailable(secret, f"its source {path} raised {type(error).__name__}") from error
