"""How the columns of a job are put: the same words in the list, on its page and on its letter's."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import partial
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from django_jobqueue import shown
from django_jobqueue.admin import display
from django_jobqueue.admin.attempts import span
from django_jobqueue.admin.covers import secrets_of
from django_jobqueue.admin.rows import PAGE_TEXT
from django_jobqueue.models import Job
from django_jobqueue.policy.lifecycle import TERMINAL, Reason, WaitingFor
from django_jobqueue.shown import veil_named
from django_jobqueue.watch.parked import prospect_of

TIMES = [
    "run_after",
    "enqueued_at",
    "started_at",
    "last_attempted_at",
    "finished_at",
    "lease_expires_at",
    "cancel_requested_at",
    "expires_at",
    "parked_at",
]
TEXTS = ["args", "kwargs", "result", "progress", "tags", "metadata"]


def task_link_text(task: object) -> str:
    """Show what a person looks for first, and where it lives under it."""
    name = display.task_name(task)
    shown = '<span class="jq-task">{}</span> <span class="jq-module">{}</span>'
    return format_html(shown, _breakable(name.short), _breakable(name.module))


def _breakable(name: str) -> SafeString:
    """Let a long name break after an underscore or a dot rather than anywhere."""
    parts = re.findall(r"[^_.]*[_.]*", display.clip(name, 80))
    return format_html_join(mark_safe("<wbr>"), "{}", ((part,) for part in parts if part))


def status_badge(job: Any) -> str:
    """Show the state, what a waiting job waits for, that a ready one is paused, and a running one asked to stop."""
    word = dict(Job.Status.choices).get(job.status, display.words(job.status))
    remark = ""
    if job.status == Job.Status.WAITING:
        remark = display.clip(job.waiting_for, 16)
    elif getattr(job, "is_paused", False):
        remark = _("paused")
    elif job.status == Job.Status.RUNNING and getattr(job, "cancel_requested_at_epoch", None) is not None:
        remark = _("asked to stop")
    badge = display.badge(job.status, word)
    return format_html('{} <span class="jq-quiet">{}</span>', badge, remark) if remark else badge


def prospect(job: Any) -> SafeString | str:
    """Say of a job that was put aside what it waits for, and until when; nothing of another one."""
    if job.status != Job.Status.WAITING or job.waiting_for != WaitingFor.WORKER:
        return ""
    found = prospect_of(job.task, job.version, backend=job.backend, using=job._state.db)
    if found.is_known:
        return _("A living worker knows this task by now, and takes it back.")
    until = None if job.parked_at_epoch is None else job.parked_at_epoch + found.after_seconds
    words = {"version": job.version, "reason": found.reason, "moment": display.deadline(until, job.now_epoch)}
    if found.reason == Reason.UNKNOWN_VERSION:
        shown = _(
            "No living worker knows this task in version {version}; if none does by {moment} it becomes a dead letter "
            "({reason})."
        )
    else:
        shown = _("No living worker knows this task; if none does by {moment} it becomes a dead letter ({reason}).")
    return format_html(shown, **words)


def attempts_used(job: Any) -> str:
    """Show how many attempts there were of those allowed; in the title, how many of them were charged."""
    title = _("%(all)d attempts in all, %(charged)d charged, %(allowed)d allowed") % {
        "all": job.attempt_count,
        "charged": job.failure_count,
        "allowed": job.max_attempts,
    }
    # After a replay the budget is fresh and the count goes on: "6 of 3" would look like a fault.
    of = _("of %d") % job.max_attempts if job.attempt_count <= job.max_attempts else ""
    shown = '<span class="jq-number" title="{}">{} <span class="jq-quiet">{}</span></span>'
    return format_html(shown, title, job.attempt_count, of)


def when(job: Any) -> str:
    """Show the time that matters in a job's state."""
    match job.status:
        case Job.Status.WAITING | Job.Status.READY:
            return display.moment(job.run_after_epoch, job.now_epoch)
        case Job.Status.RUNNING:
            return _("for %s") % span(job.last_attempted_at_epoch, job.now_epoch)
    return (
        _("took %s") % span(job.last_attempted_at_epoch, job.finished_at_epoch) if job.last_attempted_at_epoch else ""
    )


def payload(job: Any) -> list[tuple[str, display.Json]]:
    """Return the arguments as readable JSON, without the empty halves."""
    veil, secrets = veil_named(job.task), secrets_of(job)
    halves = [
        ("args", job.args_text, job.args_size, "[]", veil.args),
        ("kwargs", job.kwargs_text, job.kwargs_size, "{}", veil.kwargs),
    ]
    return [
        (name, display.pretty(words, size, limit=PAGE_TEXT, veil=veil, cover=partial(cover, secrets=secrets)))
        for name, words, size, empty, cover in halves
        if words != empty
    ]


def result(job: Any) -> display.Json:
    """Return the result as readable JSON."""
    veil = veil_named(job.task)
    cover = partial(veil.value, secrets=secrets_of(job))
    return display.pretty(job.result_text, job.result_size, limit=PAGE_TEXT, veil=veil, cover=cover)


def facts(job: Any, secrets: Collection[str]) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Group what else a row says; leave out what says nothing."""

    def time(name: str) -> Any:
        return display.moment_in_full(getattr(job, f"{name}_epoch"), job.now_epoch)

    def text(value: object) -> str:
        return "" if value is None else display.clip(shown.text(str(value), secrets), 255)

    def brief(name: str) -> str:
        words = getattr(job, f"{name}_text") or ""
        return "" if words in ("[]", "{}", "null") else display.brief(words, 300, veil=veil, secrets=secrets)

    veil = veil_named(job.task)

    is_over = job.status in TERMINAL
    groups = [
        (
            _("Times"),
            [
                (_("Enqueued"), time("enqueued_at")),
                (_("Not before"), time("run_after") if not is_over else ""),
                (_("First started"), time("started_at")),
                (_("Last attempt"), time("last_attempted_at")),
                (_("Finished"), time("finished_at")),
                (_("Expires"), time("expires_at")),
                (_("Cancel requested"), time("cancel_requested_at")),
                (_("Lease ends"), time("lease_expires_at")),
            ],
        ),
        (
            _("Counts"),
            [
                (_("Attempts"), job.attempt_count),
                (_("Charged"), _("%(used)d of %(all)d") % {"used": job.failure_count, "all": job.max_attempts}),
                (_("Interrupted"), job.interruption_count or ""),
                (_("Snoozed"), job.snooze_count or ""),
                (_("Crashed"), job.crash_count or ""),
            ],
        ),
        (
            _("Placement"),
            [
                (_("Queue"), text(job.queue_name)),
                (_("Priority"), job.priority),
                (_("Backend"), text(job.backend)),
                (_("Version"), job.version),
                (_("Unique key"), text(job.unique_key)),
                (_("Concurrency key"), text(job.concurrency_key)),
                (_("Order key"), text(job.order_key)),
                (_("Tags"), brief("tags")),
                (_("Metadata"), brief("metadata")),
                (_("Progress"), brief("progress")),
            ],
        ),
    ]
    return [(title, [(k, v) for k, v in facts if v not in ("", display.NOTHING)]) for title, facts in groups]
