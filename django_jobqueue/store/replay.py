"""Replay a dead letter: the same job starts again with a fresh budget and all of its history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError
from django.db.models import Case, DateTimeField, F, JSONField, Q, TextField, Value, When
from django.db.models.functions import Cast, Least, Now

from django_jobqueue.exceptions import Refused
from django_jobqueue.models import DeadLetter, Job
from django_jobqueue.models.job import IN_A_SHARE, UNDER_A_LIMIT
from django_jobqueue.policy.lifecycle import LIVE, Status, WaitingFor
from django_jobqueue.store import audit, locked
from django_jobqueue.store.transaction import read_committed

_UNIQUE_LIVE = "jobqueue_job_unique_live"

_NEEDS_NOTHING = Q(order_key__isnull=True) & ~UNDER_A_LIMIT & ~IN_A_SHARE
"""No turn, no slot and no place."""

_FRESH_BUDGET = {"failure_count": 0, "interruption_count": 0, "snooze_count": 0, "crash_count": 0}


@dataclass(frozen=True, slots=True)
class Edit:
    """Arguments to run with instead: JSON text, already checked by `payload`. None leaves them as they are."""

    args: str | None = None
    kwargs: str | None = None

    def columns(self) -> dict[str, Any]:
        """What to write.

        As text: the ORM would write JSON of its own, and a float of 1e16 would come back as an integer.
        """
        given = {"args": self.args, "kwargs": self.kwargs}
        return {name: Cast(Value(text, TextField()), JSONField()) for name, text in given.items() if text is not None}


NO_EDIT = Edit()


def replay(letter_id: int, *, by: str, reason: str, edit: Edit = NO_EDIT, using: str) -> Job:
    """Move a dead job from FAILED to READY, due now, and its letter from OPEN or DISCARDED to REPLAYED.

    A job that has an order key, or is under a limit, is WAITING until it has its turn and a slot.

    `attempt_count`, the attempts and `started_at` stay: it is the same job. A deadline (`expires_at`) that has passed
    is dropped, or the job would die of it again.

    Raises Refused: not_found, already_replayed, already_resolved, not_dead, unique_key_taken.
    """
    try:
        # A savepoint where the caller has a transaction: a taken key then costs the caller nothing.
        with read_committed(using):
            letter = locked.letter_with_job(letter_id, using=using)
            _check(letter)
            job = _restart(letter, by=by, reason=reason, edit=edit, using=using)
    except IntegrityError as error:
        if not _is_taken_key(error):
            raise
        raise _key_taken(letter_id, using) from error
    return job


def _check(letter: DeadLetter) -> None:
    match letter.status:
        case DeadLetter.Status.REPLAYED:
            raise Refused("already_replayed", f"dead letter {letter.pk} was already replayed")
        case DeadLetter.Status.RESOLVED:
            raise Refused("already_resolved", f"dead letter {letter.pk} is resolved: its job has ended since")
    if letter.job.status != Job.Status.FAILED:
        raise Refused("not_dead", f"job {letter.job.pk} is {letter.job.status}, not FAILED: there is nothing to replay")


def _restart(letter: DeadLetter, *, by: str, reason: str, edit: Edit, using: str) -> Job:
    job = letter.job
    before = _record(job, letter, edit)
    Job.objects.using(using).filter(pk=job.pk, status=Job.Status.FAILED).update(
        status=Case(When(_NEEDS_NOTHING, then=Value(Status.READY)), default=Value(Status.WAITING)),
        waiting_for=Case(
            When(order_key__isnull=False, then=Value(WaitingFor.ORDER)),
            When(IN_A_SHARE, then=Value(WaitingFor.SHARE)),
            When(UNDER_A_LIMIT, then=Value(WaitingFor.LIMIT)),
            default=Value(""),
        ),
        run_after=Now(),
        # What it may have held at its death was counted as free long since.
        **{name: Least(F(name), Value(0)) for name in ("queue_credit", "task_credit", "key_credit")},
        finished_at=None,
        cancel_requested_at=None,
        cancel_forced=False,
        expires_at=Case(
            When(expires_at__lte=Now(), then=Value(None)), default=F("expires_at"), output_field=DateTimeField()
        ),
        **_FRESH_BUDGET,
        **edit.columns(),
        **({"edit_count": F("edit_count") + 1} if edit != NO_EDIT else {}),
    )
    DeadLetter.objects.using(using).filter(
        pk=letter.pk, status__in=[DeadLetter.Status.OPEN, DeadLetter.Status.DISCARDED]
    ).update(status=DeadLetter.Status.REPLAYED)
    job.refresh_from_db(using=using)
    letter.refresh_from_db(using=using, fields=["status"])
    after = _record(job, letter, edit)
    audit.record(by, "replay", audit.object_of(job.pk), reason=reason, before=before, after=after, using=using)
    return job


def _record(job: Job, letter: DeadLetter, edit: Edit) -> dict[str, Any]:
    """What an audit entry keeps of one side of a replay; arguments only where the replay edits them."""
    kept = {"dead_letter": letter.pk, "letter_status": letter.status, "status": job.status}
    return kept | {name: getattr(job, name) for name in (*_FRESH_BUDGET, *edit.columns())}


def _is_taken_key(error: IntegrityError) -> bool:
    diagnostics = getattr(error.__cause__, "diag", None)
    return getattr(diagnostics, "constraint_name", None) == _UNIQUE_LIVE


def _key_taken(letter_id: int, using: str) -> Refused:
    dead = Job.objects.using(using).filter(dead_letter__pk=letter_id).first()
    twin = dead and (
        Job.objects.using(using)
        .filter(backend=dead.backend, task=dead.task, unique_key=dead.unique_key, status__in=[*LIVE])
        .values_list("pk", flat=True)
        .first()
    )
    # The twin may have ended meanwhile.
    holder = f"job {twin}" if twin else "another job"
    return Refused(
        "unique_key_taken",
        f"{holder} holds the unique key of dead letter {letter_id}; replay it when that one has ended",
    )
