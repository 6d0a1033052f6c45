"""Remember what was done under a key, and who is about to do it.

    record   in the transaction of the effect itself: both are committed, or neither; `holds_lease` asks last
    hold     before an effect elsewhere, in a transaction of its own
    finish   after it: the result is kept
    release  after it has failed: the key is free
    prune    what nobody needs any more

A holder is an attempt, known by the token of its lease. When its job has another token, or none, it is gone and its
hold is taken over.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import IntegrityError, connections
from django.db.models import Exists, JSONField, OuterRef, Q, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Now

from django_jobqueue import failpoint
from django_jobqueue.models import Effect, Job
from django_jobqueue.running import RunningAttempt
from django_jobqueue.store.finish_here import COMMIT_WITHIN_MS
from django_jobqueue.store.transaction import read_committed

PRUNE_LIMIT = 1000
"""Records that one statement deletes at most."""


class Taken(Exception):
    """The key was recorded by somebody else meanwhile."""


def find(key: str, *, using: str) -> Effect | None:
    """Read the record of a key."""
    return Effect.objects.using(using).filter(key=key).first()


def record(
    key: str,
    request: str,
    result: str,
    *,
    job_id: int | None,
    keep_seconds: float,
    ends_here: bool,
    using: str,
    over: UUID | None = None,
) -> None:
    """Write that it is done, in the transaction that is open on `using`. result is JSON text.

    `ends_here` says that the COMMIT comes next; `over` is the token of a holder that is gone, whose record becomes this
    one. Waits for another transaction that records the same key. Raises Taken: the transaction is to be rolled back
    then.
    """
    failpoint.hit("before record")
    if ends_here:
        with connections[using].cursor() as cursor:
            # From here on others may wait for this transaction: a process that freezes must not keep them.
            cursor.execute(
                "SELECT set_config('idle_in_transaction_session_timeout', %s, true)", [str(COMMIT_WITHIN_MS)]
            )
    effects = Effect.objects.using(using)
    done = {"result": _json(result), "job_id": job_id, "done_at": Now(), "keep_until": _until(keep_seconds)}
    if over is not None:
        if not effects.filter(key=key, token=over).update(token=None, **done):
            raise Taken(key)
    else:
        try:
            effects.create(key=key, request=request, **done)
        except IntegrityError as error:
            raise Taken(key) from error
    failpoint.hit("after record")


def holds_lease(attempt: RunningAttempt, *, using: str) -> bool:
    """Say whether an attempt has its lease; locks its job until the transaction ends, so that it keeps it."""
    jobs = Job.objects.using(using).select_for_update(no_key=True).filter(pk=attempt.job_id, lease_token=attempt.token)
    return jobs.values_list("pk", flat=True).first() is not None


def hold(key: str, request: str, *, job_id: int, token: UUID, keep_seconds: float, using: str) -> tuple[Effect, bool]:
    """Note that this attempt is about to do it; answer with the record as it is then, and whether it is ours now.

    Another's that lives is left as it is, and so is one that is done, or that names another request. There must be no
    transaction: what is noted is committed.
    """
    ours = {"request": request, "job_id": job_id, "token": token, "keep_until": _until(keep_seconds)}
    effects = Effect.objects.using(using)
    while True:
        with read_committed(using, durable=True):
            effect, is_ours = effects.get_or_create(key=key, defaults=ours)
            if not is_ours:
                locked = effects.select_for_update().filter(pk=effect.pk).first()
                if locked is None:
                    continue  # given up, or pruned, in between
                effect = locked
                is_ours = effect.done_at is None and effect.request == request and not is_held(effect, using=using)
                if is_ours:
                    effects.filter(pk=effect.pk).update(**ours)
        return effect, is_ours


def finish(key: str, result: str, *, token: UUID, keep_seconds: float, using: str) -> bool:
    """Keep the result of what we hold. False where it is another's by now."""
    held = Effect.objects.using(using).filter(key=key, token=token)
    return bool(held.update(result=_json(result), token=None, done_at=Now(), keep_until=_until(keep_seconds)))


def release(key: str, *, token: UUID, using: str) -> None:
    """Give up what we hold: it has not been done."""
    Effect.objects.using(using).filter(key=key, token=token).delete()


def prune(*, using: str, limit: int = PRUNE_LIMIT) -> int:
    """Delete records whose time is over, `limit` at most; answer with how many.

    What a living attempt is at stays; what one has begun and not ended that is gone does not.
    """
    is_done_or_gone = Q(token__isnull=True) | ~Exists(
        Job.objects.filter(lease_token=OuterRef("token"), pk=OuterRef("job_id"))
    )
    over = Effect.objects.using(using).filter(is_done_or_gone, keep_until__lt=Now()).order_by("keep_until")
    with read_committed(using):
        ids = list(over.select_for_update(skip_locked=True, of=("self",)).values_list("pk", flat=True)[:limit])
        return Effect.objects.using(using).filter(pk__in=ids).delete()[0]


def is_held(effect: Effect, *, using: str) -> bool:
    """Say whether the attempt that is at it has its lease."""
    return Job.objects.using(using).filter(pk__in=[effect.job_id], lease_token=effect.token).exists()


def _json(text: str) -> Cast:
    # As text: the ORM would write JSON of its own, and a float of 1e16 would come back as an integer.
    return Cast(Value(text, TextField()), JSONField())


def _until(keep_seconds: float) -> Combinable:
    return Now() + timedelta(seconds=keep_seconds)
