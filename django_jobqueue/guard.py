"""What is done with arguments that look like secrets, by the policy of the project: at the enqueue.

OPTIONS `secrets` is "warn", "refuse" or "ignore". Names that the task has declared `sensitive` are expected. The value
itself is stored as it was given, whatever the policy, and told to nobody. What a Secret of the running job stands for
is known to be one: every policy refuses it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

from django_jobqueue import running
from django_jobqueue.any_task import sensitive_of, stored_name
from django_jobqueue.compat import AnyTask
from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.secret_shapes import SENSITIVE, Finding, call_findings
from django_jobqueue.payload.signature import signature_of
from django_jobqueue.payload.spilled import Spill
from django_jobqueue.shown import known_secrets

logger = logging.getLogger("django_jobqueue")

MAX_TOLD = 20
"""Places in the arguments of one task that a process warns of; keys may be data, and no two calls alike."""

_told: dict[str, set[tuple[str, str]]] = {}

_INDEX = re.compile(r"\[\d+\]")


def watch(task: AnyTask, args: list[Any], kwargs: dict[str, Any], *, policy: str, path: str = "") -> None:
    """Warn of what looks like a secret in arguments as they are stored, or raise InvalidPayload, by the policy."""
    if policy == "ignore":
        return
    takes, sensitive = (
        signature_of(task.func, takes_context=task.takes_context, follow_wrapped=True),
        sensitive_of(task),
    )
    found = call_findings(
        args,
        kwargs,
        positional=takes.places(len(args)),
        sensitive=sensitive,
        hidden=takes.hidden_keywords(kwargs, sensitive),
        known=known_secrets(),
    )
    for finding in found:
        if finding.why == SENSITIVE:
            continue
        if policy == "refuse":
            raise InvalidPayload(f"{path}{finding.path}", f"looks like a secret ({finding.why}); {_REMEDY}")
        _warn_once(stored_name(task), finding)


_REMEDY = (
    "pass a reference and fetch it in the task, or name it in sensitive=(…) of the task, "
    'or set OPTIONS secrets to "warn" or "ignore"'
)


def require_nothing_spilled(
    values: Mapping[str, Any], *, path: str = "", remedy: str = "pass the Secret itself"
) -> None:
    """Raise InvalidPayload if what a Secret of the running job stands for is about to be stored elsewhere.

    values are plain JSON, each with the name that stands for it in the error, behind path; remedy is its last words.
    """
    attempt = running.attempt.get()
    if attempt is None or not attempt.secrets:
        return
    spill = Spill(attempt.secrets)
    for name, value in values.items():
        spill.require_none(value, f"{path}{name}", remedy)


def _warn_once(name: str, finding: Finding) -> None:
    # The first index is the place of an argument; the others count what a call happens to hold.
    head, bracket, rest = finding.path.partition("]")
    place = head + bracket + _INDEX.sub("[…]", rest)
    told = _told.setdefault(name, set())
    if (place, finding.why) in told or len(told) >= MAX_TOLD:
        return
    # Two threads may both get here: then it is told twice.
    told.add((place, finding.why))
    logger.warning(
        "a job of %s was given what looks like a secret: %s (%s). It is stored as it is, and hidden where the job is "
        "shown. Name it in sensitive=(…) of the task, or pass a reference; OPTIONS secrets can refuse it",
        name,
        place,
        finding.why,
    )
