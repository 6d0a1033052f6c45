"""What may be shown of a job: its values and texts, without what is secret in them.

Whoever shows, logs or exports something of a job asks here. The rules are those of `payload.masking`; this module
brings what they need to know: the secrets in the project's settings, and what a task has declared `sensitive`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed

from django_jobqueue import registry
from django_jobqueue.any_task import sensitive_of
from django_jobqueue.compat import AnyTask
from django_jobqueue.payload.known_secrets import KnownSecrets, has_password, is_secret_setting
from django_jobqueue.payload.literals import HEAD, forms_of_literal
from django_jobqueue.payload.masking import MASK, blank, literal_values, masked, masked_arguments, masked_text
from django_jobqueue.payload.nameless_fields import parameters_with
from django_jobqueue.payload.secret_names import Names
from django_jobqueue.payload.secret_shapes import text_of
from django_jobqueue.payload.signature import Signature, signature_of

ALL_IS_HIDDEN = "Its task is not known here, and so not what of it is sensitive: all values are hidden."


@lru_cache(maxsize=1)
def known_secrets() -> KnownSecrets:
    """Return what must not be shown of Django's settings: passwords of databases, keys, tokens."""
    with warnings.catch_warnings():
        # To look at a setting that is deprecated is no use of it; as an error the warning would hide its value.
        warnings.simplefilter("ignore")
        return KnownSecrets(dict(_telling_settings()))


def text(words: str, values: Collection[str] = ()) -> str:
    """Hide in a text the values given, those of the settings, and what has the shape of a secret."""
    return masked_text(words, values=values, known=known_secrets())


@dataclass(frozen=True, slots=True)
class Veil:
    """What covers the secrets in jobs of one task; without names it goes by looks alone."""

    sensitive: tuple[str, ...] = ()
    takes: Signature | None = None
    hides_all: bool = False
    """Whether every value is hidden, since nobody knows which of them are sensitive."""

    @property
    def knows_more(self) -> bool:
        """Whether it hides what no looks betray, in words about a job too."""
        return self.hides_all or bool(self.sensitive)

    def value(self, value: Any, secrets: Collection[str] = ()) -> Any:
        """Copy a result, named arguments or other JSON for show; it may quote the `secrets` of its job."""
        if self.hides_all:
            return blank(value, known=known_secrets())
        return _unquoted(masked(value, sensitive=self.sensitive, known=known_secrets()), secrets)

    def args(self, args: Any, secrets: Collection[str] = ()) -> Any:
        """Copy positional arguments for show; a damaged row may hold anything there."""
        if self.hides_all or not isinstance(args, list):
            return self.value(args, secrets)
        places = self._places(args)
        copy, _ = masked_arguments(args, {}, positional=places, sensitive=self.sensitive, known=known_secrets())
        return _unquoted(copy, secrets)

    def kwargs(self, kwargs: Any, secrets: Collection[str] = ()) -> Any:
        """Copy named arguments for show; a damaged row may hold anything there."""
        if self.hides_all or not isinstance(kwargs, dict):
            return self.value(kwargs, secrets)
        hidden = self._hidden_keywords(kwargs)
        _, copy = masked_arguments([], kwargs, hidden=hidden, sensitive=self.sensitive, known=known_secrets())
        return _unquoted(copy, secrets)

    def arguments(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Copy the arguments of a call for show."""
        secrets = self.secrets_in(args, kwargs)
        return self.args(args, secrets), self.kwargs(kwargs, secrets)

    def record(self, value: Any, secrets: Collection[str] = ()) -> Any:
        """Copy one side of an audit entry for show: it may hold arguments under their columns' names."""
        # Its columns have names of their own, which nobody hides.
        copy = (Veil() if self.hides_all else self).value(value, secrets)
        if isinstance(value, dict) and isinstance(copy, dict):
            args, kwargs = self.arguments(value.get("args", []), value.get("kwargs", {}))
            copy |= {name: half for name, half in (("args", args), ("kwargs", kwargs)) if name in value}
        return copy

    def secrets_in(self, args: Any, kwargs: Any) -> set[str]:
        """Collect the values of a call that a text about it must not quote."""
        if self.hides_all:
            return literal_values({"all": [args, kwargs]}, sensitive=["all"], known=known_secrets())
        if not isinstance(args, list | tuple) or not isinstance(kwargs, dict):
            return literal_values([args, kwargs], sensitive=self.sensitive, known=known_secrets())
        named: list[Any] = [{name: value} for name, value in zip(self._places(args), args, strict=True)]
        if hidden := self._hidden_keywords(kwargs):
            named.append({self.sensitive[0]: {name: kwargs[name] for name in hidden}})
        return literal_values([*named, kwargs], sensitive=self.sensitive, known=known_secrets())

    def broken_json(self, words: str) -> str:
        """Hide secrets in JSON that was cut, or cannot be read. Beyond a sensitive name nothing is shown."""
        if self.hides_all:
            return MASK
        names = Names(self.sensitive)
        if self.takes and any(name in names for name in (*self.takes.positional, self.takes.rest)):
            if words.startswith("["):
                return MASK
            names = Names([*self.sensitive, "args"])
        if self.takes and self.takes.named in names and words.startswith("{"):
            return MASK
        pieces: list[str] = []
        shown, name = 0, ""
        for found in _JSON_TEXT.finditer(words):
            word, colon = found.groups()
            if colon:
                name = word
                if word in names:
                    return text("".join([*pieces, words[shown : found.end()]])) + f" {MASK}"
            else:
                copy = self.value({name: word})
                pieces += [words[shown : found.start(1)], str(next(iter(copy.values())))]
                shown = found.end(1)
        return text("".join([*pieces, words[shown:]]))

    def _places(self, args: Sequence[Any]) -> Sequence[str]:
        return self.takes.places(len(args)) if self.takes else [""] * len(args)

    def _hidden_keywords(self, kwargs: dict[str, Any]) -> Collection[str]:
        return self.takes.hidden_keywords(kwargs, self.sensitive) if self.takes else ()


def _unquoted(copy: Any, secrets: Collection[str]) -> Any:
    """Hide in a copy that is shown what it quotes of its job's arguments."""
    return _without(copy, [(form[:HEAD], secret) for secret in secrets if secret for form in forms_of_literal(secret)])


def _without(copy: Any, marks: list[tuple[str, str]]) -> Any:
    match copy:
        case str() if quoted := {secret for mark, secret in marks if mark in copy}:
            return text(copy, quoted)
        case int() | float() if not isinstance(copy, bool):
            # A number is as good as its text.
            words = str(copy) if isinstance(copy, float) else text_of(copy)
            return copy if words is None or _without(words, marks) == words else MASK
        case list():
            return [_without(item, marks) for item in copy]
        case dict():
            return {_without(key, marks): _without(item, marks) for key, item in copy.items()}
    return copy


_JSON_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"?(\s*:)?', re.DOTALL)


def veil_of(task: AnyTask | None) -> Veil:
    """Return the veil for jobs of a task; None is one that nobody knows, of which all is hidden."""
    if task is None:
        return Veil(hides_all=True)
    sensitive = sensitive_of(task)
    with suppress(Exception):  # a signature is asked of the project's code
        takes = signature_of(task.func, takes_context=task.takes_context, follow_wrapped=True)
        # Of a list without names all is hidden, if one of them is sensitive.
        return Veil((*sensitive, *parameters_with(sensitive, task.func)) if sensitive else (), takes)
    return Veil(sensitive)


def veil_named(name: str) -> Veil:
    """Return the veil for jobs that are stored under a name."""
    return veil_of(registry.find(name))


def _telling_settings() -> Iterator[tuple[str, Any]]:
    for name in dir(settings):
        if not name.isupper():
            continue
        with suppress(Exception):  # SECRET_KEY that is not set is an error of its own
            value = getattr(settings, name)
            if is_secret_setting(name) or isinstance(value, dict) or has_password(value):
                yield name, value
            elif isinstance(value, list | tuple):
                # TEMPLATES and such: their dicts may hold secrets, their names are none.
                yield name, [item for item in value if isinstance(item, dict) or has_password(item)]


def _forget(**_changed: Any) -> None:
    known_secrets.cache_clear()


setting_changed.connect(_forget, dispatch_uid="django_jobqueue.shown")
