"""Keep what is due within a limit, where it is enqueued: credits for the room that is left.

A job under a depth limit takes a credit of each scope (its queue, its task, its key) in the caller's transaction, and
the claim gives it back. Credits lie in slices, so that many enqueue at once: each takes from one that nobody has
locked. Jobs that have no credit, as they fell due, came back or were replayed, count by their rows.

Slices and the jobs that hold credits never add up to more than `max_depth`; so no race, rollback or crash lets the
depth grow beyond it. What is lost, as where a job is cancelled, the workers' `recount` finds again.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import NamedTuple

from django.db import connections, transaction

from django_jobqueue.exceptions import QueueFull
from django_jobqueue.store.statement import Row, Statement, array, run_on, text_array

SLICES = 32
"""So many enqueue at once without being in each other's way; one more is refused, as if the queue were full."""

WIDE = 4 * SLICES
"""Of all slices, also those of a limit that was changed meanwhile."""

WIDTHS = (4, WIDE)
"""From so many slices an enqueue takes that does not find enough in one; else others have them locked, and it is
refused."""

MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 3600.0
DEFAULT_RETRY_SECONDS = 10.0
"""What is said where nothing was claimed lately."""

KINDS = ("queue", "task", "key")


RECOUNT_SCOPES = 50
"""Scopes that one statement counts at most."""

RECOUNT_LIMIT = 1000
"""Jobs of a scope that one statement gives a credit."""

_PARITIES = cycle((0, 1))

AHEAD_SECONDS = 5.0
"""Jobs that fall due so soon get their credit before: as long as they have none, each slice counts them off."""


FORGET_SECONDS = 600.0
"""So long after the last claim the slices of a key that has no job are deleted."""


class Bound(NamedTuple):
    """A limit that a job is under: of the depth of its queue, its task or its concurrency key, and of the age there."""

    kind: str
    backend: str
    target: str
    max_depth: int
    max_age_seconds: float | None = None


class Room(NamedTuple):
    """What is left of a bound, as this moment shows it; `slots` are the slices that are written."""

    others: int
    slots: frozenset[int]
    amount: int
    uncredited: int
    drained_per_second: float
    is_too_old: bool
    """Whether its oldest due job has waited for longer than the bound allows."""


@dataclass(frozen=True, slots=True)
class Recounted:
    """How many slices were set and jobs given a credit; and the target from which it goes on, if it does."""

    slices: int
    paid: int
    next_target: str | None


def take(wanted: Mapping[Bound, int], *, using: str) -> None:
    """Take so many credits of each bound, of all or of none, in the transaction that is open. Waits for nobody.

    Raises QueueFull; the transaction is then as it was, and usable.
    """
    groups = [{bound: number for bound, number in wanted.items() if bound.kind == kind} for kind in KINDS]
    groups = [group for group in groups if group]
    if len(groups) == 1 and _is_taken(groups[0], using):
        return
    # What was locked in vain, or taken of one kind and missing of another, goes back at once.
    with transaction.atomic(using=using):
        for group in groups:
            if len(groups) == 1 or not _is_taken(group, using):
                _take_wide(group, using)


def require_room(wanted: Mapping[Bound, int], *, using: str) -> None:
    """Raise QueueFull where there is no room for so many now. Takes nothing."""
    for bound, number in wanted.items():
        room = look(bound, using=using)
        if room.is_too_old or _left(bound, room) < number:
            raise _refusal(bound, number, room)


def give_back(kind: str, backend: str, target: str, number: int, *, using: str) -> None:
    """Give back what is not needed any more, in the transaction that makes it so. Waits for nobody."""
    params = {"kind": kind, "backend": backend, "target": target, "number": number}
    run_on(connections[using], Statement("return_credits", params, list))


def left(bound: Bound, *, using: str) -> int:
    """Say how many more due jobs there is room for, as this moment shows it; below zero where there are too many."""
    return _left(bound, look(bound, using=using))


def look(bound: Bound, *, using: str) -> Room:
    """Say what is left of a bound."""
    return run_on(connections[using], _looking(bound))


def _looking(bound: Bound) -> Statement[Room]:
    params = {
        "kind": bound.kind,
        "backend": bound.backend,
        "targets": text_array([bound.target]),
        "limits": array([str(bound.max_depth)]),
        "ages": _ages([bound]),
    }
    return Statement("look_at_depths", params, _room, _under(bound.kind))


def recount(kind: str, backend: str, *, from_target: str = "", scopes: int = RECOUNT_SCOPES) -> Statement[Recounted]:
    """Count the depth of so many scopes of a kind, the first of which is at or behind a target.

    Where credits were lost, or due jobs have none, what is free is set to what the count leaves.
    """
    return _recount(kind, backend, from_target=from_target, scopes=scopes, parity=next(_PARITIES))


def forget(
    kind: str,
    backend: str,
    *,
    from_target: str = "",
    scopes: int = RECOUNT_SCOPES,
    after_seconds: float = FORGET_SECONDS,
) -> Statement[int]:
    """Delete the slices of scopes that nothing is under any more; says how many. Of keys there may be any number."""
    params = {
        "kind": kind,
        "backend": backend,
        "from_target": from_target,
        "scopes": scopes,
        "after_seconds": after_seconds,
    }
    return Statement("forget_credits", params, lambda rows: int(rows[0][0]), _under(kind))


def kinds_wanted() -> Statement[tuple[str, ...]]:
    """Ask which kinds of depth limits there are."""
    return Statement("credits_wanted", {}, lambda rows: tuple(kind for (kind,) in rows))


def shares(max_depth: int) -> list[int]:
    """Divide a limit among its slices."""
    slots = min(SLICES, max_depth)
    return [max_depth // slots + (slot < max_depth % slots) for slot in range(slots)]


def _take_wide(wanted: Mapping[Bound, int], using: str) -> None:
    rooms: dict[Bound, Room] = {}
    for width in WIDTHS:
        for bound, number in wanted.items():
            room = look(bound, using=using)
            if room.others:
                # The limit was changed: others count by the new one from this commit on.
                run_on(connections[using], _resize(bound))
                room = look(bound, using=using)
            if room.is_too_old or _left(bound, room) < number:
                raise _refusal(bound, number, room)
            _open(bound, number + room.uncredited, room, using)
            rooms[bound] = room
        if _is_taken(wanted, using, width=width):
            return
    bound, number = next(iter(wanted.items()))
    raise _refusal(bound, number, rooms[bound])


def _is_taken(wanted: Mapping[Bound, int], using: str, *, width: int = 1) -> bool:
    return run_on(connections[using], _taking(wanted, width=width))


def _taking(wanted: Mapping[Bound, int], *, width: int) -> Statement[bool]:
    bounds = list(wanted)
    params = {
        "kind": bounds[0].kind,
        "backend": bounds[0].backend,
        "targets": text_array([bound.target for bound in bounds]),
        "numbers": array([str(number) for number in wanted.values()]),
        "limits": array([str(bound.max_depth) for bound in bounds]),
        "ages": _ages(bounds),
        "width": width,
        "first": random.randrange(SLICES),  # noqa: S311 - spread is no secret
    }
    return Statement("take_credits", params, _first, _under(bounds[0].kind))


def _open(bound: Bound, number: int, room: Room, using: str) -> None:
    """Write slices that are missing, as many as a number of credits needs."""
    amounts = shares(bound.max_depth)
    missing = [slot for slot in range(len(amounts)) if slot not in room.slots]
    if not missing:
        return
    random.shuffle(missing)
    # Slice 0 first: who counts needs it.
    missing.sort(key=bool)
    params = {
        "kind": bound.kind,
        "backend": bound.backend,
        "target": bound.target,
        "max_depth": bound.max_depth,
        "slots": array([str(slot) for slot in missing]),
        "amounts": array([str(amounts[slot]) for slot in missing]),
        "width": -(-number // amounts[-1]),
    }
    run_on(connections[using], Statement("open_credits", params, list))


def _resize(bound: Bound) -> Statement[Recounted]:
    return _recount(bound.kind, bound.backend, target=bound.target, max_depth=bound.max_depth)


def _recount(
    kind: str,
    backend: str,
    *,
    target: str | None = None,
    max_depth: int | None = None,
    from_target: str = "",
    scopes: int = 1,
    parity: int | None = None,
) -> Statement[Recounted]:
    params = {
        "kind": kind,
        "backend": backend,
        "target": target,
        "max_depth": max_depth,
        "from_target": from_target,
        "scopes": scopes,
        "parity": parity,
        "slices": SLICES,
        "limit": RECOUNT_LIMIT,
        "ahead_seconds": AHEAD_SECONDS,
    }
    return Statement("recount", params, lambda rows: Recounted(*rows[0]), _under(kind))


def _left(bound: Bound, room: Room) -> int:
    unwritten = sum(share for slot, share in enumerate(shares(bound.max_depth)) if slot not in room.slots)
    return room.amount + unwritten - room.uncredited


def _refusal(bound: Bound, number: int, room: Room) -> QueueFull:
    seconds = DEFAULT_RETRY_SECONDS
    if room.drained_per_second > 0:
        seconds = max(1, number - _left(bound, room)) / room.drained_per_second
    retry_after = min(MAX_RETRY_SECONDS, max(MIN_RETRY_SECONDS, seconds))
    return QueueFull(
        bound.kind,
        bound.target,
        max_depth=bound.max_depth,
        retry_after=retry_after,
        max_age_seconds=bound.max_age_seconds if room.is_too_old else None,
    )


def _ages(bounds: Sequence[Bound]) -> str:
    return array(["NULL" if bound.max_age_seconds is None else str(bound.max_age_seconds) for bound in bounds])


def _under(kind: str) -> str:
    return f"under_depth_of_{kind}"


def _first(rows: list[Row]) -> bool:
    return bool(rows[0][0])


def _room(rows: list[Row]) -> Room:
    _, others, slots, amount, uncredited, drained_per_second, is_too_old = rows[0]
    return Room(others, frozenset(slots), amount, uncredited, drained_per_second, is_too_old)
