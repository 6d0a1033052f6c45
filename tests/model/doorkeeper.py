"""Admission to the ideal queue: turns are foretold, and of slots it is said whether they were given rightly.

Who of those that wait gets a slot is the queue's to say, as long as nobody is admitted without room, none of two that
wait for the very same passes the other, and whoever has room is admitted in the end.
"""

from __future__ import annotations

from collections.abc import Collection

from tests.model import gates
from tests.model.ideal import Ideal


def give_turns(ideal: Ideal, locked: Collection[int]) -> int:
    """Let in the first of each line, if it is due and nothing of the line is before it."""
    if ideal.is_admitting:
        return 0
    firsts: dict[gates.Line, int] = {}
    for job_id in sorted(_waiting_for(ideal, "order")):
        firsts.setdefault((ideal.jobs[job_id].backend, ideal.jobs[job_id].gates.order_key), job_id)
    moved = [
        job_id
        for line, job_id in firsts.items()
        if ideal.jobs[job_id].is_due and job_id not in locked and not gates.before(ideal.jobs.values(), line)
    ]
    for job_id in moved:
        ideal.let_in(ideal.jobs[job_id])
    return len(moved)


def give_slots(ideal: Ideal, given: Collection[int], locked: Collection[int]) -> None:
    """Have these admitted; raise AssertionError if they, and nobody else, should not have been."""
    assert not (ideal.is_admitting and given), f"admitted beside another one who admits: {given}"
    for job_id in sorted(given, key=ideal.place):
        job = ideal.jobs[job_id]
        assert _has_room(ideal, job_id), f"there was no room for job {job_id}: {job}"
        job.status, job.waiting_for = "READY", ""
    left = [job_id for job_id in sorted(_waiting_for(ideal, "limit"), key=ideal.place) if job_id not in locked]
    for job_id in left:
        twins = [each for each in given if _alike(ideal, each) == _alike(ideal, job_id)]
        later = [each for each in twins if ideal.place(each) > ideal.place(job_id)]
        assert not later, f"job {job_id} was passed over by {later}"
    if not (given or locked or ideal.is_admitting):
        # Those of one lane go one after the other: the first one may hold up others that are under fewer limits.
        firsts = {_lane(ideal, job_id): job_id for job_id in reversed(left)}
        for first in firsts.values():
            assert not _has_room(ideal, first), f"job {first} has room, and is not admitted: {ideal.jobs[first]}"


def _waiting_for(ideal: Ideal, what: str) -> list[int]:
    return [job_id for job_id, job in ideal.with_status("WAITING") if job.waiting_for == what]


def _has_room(ideal: Ideal, job_id: int) -> bool:
    return gates.has_room(ideal.jobs.values(), ideal.jobs[job_id], ideal.limits)


def _lane(ideal: Ideal, job_id: int) -> tuple[object, ...]:
    job = ideal.jobs[job_id]
    return job.backend, job.queue, job.task, job.gates.concurrency_key


def _alike(ideal: Ideal, job_id: int) -> tuple[object, ...]:
    return *_lane(ideal, job_id), ideal.jobs[job_id].gates
