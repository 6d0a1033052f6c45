"""What may be shown of a job: its values and texts, without what is secret in them.

Whoever shows, logs or exports something of a job asks here. The rules are those of `payload.masking`; this module
brings what they need to know: the secrets in the project's settings, and what a task has declared `sensitive`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterator
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
from django_jobqueue.payload.masking import MASK, literal_values, masked, masked_arguments, masked_text
from django_jobqueue.payload.secret_names import Names
from django_jobqueue.payload.signature import signature_of


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
    positional: tuple[str, ...] = ()

    def value(self, value: Any, secrets: Collection[str] = ()) -> Any:
        """Copy a result, named arguments or other JSON for show; it may quote the `secrets` of its job."""
        return _unquoted(masked(value, sensitive=self.sensitive, known=known_secrets()), secrets)

    def args(self, args: Any, secrets: Collection[str] = ()) -> Any:
        """Copy positional arguments for show; a damaged row may hold anything there."""
        if not isinstance(args, list):
            return self.value(args, secrets)
        names = {"positional": self.positional, "sensitive": self.sensitive}
        return _unquoted(masked_arguments(args, {}, known=known_secrets(), **names)[0], secrets)

    def arguments(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Copy the arguments of a call for show."""
        secrets = self.secrets_in(args, kwargs)
        return self.args(args, secrets), self.value(kwargs, secrets)

    def record(self, value: Any, secrets: Collection[str] = ()) -> Any:
        """Copy one side of an audit entry for show: it may hold arguments under their columns' names."""
        copy = self.value(value, secrets)
        if isinstance(value, dict) and isinstance(copy, dict):
            args, kwargs = self.arguments(value.get("args", []), value.get("kwargs", {}))
            copy |= {name: half for name, half in (("args", args), ("kwargs", kwargs)) if name in value}
        return copy

    def secrets_in(self, args: Any, kwargs: Any) -> set[str]:
        """Collect the values of a call that a text about it must not quote."""
        if not isinstance(args, list | tuple) or not isinstance(kwargs, dict):
            return literal_values([args, kwargs], sensitive=self.sensitive, known=known_secrets())
        count = min(len(args), len(self.positional))
        named = [{self.positional[i]: args[i]} for i in range(count)]
        return literal_values([*named, *args[count:], kwargs], sensitive=self.sensitive, known=known_secrets())

    def broken_json(self, words: str) -> str:
        """Hide secrets in JSON that was cut, or cannot be read. Beyond a sensitive name nothing is shown."""
        names = Names(self.sensitive)
        if any(name in names for name in self.positional):
            if words.startswith("["):
                return MASK
            names = Names([*self.sensitive, "args"])
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


def _unquoted(copy: Any, secrets: Collection[str]) -> Any:
    match copy:
        case str():
            quoted = [secret for secret in secrets if secret.strip() and secret.strip() in copy]
            return text(copy, quoted) if quoted else copy
        case list():
            return [_unquoted(item, secrets) for item in copy]
        case dict():
            return {_unquoted(key, secrets): _unquoted(item, secrets) for key, item in copy.items()}
    return copy


_JSON_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"?(\s*:)?', re.DOTALL)


def veil_of(task: AnyTask | None) -> Veil:
    """Return the veil for jobs of a task; None is one that nobody knows."""
    if task is None:
        return Veil()
    with suppress(Exception):  # a signature is asked of the project's code
        takes = signature_of(task.func, takes_context=task.takes_context, follow_wrapped=True)
        return Veil(sensitive_of(task), takes.positional)
    return Veil(sensitive_of(task))


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
