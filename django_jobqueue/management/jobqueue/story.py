"""A job and all that belongs to it, for `dead show` and `jobs show`: its letter, its attempts, and what people did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django_jobqueue import registry
from django_jobqueue.any_task import runbook_of
from django_jobqueue.management.jobqueue.pauses import documents_of, lines_of
from django_jobqueue.management.jobqueue.terminal import Terminal, duration, printable_lines
from django_jobqueue.models import Attempt, AuditEntry, DeadLetter, Job, Pause
from django_jobqueue.policy.lifecycle import Reason, WaitingFor
from django_jobqueue.shown import ALL_IS_HIDDEN, text, veil_named
from django_jobqueue.store.audit import object_of
from django_jobqueue.store.pause import live
from django_jobqueue.watch.parked import prospect_of
from django_jobqueue.watch.workers import worker_names

NEWEST = 20
"""Attempts and audit entries that are shown, newest first."""

EDITED = ("args", "kwargs")
"""What an audit entry holds of a job only where a person has changed it."""


@dataclass(frozen=True, slots=True)
class Story:
    """What is told of one job."""

    job: Job
    letter: DeadLetter | None
    attempts: list[Attempt]
    entries: list[AuditEntry]
    death: Attempt | None
    """The attempt that the letter died of: after a replay there may be newer ones."""
    last_error: Attempt | None
    """The newest attempt that was charged, unless that is the death."""
    pauses: list[Pause]
    """What keeps a job that is ready from being started."""
    runbook: str
    """What the task says of its dead letters."""
    prospect: str
    """What a job that was put aside waits for, and until when."""
    hidden: str | None
    """Why all values are hidden, where they are."""


def tell(terminal: Terminal, job: Job, letter: DeadLetter | None, using: str) -> None:
    """Answer with one job's story."""
    story = _read(job, letter, using)
    _cover(story)
    document = {
        "hidden": story.hidden,
        "dead_letter": letter and row(letter) | _error_columns(story.death) | {"runbook": story.runbook},
        "job": row(job),
        "attempts": [row(attempt) for attempt in story.attempts],
        "audit": [row(entry) for entry in story.entries],
        "pauses": documents_of(story.pauses),
    }
    names = worker_names(using, [attempt.worker_id for attempt in story.attempts])
    terminal.answer(document, _lines(terminal, story, names))


def row(instance: Job | DeadLetter | Attempt | AuditEntry) -> dict[str, Any]:
    """Every column of a row by its name."""
    return {field.attname: field.value_from_object(instance) for field in instance._meta.concrete_fields}


def _read(job: Job, letter: DeadLetter | None, using: str) -> Story:
    newest_first = Attempt.objects.using(using).filter(job=job).order_by("-number")
    attempts = list(newest_first[:NEWEST])
    # The letter is dated by the statement that closes the attempt.
    death = newest_first.filter(finished_at__lte=letter.last_died_at).first() if letter else None
    # An interruption has words too, and is no error of the job.
    failed = next((attempt for attempt in attempts if attempt.charged), None)
    return Story(
        job,
        letter,
        attempts,
        list(AuditEntry.objects.using(using).filter(object=object_of(job.pk)).order_by("-id")[:NEWEST]),
        death,
        None if failed == death else failed,
        [each for each in live(using) if each.covers(queue_name=job.queue_name, task=job.task)]
        if job.status == Job.Status.READY
        else [],
        text(runbook_of(registry.find(job.task))) if letter else "",
        _prospect(job, using) if job.waiting_for == WaitingFor.WORKER else "",
        ALL_IS_HIDDEN if veil_named(job.task).hides_all else None,
    )


def _prospect(job: Job, using: str) -> str:
    prospect = prospect_of(job.task, job.version, backend=job.backend, using=using)
    if prospect.is_known:
        return "A living worker knows this task by now, and takes it back."
    which = f" in version {job.version}" if prospect.reason == Reason.UNKNOWN_VERSION else ""
    until = job.parked_at and job.parked_at + timedelta(seconds=prospect.after_seconds)
    by = f" by {until.isoformat(timespec='seconds')}" if until else ""
    return f"No living worker knows this task{which}; if none does{by} it becomes a dead letter ({prospect.reason})."


def _cover(story: Story) -> None:
    """Hide in all rows what must not be shown; they are only read from here on."""
    veil = veil_named(story.job.task)
    secrets = veil.secrets_in(story.job.args, story.job.kwargs)
    # A replay with other arguments has them in its entry too.
    covers = {"args": veil.args, "kwargs": veil.kwargs, "before": veil.record, "after": veil.record}
    rows: list[Any] = [*story.attempts, *story.entries, story.letter, story.death, story.last_error, story.job]
    for instance in filter(None, rows):
        for name, value in row(instance).items():
            if isinstance(value, str):
                setattr(instance, name, text(value, secrets))
            elif isinstance(value, list | dict):
                setattr(instance, name, covers.get(name, veil.value)(value, secrets))


def _error_columns(attempt: Attempt | None) -> dict[str, Any]:
    return {name: getattr(attempt, name, None) for name in ("exception_class", "message")}


def _lines(terminal: Terminal, story: Story, names: Mapping[Any, str]) -> list[str]:
    heading = terminal.style.MIGRATE_HEADING
    job, letter = story.job, story.letter
    lines = []
    if letter:
        fields = _without_id(letter) | _error("error", story.death)
        lines += [heading(f"Dead letter {letter.pk}"), *terminal.fields(fields), ""]
        lines += [heading("Runbook"), *printable_lines(story.runbook), ""] if story.runbook else []
    lines += [heading(f"Job {job.pk}"), *terminal.fields(_without_id(job) | _error("last_error", story.last_error))]
    lines += lines_of(terminal, story.pauses)
    lines += [terminal.style.WARNING(story.prospect)] if story.prospect else []
    if story.hidden:
        lines += ["", story.hidden]
    if story.attempts:
        lines += ["", *_attempts(terminal, story.attempts, names)]
    if story.entries:
        deeds = [(e.at, e.actor, e.action, e.reason) for e in story.entries]
        lines += ["", *terminal.table(["at", "who", "did", "because"], deeds)]
        lines += [line for entry in story.entries for line in _edit(terminal, entry)]
    for attempt in (story.last_error, story.death):
        lines += ["", *_traceback(terminal, attempt)] if attempt else []
    return lines


def _without_id(instance: Job | DeadLetter) -> dict[str, Any]:
    return {name: value for name, value in row(instance).items() if name != "id" and value not in (None, "", [], {})}


def _error(name: str, attempt: Attempt | None) -> dict[str, str]:
    error = ": ".join(part for part in _error_columns(attempt).values() if part)
    return {name: error} if error else {}


def _attempts(terminal: Terminal, attempts: list[Attempt], names: Mapping[Any, str]) -> list[str]:
    headings = ["attempt", "outcome", "charged", "started", "took", "worker", "exception", "message"]
    cells = [
        (
            a.number, a.outcome, "yes" if a.charged else "no", a.started_at, _took(a),
            names.get(a.worker_id) or str(a.worker_id or "")[:8], a.exception_class, a.message,
        )
        for a in attempts
    ]  # fmt: skip
    return terminal.table(headings, cells)


def _took(attempt: Attempt) -> str | None:
    if attempt.started_at is None or attempt.finished_at is None:
        return None
    return duration((attempt.finished_at - attempt.started_at).total_seconds())


def _edit(terminal: Terminal, entry: AuditEntry) -> list[str]:
    """Show the arguments before and after, where the act has changed them."""
    before, after = ({**side} if isinstance(side, dict) else {} for side in (entry.before, entry.after))
    edited = [name for name in EDITED if name in before or name in after]
    if not edited:
        return []
    versions = {"before": before, "after": after}
    sides = {f"{name} {when}": side.get(name) for name in edited for when, side in versions.items()}
    title = f"Edited by {entry.action} at {entry.at.isoformat(timespec='seconds')}"
    return ["", terminal.style.MIGRATE_HEADING(title), *terminal.fields(sides)]


def _traceback(terminal: Terminal, attempt: Attempt) -> list[str]:
    if not attempt.traceback:
        return [terminal.style.MIGRATE_HEADING(f"Attempt {attempt.number} left no traceback")]
    heading = terminal.style.MIGRATE_HEADING(f"Traceback of attempt {attempt.number}")
    return [heading, *printable_lines(attempt.traceback)]
