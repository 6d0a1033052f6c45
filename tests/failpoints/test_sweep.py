"""Whatever happens to a worker at any moment of its work: no job is lost, and every run is on record."""

import pytest

from django_jobqueue import failpoint
from django_jobqueue.models import Attempt, Job
from tests.model import invariants, state
from tests.scenarios.conftest import SECONDS
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]

QUICK = {"lease_seconds": 2, "renew_seconds": 0.5, "rescue_seconds": 0.3, "poll_seconds": 0.2}
PAST_THE_LEASE = "sleep:3"

WITHOUT_A_LINE = ("claimed", "handed", "heard", "ordered", "ran", "told", "committed")
"""Moments between the calls: there is no line to cut there."""

EVERY = [
    (moment, PAST_THE_LEASE if action == "sleep" else action)
    for moment in failpoint.MOMENTS
    for action in failpoint.ACTIONS
    if not (action == "drop" and moment in WITHOUT_A_LINE) and not (action == "drop" and "finish_here" in moment)
]
SAMPLE = [
    ("after claim", "drop"),
    ("after finish", "error"),
    ("after finish_here", "kill"),
    ("told", "exit"),
]
"""For every run of the suite: in keeper, runner and transaction."""


def parameters(chosen, *marks):
    return [pytest.param(*each, id="=".join(each), marks=marks) for each in chosen]


@pytest.mark.parametrize(
    ("moment", "action"),
    [*parameters(SAMPLE), *parameters([each for each in EVERY if each not in SAMPLE], pytest.mark.failpoints)],
)
def test_a_worker_may_end_at_any_moment(start_worker, tmp_path, moment, action):
    """Beside a healthy worker one meets its fate: every job comes to its end, and each effect has an attempt."""
    happened = tmp_path / "happened"
    armed = {
        "DJANGO_JOBQUEUE_FAILPOINT": f"{moment}={action}",
        "DJANGO_JOBQUEUE_FAILPOINT_ONCE": str(happened),
    }
    jobs = [tasks.start.enqueue() for _ in range(4)]
    jobs += [tasks.book.enqueue(0.1) for _ in range(4)]
    jobs += [tasks.fail_once.enqueue() for _ in range(2)]
    start_worker("--processes", "1", options=QUICK, environment=armed, may_break=True)
    wait_until(lambda: happened.exists() or all_are_over(), seconds=SECONDS)
    start_worker("--processes", "1", options=QUICK)
    # Work that makes every moment come: renewals of a job that runs long, a lease to rescue.
    if not happened.exists():
        jobs += [tasks.sleep.enqueue(1.5), tasks.fail_once.enqueue()]
    wait_until(all_are_over, seconds=2 * SECONDS)

    assert Job.objects.count() == len(jobs)
    assert set(Job.objects.values_list("status", flat=True)) == {"SUCCESSFUL"}
    invariants.check(state.read())
    for what, job_id, attempt in Trace.objects.values_list("what", "job_id", "attempt"):
        assert Attempt.objects.filter(job_id=job_id, number=attempt).exists(), (what, job_id, attempt)
    booked = Trace.objects.filter(what="booked").values_list("job_id", flat=True)
    assert sorted(booked) == sorted(Job.objects.filter(task__endswith="book").values_list("pk", flat=True))


def all_are_over():
    return not Job.objects.exclude(status__in=["SUCCESSFUL", "FAILED", "CANCELLED"]).exists()
