"""Change how many jobs may run at once, while they run."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, Q, Value, When
from django.db.models.functions import Now

from django_jobqueue.exceptions import Refused
from django_jobqueue.models import Job, Limit
from django_jobqueue.models.job import IN_A_SHARE
from django_jobqueue.policy.lifecycle import WaitingFor
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
        limits = Limit.objects.using(using).filter(kind=kind, target=target)
        before = limits.first()
        if at_once is None and before is None:
            raise Refused("not_set", f"nobody has set a limit for {kind} {target}: its jobs' own hold")
        after = None
        if at_once is None:
            limits.delete()
        else:
            words = {"at_once": at_once, "reason": reason, "set_by": by, "set_at": Now()}
            after, _ = Limit.objects.using(using).update_or_create(kind=kind, target=target, defaults=words)
            after.refresh_from_db(using=using)
        # Who has slots is decided anew: those that come first in the order of claims.
        ready = Job.objects.using(using).filter(_OF[kind](target), status=Job.Status.READY)
        waits_for = Case(When(IN_A_SHARE, then=Value(WaitingFor.SHARE)), default=Value(WaitingFor.LIMIT))
        ready.update(status=Job.Status.WAITING, waiting_for=waits_for)
        audit.record(
            by,
            "set_limit",
            f"{kind}:{target}"[:255],
            reason=reason,
            before=_state(before),
            after=_state(after),
            using=using,
        )
    return after


def _state(limit: Limit | None) -> dict[str, Any]:
    return {"at_once": None if limit is None else limit.at_once}
