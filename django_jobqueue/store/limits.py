"""Change how many jobs may run at once, or start in a time, while they run."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, Q, Value, When
from django.db.models.functions import Now

from django_jobqueue.exceptions import Refused
from django_jobqueue.models import Job, Limit
from django_jobqueue.models.job import IN_A_SHARE
from django_jobqueue.policy.lifecycle import WaitingFor
from django_jobqueue.policy.rate import Rate
from django_jobqueue.store import admit, audit, control
from django_jobqueue.store.transaction import read_committed

_OF = {
    Limit.Kind.KEY.value: lambda target: Q(concurrency_key=target, key_limit__isnull=False),
    Limit.Kind.TASK.value: lambda target: Q(task=target, task_limit__isnull=False),
    Limit.Kind.QUEUE.value: lambda target: Q(queue_name=target, queue_limit__isnull=False),
}


def set_limit(kind: str, target: str, at_once: int | None, *, by: str, reason: str, using: str) -> Limit | None:
    """Have so many jobs of the target run at once, whatever their rows say; None gives the word back to the rows.

    What was ready waits for a slot again, so that nothing of it starts before the running ones are fewer. No claim
    and no admission is under way when it is committed. Raises Refused: not_set.
    """
    with read_committed(using):
        control.exclusively(using)
        admit.exclusively(using)
        limit = _change(kind, target, {"at_once": at_once}, by=by, reason=reason, using=using)
        # Who has slots is decided anew: those that come first in the order of claims.
        ready = Job.objects.using(using).filter(_OF[kind](target), status=Job.Status.READY)
        waits_for = Case(When(IN_A_SHARE, then=Value(WaitingFor.SHARE)), default=Value(WaitingFor.LIMIT))
        ready.update(status=Job.Status.WAITING, waiting_for=waits_for)
    return limit


def set_rate(kind: str, target: str, rate: Rate | None, *, by: str, reason: str, using: str) -> Limit | None:
    """Have so many jobs of the target start in a time, whatever code says; None gives the word back to the code.

    No claim is under way when it is committed. What a bucket holds stays, up to the new burst. Raises Refused: not_set.
    """
    columns = {
        "rate": "" if rate is None else str(rate),
        "rate_pace_microseconds": rate and rate.pace_microseconds,
        "rate_burst": rate and rate.burst,
    }
    with read_committed(using):
        control.exclusively(using)
        return _change(kind, target, columns, by=by, reason=reason, using=using)


def _change(kind: str, target: str, columns: dict[str, Any], *, by: str, reason: str, using: str) -> Limit | None:
    """Write columns of the row of a target, the first of which says what it is about, and who did it and why."""
    name = next(iter(columns))
    limits = Limit.objects.using(using).filter(kind=kind, target=target)
    before = limits.first()
    if columns[name] in _NOTHING and (before is None or getattr(before, name) in _NOTHING):
        raise Refused("not_set", f"nobody has set a limit for {kind} {target}: its jobs' own hold")
    words = {**columns, "reason": reason, "set_by": by, "set_at": Now()}
    after, _ = Limit.objects.using(using).update_or_create(kind=kind, target=target, defaults=words)
    after.refresh_from_db(using=using)
    audit.record(
        by,
        "set_limit",
        f"{kind}:{target}"[:255],
        reason=reason,
        before=_state(before, name),
        after=_state(after, name),
        using=using,
    )
    if after.at_once is None and not after.rate:
        after.delete(using=using)
        return None
    return after


_NOTHING = (None, "")


def _state(limit: Limit | None, name: str) -> dict[str, Any]:
    value = getattr(limit, name, None)
    return {name: None if value in _NOTHING else value}
