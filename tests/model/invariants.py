"""What is true of any queue at any moment, whatever happened before. Knows no model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from django_jobqueue.policy.lifecycle import LIVE, TERMINAL
from tests.model import gates
from tests.model.state import JobState

LETTERS = {
    "WAITING": {None, "REPLAYED"},
    "READY": {None, "REPLAYED"},
    "RUNNING": {None, "REPLAYED"},
    "SUCCESSFUL": {None, "RESOLVED"},
    "CANCELLED": {None, "RESOLVED"},
    "FAILED": {"OPEN", "DISCARDED"},
}
"""The letters that a job may have, by its status."""


def check(jobs: Mapping[int, JobState], limits: Mapping[tuple[str, str], int]) -> None:
    """Raise AssertionError for the first thing that must never be seen. `limits` are those that people have set."""
    for job_id, job in jobs.items():
        for rule in RULES:
            assert rule(job), f"job {job_id} breaks {rule.__name__}: {job}"
    held = Counter((job.task, job.key) for job in jobs.values() if job.key is not None and job.status in LIVE)
    assert all(count == 1 for count in held.values()), f"a unique key is held twice: {held}"
    slots = gates.slots(jobs.values(), limits)
    for scope, taken in slots.items():
        assert len(taken) <= max(at_once for _, at_once in taken) or not any(
            job.status == "READY" for job, _ in taken
        ), f"more than may run at once are running or ready to, of {scope}: {taken}"
    for line in {(job.backend, job.gates.order_key) for job in jobs.values() if job.gates.order_key is not None}:
        before = gates.before(jobs.values(), line)
        assert len(before) <= 1, f"more than one is on its way or in it, of {line}: {before}"


def a_token_means_running(job: JobState) -> bool:
    return (job.token is not None) == (job.status == "RUNNING") == (job.lease is not None)


def a_failed_job_has_a_letter_to_answer(job: JobState) -> bool:
    return job.letter in LETTERS[job.status] and (job.letter is None) == (job.deaths == 0)


def attempts_are_contiguous(job: JobState) -> bool:
    ended = job.attempt_count - (job.status == "RUNNING")
    return [number for number, *_ in job.attempts] == list(range(1, ended + 1))


def charged_attempts_are_bounded(job: JobState) -> bool:
    charged = sum(charged for _, _, charged, _ in job.attempts)
    lives = 1 + job.deeds.count("replay")
    spent = job.failure_count + (job.status in LIVE)
    return spent <= job.max_attempts and job.failure_count <= charged <= lives * job.max_attempts


def success_is_the_last_attempt(job: JobState) -> bool:
    outcomes = [outcome for _, outcome, *_ in job.attempts]
    return outcomes.count("succeeded") == (job.status == "SUCCESSFUL") and "succeeded" not in outcomes[:-1]


def what_waits_says_why(job: JobState) -> bool:
    return (job.status == "WAITING") == bool(job.waiting_for)


def the_end_has_a_moment(job: JobState) -> bool:
    return job.has_ended == (job.status in TERMINAL)


RULES = (
    a_token_means_running,
    a_failed_job_has_a_letter_to_answer,
    attempts_are_contiguous,
    charged_attempts_are_bounded,
    success_is_the_last_attempt,
    what_waits_says_why,
    the_end_has_a_moment,
)
