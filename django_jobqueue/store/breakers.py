"""Circuit breakers: what workers count and change, what they claim of one that is not closed, and a person's verbs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce, Now

from django_jobqueue.exceptions import Refused
from django_jobqueue.models import CircuitBreaker
from django_jobqueue.policy.breaker import (
    RAMP_SECONDS,
    RAMP_STEP_SECONDS,
    WINDOWS,
    Breaker,
    Change,
    Standing,
    State,
)
from django_jobqueue.store import audit, control
from django_jobqueue.store.claim import Claimed
from django_jobqueue.store.statement import Row, Statement, array, text_array
from django_jobqueue.store.transaction import read_committed

LOOK_AT = 50
"""Jobs of which probes are chosen."""


@dataclass(frozen=True, slots=True)
class Count:
    """How attempts have ended that began in one generation of a breaker."""

    breaker: Breaker
    generation: int
    ended: int
    tripped: int
    last_failure: str = ""


class Probed(NamedTuple):
    """A breaker whose jobs this transaction may claim, in small numbers. `is_news`: it is half-open from now on."""

    name: str
    generation: int
    is_news: bool


def declare(names: Sequence[str]) -> Statement[None]:
    """Make the rows of breakers that are not there yet."""
    return Statement("breaker_declare", {"names": text_array(sorted(names))}, _nothing)


def count(counts: Sequence[Count]) -> Statement[list[Standing]]:
    """Add to the counts of breakers, one `Count` each; answers with those whose row was free, as they stand then."""
    return Statement(
        "breaker_count",
        {
            "names": text_array([each.breaker.name for each in counts]),
            "generations": array([str(each.generation) for each in counts]),
            "ended": array([str(each.ended) for each in counts]),
            "tripped": array([str(each.tripped) for each in counts]),
            "failures": text_array([each.last_failure[:255] for each in counts]),
            "window_seconds": array([repr(float(each.breaker.window_seconds)) for each in counts]),
            "sizes": array([str(WINDOWS * each.breaker.minimum) for each in counts]),
        },
        _standings,
    )


def change(name: str, generation: int, to: Change) -> Statement[bool]:
    """Open or close a breaker, unless somebody else has changed it; answers whether this did."""
    params = {
        "name": name,
        "generation": generation,
        "state": to.state.value,
        "openings": to.openings,
        "pause_seconds": to.pause_seconds,
        "reason": to.reason,
    }
    return Statement("breaker_change", params, bool)


def standings(breakers: Mapping[str, str]) -> Statement[list[Standing]]:
    """Ask, between `control.hold` and the claims of a transaction, how breakers stand; have the claims heed it.

    `breakers` has the breaker's name of each task that has one.
    """
    params = {
        "names": text_array(sorted(set(breakers.values()))),
        "tasks": text_array([*breakers]),
        "breakers": text_array([*breakers.values()]),
        "ramp_seconds": RAMP_SECONDS,
    }
    return Statement("breaker_standings", params, _standings)


def probe(name: str) -> Statement[Probed | None]:
    """Ask to claim jobs of a breaker that is not simply closed, before `probes_of` does; waits for nobody."""
    return Statement("breaker_probe", {"name": name, "ramp_seconds": RAMP_SECONDS}, _probed)


def probes_of(
    claim: Statement[list[Claimed]], breaker: Breaker, tasks: Sequence[str], *, at_most: int
) -> Statement[list[Claimed]]:
    """Make of a claim by group, for some of the tasks of a breaker, one that takes no more than it lets run.

    The limit of the claim is how many jobs are looked at; `tasks` are all that the breaker has here.
    """
    params = {
        **claim.params,
        "breaker": breaker.name,
        "breaker_tasks": text_array(tasks),
        "at_most": at_most,
        "probes": breaker.probes,
        "pause_seconds": breaker.pause_seconds,
        "ramp_step_seconds": RAMP_STEP_SECONDS,
    }
    return replace(claim, params=params, inner="ready_probes")


NO_BREAKER: Mapping[str, Any] = MappingProxyType(
    {"breaker": None, "breaker_tasks": "{}", "at_most": 0, "probes": 0, "pause_seconds": 0, "ramp_step_seconds": 1}
)
"""The parameters that `probes_of` adds, for a claim that is not for one breaker."""


# --- What a person does


def open_breaker(name: str, *, until: datetime | timedelta | None, by: str, reason: str, using: str) -> CircuitBreaker:
    """Have no job of a breaker's tasks claimed until a person closes it, or until probes may start.

    When this has returned and its transaction is committed, no such claim is committed any more. Raises Refused:
    until_has_passed.
    """
    with read_committed(using):
        control.exclusively(using)
        row = _locked(name, using)
        before = _state(row)
        ends: Any = Now() + until if isinstance(until, timedelta) else until
        _write(
            row,
            state=State.OPEN.value,
            openings=1,
            opened_at=Coalesce("opened_at", Now()),
            next_probe_at=ends,
            reason=reason,
            set_by=by,
        )
        if row.next_probe_at is not None and row.next_probe_at <= row.changed_at:
            # By PostgreSQL's clock, which ends it. The transaction goes with the exception.
            raise Refused("until_has_passed", f"{row.next_probe_at} has passed: name a moment to come, or none")
        _record("open_breaker", row, before, by=by, reason=reason)
    return row


def close_breaker(name: str, *, by: str, reason: str, using: str) -> CircuitBreaker:
    """Have the jobs of a breaker's tasks claimed again, in growing numbers. Raises Refused: not_open."""
    with read_committed(using):
        control.exclusively(using)
        row = _locked(name, using)
        if row.state == State.CLOSED:
            raise Refused("not_open", f"breaker {name} is closed already")
        before = _state(row)
        _write(
            row,
            state=State.CLOSED.value,
            openings=0,
            opened_at=None,
            next_probe_at=None,
            reason=reason,
            set_by=by,
        )
        _record("close_breaker", row, before, by=by, reason=reason)
    return row


def known(using: str) -> QuerySet[CircuitBreaker]:
    """Return the breakers that a worker, or a person, has made known, by name."""
    return CircuitBreaker.objects.using(using).order_by("name")


def _locked(name: str, using: str) -> CircuitBreaker:
    # One that no worker has made known yet may be opened before the first of them starts.
    CircuitBreaker.objects.using(using).bulk_create([CircuitBreaker(name=name)], ignore_conflicts=True)
    return CircuitBreaker.objects.using(using).select_for_update().get(name=name)


def _write(row: CircuitBreaker, **words: Any) -> None:
    fresh = {"generation": F("generation") + 1, "ended": 0, "tripped": 0, "window_started_at": Now()}
    CircuitBreaker.objects.using(row._state.db).filter(pk=row.pk).update(**fresh, changed_at=Now(), **words)
    row.refresh_from_db()


def _state(row: CircuitBreaker) -> dict[str, Any]:
    return {"state": row.state, "next_probe_at": row.next_probe_at.isoformat() if row.next_probe_at else None}


def _record(verb: str, row: CircuitBreaker, before: dict[str, Any], *, by: str, reason: str) -> None:
    using = row._state.db or ""
    audit.record(by, verb, f"breaker:{row.name}"[:255], before=before, after=_state(row), reason=reason, using=using)


# --- How answers are read


def _nothing(rows: list[Row]) -> None:
    return None


def _standings(rows: list[Row]) -> list[Standing]:
    return [Standing._make(row[: len(Standing._fields)]) for row in rows]


def _probed(rows: list[Row]) -> Probed | None:
    return Probed(*rows[0][:3]) if rows else None
