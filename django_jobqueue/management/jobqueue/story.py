"""A job and all that belongs to it, for `dead show` and `jobs show`: its letter, its attempts, and what people did."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from django_jobqueue.management.jobqueue.terminal import Terminal, printable_lines
from django_jobqueue.models import Attempt, AuditEntry, DeadLetter, Job
from django_jobqueue.shown import Veil, text, veil_named
from django_jobqueue.store.audit import object_of

NEWEST = 20
"""Attempts and audit entries that are shown, newest first."""


def tell(terminal: Terminal, job: Job, letter: DeadLetter | None, using: str) -> None:
    """Answer with one job's story."""
    veil = veil_named(job.task)
    secrets = veil.secrets_in(job.args, job.kwargs)
    attempts = list(Attempt.objects.using(using).filter(job=job).order_by("-number")[:NEWEST])
    entries = list(AuditEntry.objects.using(using).filter(object=object_of(job.pk)).order_by("-id")[:NEWEST])
    shown = partial(row, veil=veil, secrets=secrets)
    document = {
        "dead_letter": letter and shown(letter),
        "job": shown(job),
        "attempts": [shown(attempt) for attempt in attempts],
        "audit": [shown(entry) for entry in entries],
    }
    terminal.answer(document, _lines(terminal, document))


def row(
    instance: Job | DeadLetter | Attempt | AuditEntry, *, veil: Veil | None = None, secrets: Collection[str] = ()
) -> dict[str, Any]:
    """Every column of a row by its name, as it may be shown."""
    veil = veil or Veil()
    columns = {field.attname: field.value_from_object(instance) for field in instance._meta.concrete_fields}
    # A replay with other arguments has them in its entry too.
    covers = {"args": veil.args, "before": veil.record, "after": veil.record}
    return {name: _covered(value, covers.get(name, veil.value), secrets) for name, value in columns.items()}


def _covered(value: Any, cover: Callable[[Any, Collection[str]], Any], secrets: Collection[str]) -> Any:
    match value:
        case str():
            return text(value, secrets)
        case list() | dict():
            return cover(value, secrets)
    return value


def _lines(terminal: Terminal, document: dict[str, Any]) -> list[str]:
    letter, job, attempts = document["dead_letter"], document["job"], document["attempts"]
    lines = []
    if letter:
        heading = terminal.style.MIGRATE_HEADING(f"Dead letter {letter['id']}")
        lines += [heading, *terminal.fields(_without_id(letter)), ""]
    lines += [terminal.style.MIGRATE_HEADING(f"Job {job['id']}"), *terminal.fields(_without_id(job))]
    if attempts:
        columns = ("number", "outcome", "finished_at", "exception_class", "message")
        ended = [[attempt[name] for name in columns] for attempt in attempts]
        lines += ["", *terminal.table(["attempt", "outcome", "ended", "exception", "message"], ended)]
    if entries := document["audit"]:
        deeds = [[entry[name] for name in ("at", "actor", "action", "reason")] for entry in entries]
        lines += ["", *terminal.table(["at", "who", "did", "because"], deeds)]
    last = next((attempt for attempt in attempts if attempt["traceback"]), None)
    if last:
        lines += [
            "",
            terminal.style.MIGRATE_HEADING(f"Traceback of attempt {last['number']}"),
            *printable_lines(last["traceback"]),
        ]
    return lines


def _without_id(columns: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in columns.items() if name != "id" and value not in (None, "", [], {})}
