"""Close attempts by decisions. The one road out of RUNNING."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from django_jobqueue.policy.fingerprint import fingerprint
from django_jobqueue.policy.lifecycle import Status
from django_jobqueue.policy.retry import Bury, Cancel, Decision, Finish, Release, Step, Wait
from django_jobqueue.store.statement import Row, Statement, array, text_array


class Settlement(NamedTuple):
    """One attempt and what is decided about it. `token` is the lease it ran under; task and owner go on a letter.

    The attempt's number only serves to recognise it afterwards.

    A NamedTuple for the reason that `Decision` is one.
    """

    job_id: int
    token: UUID
    decision: Decision
    task: str = ""
    owner: str = ""
    attempt_number: int = 0


class Settled(NamedTuple):
    """What became of a job: its status now, and how many of its failures count."""

    status: str
    failure_count: int = 0
    max_attempts: int = 0


_SUCCESSFUL = Settled(Status.SUCCESSFUL)


def settle(settlements: Sequence[Settlement]) -> list[Statement[dict[int, Settled]]]:
    """Close attempts. Each statement answers with the jobs that it changed, and what became of each.

    A job that is missing from the answers belongs to another lease by now: the late worker changed nothing. One that
    a person wants cancelled is CANCELLED, whatever the decision says, unless it has succeeded.
    """
    # Ids in order, so that two workers that write the same rows late lock them in the same order.
    settlements = sorted(settlements, key=lambda settlement: settlement.job_id)
    finished = [s for s in settlements if isinstance(s.decision.step, Finish)]
    others = [s for s in settlements if not isinstance(s.decision.step, Finish)]
    statements = []
    if finished:
        statements.append(_finish(finished))
    if others:
        statements.append(_settle(others))
    return statements


def settled_before(settlements: Sequence[Settlement], *, worker_id: UUID) -> Statement[dict[int, Settled]]:
    """Ask which of these this worker has written already, without hearing of it.

    Answers with the jobs and what became of each; its status is empty if it has gone on to another attempt.
    """
    params = {
        "ids": array([str(s.job_id) for s in settlements]),
        "numbers": array([str(s.attempt_number) for s in settlements]),
        "outcomes": array([s.decision.outcome for s in settlements]),
        "exception_classes": text_array([s.decision.failure.exception_class for s in settlements]),
        "messages": text_array([s.decision.failure.message for s in settlements]),
        "worker_id": str(worker_id),
    }
    return Statement("settled_before", params, _read)


def _finish(settlements: Sequence[Settlement]) -> Statement[dict[int, Settled]]:
    params = _leases(settlements)
    params["results"] = text_array([s.decision.step.result for s in settlements if isinstance(s.decision.step, Finish)])
    return Statement("finish", params, _read_finished)


def _settle(settlements: Sequence[Settlement]) -> Statement[dict[int, Settled]]:
    decisions = [s.decision for s in settlements]
    columns = [_columns(decision.step) for decision in decisions]
    params = _leases(settlements) | {
        "statuses": array([column.status for column in columns]),
        "waiting_fors": text_array([column.waiting_for for column in columns]),
        "after_seconds": array(["NULL" if c.after_seconds is None else repr(c.after_seconds) for c in columns]),
        "outcomes": array([decision.outcome for decision in decisions]),
        "charged": _flags([decision.charged for decision in decisions]),
        "interrupted": _flags([decision.interrupted for decision in decisions]),
        "snoozed": _flags([decision.snoozed for decision in decisions]),
        "crashes": _flags([decision.crash for decision in decisions]),
        "exception_classes": text_array([decision.failure.exception_class for decision in decisions]),
        "messages": text_array([decision.failure.message for decision in decisions]),
        "tracebacks": text_array([decision.failure.traceback for decision in decisions]),
        "reasons": text_array([column.reason for column in columns]),
        "fingerprints": text_array(
            [
                fingerprint(s.task, c.reason, s.decision.failure) if c.reason else ""
                for s, c in zip(settlements, columns, strict=True)
            ]
        ),
        "owners": text_array([s.owner for s in settlements]),
    }
    return Statement("settle", params, _read)


@dataclass(frozen=True, slots=True)
class _Columns:
    status: Status
    waiting_for: str = ""
    after_seconds: float | None = None
    reason: str = ""


def _columns(step: Step) -> _Columns:
    match step:
        case Wait(after_seconds, waiting_for):
            return _Columns(Status.WAITING, waiting_for, after_seconds)
        case Release():
            return _Columns(Status.READY)
        case Bury(reason):
            return _Columns(Status.FAILED, reason=reason)
        case Cancel():
            return _Columns(Status.CANCELLED)
        case Finish():
            return _Columns(Status.SUCCESSFUL)


def _leases(settlements: Sequence[Settlement]) -> dict[str, str]:
    # One token serves all of a claim.
    texts = {token: str(token) for token in {s.token for s in settlements}}
    return {
        "ids": array([str(s.job_id) for s in settlements]),
        "tokens": array([texts[s.token] for s in settlements]),
    }


def _flags(values: Sequence[bool]) -> str:
    return array(["t" if value else "f" for value in values])


def _read_finished(rows: list[Row]) -> dict[int, Settled]:
    return dict.fromkeys([row[0] for row in rows], _SUCCESSFUL)


def _read(rows: list[Row]) -> dict[int, Settled]:
    return {row[0]: Settled._make(row[1:]) for row in rows}
