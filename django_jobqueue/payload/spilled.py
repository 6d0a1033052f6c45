"""Whether what a reference stands for stands in what is about to be stored: a result, a key, another job's arguments.

Found in any form that texts write it in, and whole: `masking` hides a beginning, an end or a line of it too, but half
of a value may stand in other texts, as the host of a URL does. What is too short or too common to be told from other
text is not looked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django_jobqueue.payload.literals import stands_in, whole_forms
from django_jobqueue.payload.masking import is_telling
from django_jobqueue.payload.misfit import Misfit, shown


class Spill:
    """A search for values, each with its reference."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._secrets = {value: reference for value, reference in secrets.items() if is_telling(value)}
        self._forms = [(form, ref) for value, ref in self._secrets.items() for form in whole_forms(value)]

    def require_none(self, value: Any, path: str, remedy: str) -> None:
        """Raise InvalidPayload, which names the place and the reference, if one of them is in a value of plain JSON."""
        if not self._forms:
            return
        try:
            self._look(value, remedy)
        except Misfit as misfit:
            raise misfit.at(path) from None

    def _look(self, value: Any, remedy: str) -> None:
        match value:
            case str() if reference := self._in(value):
                raise Misfit(f"has the value of the secret {reference!r} in it; {remedy}")
            # A number is as good as its text.
            case int() if not isinstance(value, bool):
                self._look(str(value), remedy)
            case list() | tuple():
                for index, item in enumerate(value):
                    self._step(f"[{index}]", item, remedy)
            case dict():
                # All keys first: none that is named in a path has a secret in it.
                for key in value:
                    if reference := self._in(key):
                        raise Misfit(f"has a key with the value of the secret {reference!r} in it; {remedy}")
                for key, item in value.items():
                    self._step(f"[{shown(key)}]", item, remedy)

    def _step(self, step: str, value: Any, remedy: str) -> None:
        try:
            self._look(value, remedy)
        except Misfit as misfit:
            misfit.steps.append(step)
            raise

    def _in(self, text: str) -> str:
        """Name the first that is found."""
        return next((reference for form, reference in self._forms if stands_in(form, text)), "")


def referring(value: Any, secrets: Mapping[str, str]) -> Any:
    """Copy what can be JSON with references in the place of values, so that a new value makes no other request of it.

    A value that other texts may be equal to by chance is only replaced where it is that very object.
    """
    match value:
        case str():
            stripped = {secret.strip(): reference for secret, reference in secrets.items() if secret.strip()}
            written = stripped | dict(secrets)
            # The longest first: one may be a part of another.
            for secret in sorted(written, key=len, reverse=True):
                is_it = value is secret if secret in secrets else value == secret
                if is_it or (is_telling(secret) and secret in value):
                    value = value.replace(secret, f"${{{written[secret]}}}")
            return value
        case int() if not isinstance(value, bool):
            return f"${{{secrets[words]}}}" if is_telling(words := str(value)) and words in secrets else value
        case list() | tuple():
            return [referring(item, secrets) for item in value]
        case dict():
            return {referring(key, secrets): referring(item, secrets) for key, item in value.items()}
    return value
