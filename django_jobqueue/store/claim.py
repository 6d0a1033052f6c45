"""Take ready jobs under a lease."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple
from uuid import UUID

from django_jobqueue.policy.retry import Tally
from django_jobqueue.store.statement import Row, Statement, array, text_array


class Claimed(NamedTuple):
    """One open attempt, as the claim left it.

    args, kwargs and worker_ids are JSON text; times are PostgreSQL's text.
    """

    id: int
    task: str
    version: int
    attempt_number: int
    args: str
    kwargs: str
    enqueued_at: str
    started_at: str
    last_attempted_at: str
    edit_count: int
    max_attempts: int
    tally: Tally
    earlier_worker_ids: str


@dataclass(frozen=True, slots=True)
class Serving:
    """Which queues a worker takes from: LIKE patterns, as `queue_pattern` makes them. No pattern: all of them."""

    served: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


def queue_pattern(text: str) -> str:
    """Turn `mail` or `mail-*` into a LIKE pattern: a name, or a prefix that ends in an asterisk."""
    prefix, star = (text[:-1], "%") if text.endswith("*") else (text, "")
    return prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + star


ALL_ONE: Mapping[str, int] = MappingProxyType({})


def known_tasks(tasks: Sequence[str], versions: Mapping[str, int]) -> dict[str, str]:
    """Write which tasks a worker knows, and beside it the newest version that it knows of each."""
    return {"tasks": text_array(tasks), "versions": array([str(versions.get(task, 1)) for task in tasks])}


def served_queues(serving: Serving) -> dict[str, str | None]:
    """Write which queues a worker serves."""
    return {
        "served": text_array(serving.served) if serving.served else None,
        "excluded": text_array(serving.excluded) if serving.excluded else None,
    }


AGED = "ready_by_age"


def claim(
    *,
    backend: str,
    tasks: Sequence[str],
    serving: Serving,
    limit: int,
    token: UUID,
    worker_id: UUID,
    lease_seconds: float,
    suspects: bool = True,
    by_group: bool = False,
    versions: Mapping[str, int] = ALL_ONE,
    gives_credits: bool = False,
    aging_seconds: float | None = None,
) -> Statement[list[Claimed]]:
    """Claim at most `limit` ready jobs of known `tasks`, in claim order: priority, run_after, id.

    `versions` are the newest ones known, of tasks that have more than one; jobs of newer ones are left to others.
    `suspects` says whether jobs that may have taken a process down are among them.

    One token serves the whole batch: it is the fence of each row, and no two claims share one. `by_group` finds the
    same jobs by queue and task: it costs more where many of them have jobs to give, and almost nothing where a
    million jobs of other queues or tasks lie before the first one. (Of another backend, with the same queue and task,
    it reads past them.)

    `gives_credits` says whether there are depth limits, whose credits go back with the claim. Where they do not, a
    count finds them.

    With `aging_seconds` it claims what has waited longest instead, whatever its priority, and for longer than that.
    """
    params = {
        "backend": backend,
        **known_tasks(tasks, versions),
        **served_queues(serving),
        "suspects": suspects,
        "limit": limit,
        "token": str(token),
        "worker_id": str(worker_id),
        "lease_seconds": lease_seconds,
    }
    inner = "ready_by_group" if by_group else "ready_in_order"
    if aging_seconds is not None:
        inner, params = AGED, params | {"aging_seconds": aging_seconds}
    return Statement("claim", params, read_claimed, inner, "give_credits" if gives_credits else "")


def aged_wanted(aging_seconds: float) -> Statement[bool]:
    """Ask whether any ready job that others go before has waited for longer than that."""
    return Statement("aged_wanted", {"aging_seconds": aging_seconds}, lambda rows: bool(rows[0][0]))


def is_by_age(claim: Statement[list[Claimed]]) -> bool:
    """Whether a claim takes what has waited longest, and not what comes first."""
    return claim.inner == AGED


def read_claimed(rows: list[Row]) -> list[Claimed]:
    """Read what `sql/claim.sql` answers, in claim order."""
    # UPDATE … RETURNING answers in no particular order; the claim order is what the caller hands out.
    rows.sort(key=lambda row: (-row[16], row[17], row[0]))
    return [Claimed._make((*row[:11], Tally(*row[11:15]), row[15] or "[]")) for row in rows]
