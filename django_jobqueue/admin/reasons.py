"""Why a job died, in words, and what to do about it.

A new Reason in `policy/lifecycle.py` also needs its words here; a test compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from django_jobqueue.policy.lifecycle import Reason


@dataclass(frozen=True, slots=True)
class Words:
    """What happened, in one sentence, and the next step of the person who reads it."""

    what: Any
    next_step: Any


_WORDS = {
    Reason.ATTEMPTS_EXHAUSTED: Words(
        _("Every attempt failed, and there are no more."),
        _("Read the error. Once its cause is gone, in the code or in a service that it calls, replay."),
    ),
    Reason.NOT_RETRYABLE: Words(
        _("The task declares this error as one that no further attempt would cure."),
        _("Repair what the error names, then replay. If the work is no longer wanted, discard it and say why."),
    ),
    Reason.REJECTED: Words(
        _("The task itself refused to go on."),
        _("Its message says why. Replay when that has changed; otherwise discard."),
    ),
    Reason.INVALID_PAYLOAD: Words(
        _("The stored arguments do not fit the task."),
        _(
            "Deploy a task that accepts them, or replay with other arguments, in a terminal or from code; "
            "a plain replay fails again."
        ),
    ),
    Reason.INVALID_RESULT: Words(
        _("The task ran to its end, but what it returned cannot be stored as JSON."),
        _("Its effects have happened. Repair the return value; replay only if running it twice does no harm."),
    ),
    Reason.UNKNOWN_TASK: Words(
        _("No worker knows a task of this name."),
        _("Was it renamed or removed? Give the new one the old name as an alias, deploy, and replay."),
    ),
    Reason.UNKNOWN_VERSION: Words(
        _("No worker knows this version of the task's arguments."),
        _("Deploy the release that knows it, or add an upgrade, and replay."),
    ),
    Reason.CRASH_LOOP: Words(
        _("Its process died each time it ran, alone."),
        _("Look for memory limits and crashes in native code at the times of its attempts, then replay."),
    ),
    Reason.INTERRUPTED_TOO_OFTEN: Words(
        _("Deploys or outages stopped it more often than is allowed."),
        _("Nothing is wrong with the job as far as is known. Replay it; if it is long, give the workers more grace."),
    ),
    Reason.SNOOZED_TOO_OFTEN: Words(
        _("It asked to come back later more often than is allowed."),
        _("What it waits for does not happen. Look there first, then replay."),
    ),
    Reason.EXPIRED: Words(
        _("It had not finished when its time was over."),
        _("If it is still of use, replay it; the old deadline is dropped. Otherwise discard."),
    ),
}

_UNKNOWN = Words(_("The reason is not one that this release knows."), _("Read the error and the attempts."))


def explain(reason: object) -> Words:
    """Return the words for a reason as stored, whatever is stored."""
    try:
        return _WORDS[Reason(str(reason))]
    except ValueError:
        return _UNKNOWN
