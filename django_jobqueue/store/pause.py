"""Pause queues and tasks, and resume them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from django_jobqueue.exceptions import Refused
from django_jobqueue.models import Pause
from django_jobqueue.store import audit, control
from django_jobqueue.store.claim import queue_pattern
from django_jobqueue.store.transaction import read_committed


def pause(kind: str, target: str, *, until: datetime | timedelta | None, by: str, reason: str, using: str) -> Pause:
    """Have nothing of the target claimed from now on; one that is paused already gets the new reason and end.

    A duration begins now, by PostgreSQL's clock.

    When this has returned and its transaction is committed, no claim of it is committed any more. Raises Refused:
    until_has_passed.
    """
    with read_committed(using):
        control.exclusively(using)
        Pause.objects.using(using).filter(until__lte=Now()).delete()
        before = Pause.objects.using(using).filter(kind=kind, target=target).first()
        ends: Any = Now() + until if isinstance(until, timedelta) else until
        words = {"pattern": queue_pattern(target), "reason": reason, "paused_by": by, "until": ends}
        row: Pause
        row, _ = Pause.objects.using(using).update_or_create(
            kind=kind, target=target, defaults=words | {"paused_at": Now()}
        )
        row.refresh_from_db(using=using)
        if row.until is not None and row.until <= row.paused_at:
            # By PostgreSQL's clock, which ends it. The transaction goes with the exception.
            raise Refused("until_has_passed", f"{row.until} has passed: name a moment to come, or none")
        _record("pause", row, _state(before), _state(row), by=by, reason=reason, using=using)
    return row


def resume(kind: str, target: str, *, by: str, reason: str, using: str) -> Pause:
    """Have the target claimed again, and answer with the pause that there was. Raises Refused: not_paused."""
    with read_committed(using):
        control.exclusively(using)
        row = live(using).filter(kind=kind, target=target).first()
        if row is None:
            raise Refused("not_paused", f"{kind} {target} is not paused; {_what_is(using)}")
        pk = row.pk
        row.delete(using=using)
        row.pk = pk
        _record("resume", row, _state(row), _state(None), by=by, reason=reason, using=using)
    return row


def live(using: str) -> QuerySet[Pause]:
    """Return the pauses that are not over, queues first, by name."""
    return Pause.objects.using(using).filter(Q(until__isnull=True) | Q(until__gt=Now())).order_by("kind", "target")


def _what_is(using: str) -> str:
    names = [str(row) for row in live(using)[:10]]
    return f"paused are: {', '.join(names)}" if names else "nothing is"


def _state(row: Pause | None) -> dict[str, Any]:
    if row is None:
        return {"paused": False, "until": None}
    return {"paused": True, "until": row.until.isoformat() if row.until else None}


def _record(verb: str, row: Pause, before: dict[str, Any], after: dict[str, Any], **signed: Any) -> None:
    audit.record(signed.pop("by"), verb, f"{row.kind}:{row.target}"[:255], before=before, after=after, **signed)
