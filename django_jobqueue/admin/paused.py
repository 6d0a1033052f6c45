"""What is paused, as the pages of jobs tell it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from django_jobqueue.admin import display
from django_jobqueue.admin.rows import readable
from django_jobqueue.models import Job, Pause
from django_jobqueue.store.pause import live

TIMES, TEXTS = ["paused_at", "until"], ["reason"]

LOOKED_AT = 200
"""Pauses that a page of jobs looks at; more than a person would make."""

NAMED = 5


def pauses_now(using: str) -> list[Any]:
    """Read the pauses that are not over, so that no content of theirs can break a page."""
    return list(readable(live(using), times=TIMES, texts=TEXTS)[:LOOKED_AT])


def pauses_over(job: Any, pauses: Sequence[Any]) -> list[Any]:
    """Pick those that keep a job, which could be claimed otherwise, from it."""
    if job.status != Job.Status.READY:
        return []
    return [pause for pause in pauses if pause.covers(queue_name=job.queue_name, task=job.task)]


def name_of(pause: Any) -> str:
    """Write `queue mail-*`."""
    return f"{dict(Pause.Kind.choices).get(pause.kind, display.clip(pause.kind, 8))} {display.clip(pause.target, 80)}"


def end_of(pause: Any) -> SafeString | str:
    """Write when it ends by itself."""
    return display.moment(pause.until_epoch, pause.now_epoch) if pause.until_epoch is not None else _("when resumed")


def names_of(pauses: Sequence[Any]) -> SafeString:
    """Name the first few pauses, and say how many there are besides."""
    names = format_html_join(", ", "<strong>{}</strong>", ((name_of(pause),) for pause in pauses[:NAMED]))
    more = len(pauses) - NAMED
    return names if more <= 0 else format_html("{} {}", names, _("and %d more") % more)
