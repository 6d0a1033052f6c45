"""Why a job waits, as its page tells it: what stands in its way, the nearest first, with the way there."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from django_jobqueue.admin import display
from django_jobqueue.admin.covers import log_failure
from django_jobqueue.policy.lifecycle import Status
from django_jobqueue.policy.why import Named, Reason
from django_jobqueue.shown import text
from django_jobqueue.watch.why import why

logger = logging.getLogger(__name__)

MAX_CHARS = 1_000
"""Of one sentence."""


@dataclass(frozen=True, slots=True)
class Link:
    """The way to something that a sentence names."""

    url: str
    label: str


@dataclass(frozen=True, slots=True)
class Hindrance:
    """One thing that stands in the way of a job."""

    code: str
    label: str
    text: str
    links: list[Link]


@dataclass(frozen=True, slots=True)
class Answer:
    """All that stands in the way; or, where that could not be found out, why not."""

    hindrances: Sequence[Hindrance] = ()
    trouble: str = ""


def why_it_waits(job: Any, secrets: Collection[str], *, may_view: Mapping[str, bool], site_name: str) -> Answer | None:
    """Look at what stands in the way of a job that waits; None for one that runs or is over.

    It costs a dozen queries, under a time-out: it is for the page of one job. Whatever becomes of it, the page stands.
    """
    if job.status not in (Status.WAITING, Status.READY):
        return None
    try:
        found = why(job.pk, using=job._state.db)
    except Exception as error:  # PostgreSQL is busy, or a row that has to do with it is damaged
        log_failure(logger, f"why job {job.pk} waits cannot be told", error, secrets)
        if getattr(error.__cause__, "sqlstate", None) == "57014":  # query_canceled
            return Answer(trouble=_("PostgreSQL takes too long over it just now. Load the page again in a while."))
        return Answer(trouble=_("It cannot be told: %s. The log has more.") % type(error).__name__)

    def address(name: str, *args: Any) -> str:
        return reverse(f"admin:django_jobqueue_{name}", args=args, current_app=site_name)

    return Answer([_hindrance(reason, secrets, may_view, address) for reason in found])


def _hindrance(
    reason: Reason, secrets: Collection[str], may_view: Mapping[str, bool], address: Callable[..., str]
) -> Hindrance:
    links = [_link(named, address) for named in reason.names if may_view.get(named.what)]
    words = capfirst(display.clip(text(reason.text, secrets), MAX_CHARS))
    return Hindrance(str(reason.code), display.words(reason.code), words, links)


def _link(named: Named, address: Callable[..., str]) -> Link:
    match named.what:
        case "job":
            return Link(address("job_change", named.key), _("Job %s") % named.key)
        case "pause":
            return Link(address("pause_change", named.key), _("The pause"))
    return Link(address(f"{named.what}_changelist"), _("The limits"))
