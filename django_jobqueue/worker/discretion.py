"""The words of a failure, as they may leave the runner.

A runner has both at hand: the error, and the arguments that it may quote. Once the words are shortened, stored and
logged nobody can tell a secret from them any more, so they are covered here, first. Only a failure costs anything.

What a reference stood for is covered in its own attempt, and in what this process says later: a client that was given
the key may outlive the job, and fail in another's name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Lock
from typing import Any, Protocol

from django_jobqueue import running, shown
from django_jobqueue.compat import AnyTask
from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.masking import MASK
from django_jobqueue.payload.storable_text import describe
from django_jobqueue.payload.versions import upgraded
from django_jobqueue.policy.outcomes import Failure
from django_jobqueue.tasks import Task

MAX_REMEMBERED = 50
"""Values that a process covers after their attempts; each makes the search of a text longer."""

_remembered: dict[str, None] = {}
_remembering = Lock()


class Stored(Protocol):
    """An order: it has the arguments as they are stored."""

    @property
    def version(self) -> int: ...
    @property
    def args(self) -> str: ...
    @property
    def kwargs(self) -> str: ...


def prepare() -> None:
    """Load what covering needs, codecs included: a job that keeps every file descriptor leaves none to load it with."""
    shown.text(cover_any("prepare: all that is read"), {"prepared ä"})


def remember(values: Iterable[str]) -> None:
    """Note what references stand for, so that it is covered from now on; the latest if there are many."""
    with _remembering:
        for value in values:
            _remembered.pop(value, None)
            _remembered[value] = None
        for value in list(_remembered)[:-MAX_REMEMBERED]:
            del _remembered[value]


def failure_of(error: BaseException, order: Stored, task: AnyTask | None) -> Failure:
    """Say what an exception was, without the secrets of the settings and of the attempt that it ended. Never raises."""
    return describe(error, cover=cover_for(order, task))


def cover_for(order: Stored, task: AnyTask | None) -> Callable[[str], str]:
    """Return what covers the secrets of an attempt in a text about it. It never raises."""
    secrets: set[str] | None = None

    def cover(words: str) -> str:
        nonlocal secrets
        try:
            if secrets is None:
                secrets = _secrets(order, task)
            return shown.text(words, secrets | _revealed())
        except BaseException:  # settings are code too; a stack may be nearly full
            return MASK

    return cover


def cover_any(words: str) -> str:
    """Cover what looks like a secret in a text that belongs to no attempt. Never raises."""
    try:
        return shown.text(words, _revealed())
    except BaseException:
        return MASK


def _revealed() -> set[str]:
    attempt = running.attempt.get()
    with _remembering:
        return {*_remembered, *(attempt.secrets if attempt else ())}


def _secrets(order: Stored, task: AnyTask | None) -> set[str]:
    veil = shown.veil_of(task)
    args, kwargs = _read(order.args), _read(order.kwargs)
    secrets = veil.secrets_in(args, kwargs)
    if isinstance(task, Task) and order.version < task.version:
        # The names are those of today: what an older version called otherwise is under them after its upgrades.
        with suppress(InvalidPayload):
            fresh = upgraded(args, kwargs, stored=order.version, version=task.version, steps=task.upgrade)
            secrets |= veil.secrets_in(*fresh)
    return secrets


def _read(words: str) -> Any:
    try:
        return json.loads(words)
    except (ValueError, RecursionError):
        return words
