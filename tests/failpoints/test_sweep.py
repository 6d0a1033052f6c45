"""Whatever happens to a worker at any moment of its work: no job is lost, and every run is on record."""

import pytest

from django_jobqueue import failpoint
from django_jobqueue.models import Attempt, Job
from tests.failpoints import work
from tests.model import invariants, state
from tests.scenarios.conftest import SECONDS
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]

QUICK = {"lease_seconds": 2, "renew_seconds": 0.5, "rescue_seconds": 0.3, "poll_seconds": 0.2}
PAST_THE_LEASE = "sleep:3"

WITHOUT_A_LINE = ("claimed", "handed", "heard", "ordered", "ran", "told", "committed", "recorded", "held", "called")
"""Moments between the calls: there is no line to cut there."""

EVERY = [
    (moment, PAST_THE_LEASE if action == "sleep" else action)
    for moment in failpoint.MOMENTS
    for action in failpoint.ACTIONS
    if not (action == "drop" and moment in WITHOUT_A_LINE)
    and not (action == "drop" and moment.split()[-1] in ("finish_here", "record"))
]
SAMPLE = [
    ("after claim", "drop"),
    ("after finish", "error"),
    ("after finish_here", "kill"),
    ("after record", "kill"),
    ("called", "kill"),
    ("told", "exit"),
    ("after rescue", "kill"),
    ("after give_back", "drop"),
]
"""For every run of the suite: in keeper, runner and transaction, at a rescue and at a stop."""


def parameters(chosen, *marks):
    return [pytest.param(*each, id="=".join(each), marks=marks) for each in chosen]


@pytest.mark.parametrize(
    ("moment", "action"),
    [*parameters(SAMPLE), *parameters([each for each in EVERY if each not in SAMPLE], pytest.mark.failpoints)],
)
def test_a_worker_may_end_at_any_moment(start_worker, tmp_path, moment, action):
    """One meets its fate, and a healthy one comes: every job comes to its end, and each effect has an attempt."""
    happened = tmp_path / "happened"
    armed = {
        "DJANGO_JOBQUEUE_FAILPOINT": f"{moment}={action}",
        "DJANGO_JOBQUEUE_FAILPOINT_ONCE": str(happened),
    }
    work.enqueue_for(moment)
    jobs = Job.objects.count()
    worker = start_worker("--processes", "1", options=QUICK, environment=armed, may_break=True)
    work.bring_about(moment, worker, SECONDS)
    wait_until(happened.exists, seconds=SECONDS)
    start_worker("--processes", "1", options=QUICK)
    wait_until(all_are_over, seconds=2 * SECONDS)

    assert Job.objects.count() == jobs
    assert set(Job.objects.values_list("status", flat=True)) == {"SUCCESSFUL"}
    invariants.check(state.read(), state.limits())
    for what, job_id, attempt in Trace.objects.values_list("what", "job_id", "attempt"):
        assert Attempt.objects.filter(job_id=job_id, number=attempt).exists(), (what, job_id, attempt)
    for what in ("booked", "noted", "paid"):
        assert_once(what)


def assert_once(what):
    """Each job whose effect is to happen once has had it, once."""
    tasks = {"booked": "book", "noted": "note_once", "paid": "pay_once"}
    booked = Trace.objects.filter(what=what).values_list("job_id", flat=True)
    assert sorted(booked) == sorted(Job.objects.filter(task__endswith=tasks[what]).values_list("pk", flat=True))


def all_are_over():
    return not Job.objects.exclude(status__in=["SUCCESSFUL", "FAILED", "CANCELLED"]).exists()
