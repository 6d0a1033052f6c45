"""Finish a job inside the transaction that its own work was done in."""

from __future__ import annotations

from uuid import UUID

from django.db import connections

from django_jobqueue import failpoint
from django_jobqueue.policy.outcomes import OutcomeName
from django_jobqueue.policy.retry import Decision, Finish
from django_jobqueue.store.session import PLAN_GUARD
from django_jobqueue.store.settle import Settlement, settle
from django_jobqueue.store.statement import run_on

COMMIT_WITHIN_MS = 5000
"""From here on the job's row is locked: a process that freezes before its COMMIT must not hold it for longer."""


def finish_here(job_id: int, token: UUID, result: str, *, using: str) -> bool:
    """Close the attempt as succeeded, in the transaction that is open on `using`; to be its last statement.

    False where the lease is another's by now. The caller rolls back then.
    """
    connection = connections[using]
    failpoint.hit("before finish_here")
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('idle_in_transaction_session_timeout', %s, true)", [str(COMMIT_WITHIN_MS)])
        cursor.execute(PLAN_GUARD)
    (statement,) = settle([Settlement(job_id, token, Decision(Finish(result), OutcomeName.SUCCEEDED))])
    is_ours = job_id in run_on(connection, statement)
    failpoint.hit("after finish_here")
    return is_ours
