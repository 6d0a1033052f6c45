"""Write down who did what to which job, in the transaction of the deed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django_jobqueue.models import AuditEntry


def record(
    actor: str,
    action: str,
    object: str,  # noqa: A002 - the column's name
    *,
    reason: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    using: str,
) -> AuditEntry:
    """Insert one entry. It commits or vanishes with the change that it tells of.

    before and after hold the same keys: what the deed changed, as JSON.
    """
    return AuditEntry.objects.using(using).create(
        actor=actor, action=action, object=object, reason=reason, before=dict(before), after=dict(after)
    )


def object_of(job_id: int) -> str:
    """Name a job as entries do.

    What is done to a dead letter is filed under its job too: a job has one letter, so one list tells the whole story.
    """
    return f"job:{job_id}"
