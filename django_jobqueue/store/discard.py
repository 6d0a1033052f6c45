"""Discard a dead letter: a person says that nothing more needs to happen."""

from __future__ import annotations

from django_jobqueue.exceptions import Refused
from django_jobqueue.models import DeadLetter
from django_jobqueue.store import audit, locked
from django_jobqueue.store.transaction import read_committed


def discard(letter_id: int, *, by: str, reason: str, using: str) -> DeadLetter:
    """Move a letter from OPEN to DISCARDED, with the reason as its note. The job stays FAILED, and may be replayed
    after all.

    Raises Refused: not_found, already_discarded, already_replayed, already_resolved.
    """
    with read_committed(using):
        letter = locked.letter(letter_id, using=using)
        _check(letter)
        before = _record(letter)
        DeadLetter.objects.using(using).filter(pk=letter.pk, status=DeadLetter.Status.OPEN).update(
            status=DeadLetter.Status.DISCARDED, note=reason
        )
        letter.refresh_from_db(using=using)
        audit.record(
            by,
            "discard",
            audit.object_of(letter.job_id),
            reason=reason,
            before=before,
            after=_record(letter),
            using=using,
        )
    return letter


def _check(letter: DeadLetter) -> None:
    match letter.status:
        case DeadLetter.Status.DISCARDED:
            raise Refused("already_discarded", f"dead letter {letter.pk} was already discarded")
        case DeadLetter.Status.REPLAYED:
            raise Refused("already_replayed", f"dead letter {letter.pk} was replayed: cancel its job instead")
        case DeadLetter.Status.RESOLVED:
            raise Refused("already_resolved", f"dead letter {letter.pk} is resolved: its job has ended since")


def _record(letter: DeadLetter) -> dict[str, object]:
    return {"dead_letter": letter.pk, "letter_status": letter.status, "note": letter.note}
