"""A job and all that belongs to it, for `dead show` and `jobs show`: its letter, its attempts, and what people did."""

from __future__ import annotations

from typing import Any

from django_jobqueue.management.jobqueue.terminal import Terminal, printable_lines
from django_jobqueue.models import Attempt, AuditEntry, DeadLetter, Job
from django_jobqueue.store.audit import object_of

NEWEST = 20
"""Attempts and audit entries that are shown, newest first."""


def tell(terminal: Terminal, job: Job, letter: DeadLetter | None, using: str) -> None:
    """Answer with one job's story."""
    attempts = list(Attempt.objects.using(using).filter(job=job).order_by("-number")[:NEWEST])
    entries = list(AuditEntry.objects.using(using).filter(object=object_of(job.pk)).order_by("-id")[:NEWEST])
    document = {
        "dead_letter": letter and row(letter),
        "job": row(job),
        "attempts": [row(attempt) for attempt in attempts],
        "audit": [row(entry) for entry in entries],
    }
    terminal.answer(document, _lines(terminal, job, letter, attempts, entries))


def row(instance: Job | DeadLetter | Attempt | AuditEntry) -> dict[str, Any]:
    """Every column of a row by its name."""
    return {field.attname: field.value_from_object(instance) for field in instance._meta.concrete_fields}


def _lines(
    terminal: Terminal, job: Job, letter: DeadLetter | None, attempts: list[Attempt], entries: list[AuditEntry]
) -> list[str]:
    lines = []
    if letter:
        lines += [terminal.style.MIGRATE_HEADING(f"Dead letter {letter.pk}"), *terminal.fields(_without_id(letter)), ""]
    lines += [terminal.style.MIGRATE_HEADING(f"Job {job.pk}"), *terminal.fields(_without_id(job))]
    if attempts:
        ended = [(a.number, a.outcome, a.finished_at, a.exception_class, a.message) for a in attempts]
        lines += ["", *terminal.table(["attempt", "outcome", "ended", "exception", "message"], ended)]
    if entries:
        deeds = [(e.at, e.actor, e.action, e.reason) for e in entries]
        lines += ["", *terminal.table(["at", "who", "did", "because"], deeds)]
    last = next((attempt for attempt in attempts if attempt.traceback), None)
    if last:
        lines += [
            "",
            terminal.style.MIGRATE_HEADING(f"Traceback of attempt {last.number}"),
            *printable_lines(last.traceback),
        ]
    return lines


def _without_id(instance: Job | DeadLetter) -> dict[str, Any]:
    return {name: value for name, value in row(instance).items() if name != "id" and value not in (None, "", [], {})}
