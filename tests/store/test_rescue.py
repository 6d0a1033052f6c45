"""Rescue: a job whose lease ran out is taken over by one other worker, and settled as lost."""

import psycopg
import pytest

from django_jobqueue.models import Attempt, Job, Worker
from django_jobqueue.store.rescue import Contact, rescue
from tests.store.hands import (
    COMMITS,
    FINISH,
    LOST,
    RELEASE,
    Ask,
    add_job,
    add_jobs,
    at,
    at_once,
    lease_seconds_left,
    let_leases_run_out,
    locked,
    row,
)

pytestmark = COMMITS


@pytest.fixture
def lost(worker):
    """A job whose worker has not renewed its lease."""
    add_job(max_attempts=7, failure_count=1, interruption_count=2, snooze_count=3, crash_count=4)
    (held,) = worker.claim()
    let_leases_run_out(held)
    return held


def test_a_job_whose_lease_ran_out_is_taken_over(worker, rival, lost):
    """The rescuer gets a token and a lease of its own; the open attempt stays the lost worker's."""
    before = row(lost.id)

    (rescued,) = rival.rescue(lease_seconds=20)

    assert rescued.token != lost.token
    assert 10 < lease_seconds_left(lost.id) <= 20
    after = row(lost.id)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"lease_token", "lease_expires_at"}
    assert (after["lease_token"], after["worker_id"]) == (rescued.token, worker.id)


def test_a_rescue_says_what_the_decision_needs(worker, rival, lost):
    """The answer names the attempt, the worker that lost it, and what the job has behind it."""
    job = rival.rescue()[0].job

    assert (job.id, job.task, job.attempt_number) == (lost.id, lost.job.task, 1)
    assert (job.worker_id, job.max_attempts, job.tally) == (worker.id, 7, lost.job.tally)


def test_the_lost_attempt_is_closed_in_its_worker_s_name(worker, rival, lost):
    """What a rescuer settles is the attempt of the worker that was lost, begun when that one claimed it."""
    began = row(lost.id)["last_attempted_at"]

    rival.settle(rival.rescue()[0].settled_as(LOST))

    attempt = Attempt.objects.get()
    assert (attempt.number, attempt.outcome, attempt.worker_id, attempt.started_at) == (1, "lost", worker.id, began)
    assert row(lost.id)["status"] == "READY"


def test_a_lease_that_runs_is_left_alone(worker, rival):
    """No job is rescued before its lease has ended."""
    add_job()
    worker.claim(lease_seconds=60)

    assert rival.rescue() == []


def test_a_worker_does_not_rescue_what_it_holds(worker, lost):
    """A worker that was cut off is not its own rescuer: it asks by renewing."""
    assert worker.rescue(lost) == []


def test_a_claim_that_was_committed_late_is_rescued_by_its_worker(worker, lost):
    """A claim that was committed after its worker had given the call up is rescued by any worker, itself too."""
    assert [each.id for each in worker.rescue()] == [lost.id]


def test_a_running_job_without_a_lease_is_rescued(rival, worker):
    """A running row that lost its lease, or its worker too, by somebody's hand is not stuck for ever."""
    add_jobs(2)
    worker.claim(2)
    Job.objects.update(lease_expires_at=None)
    Job.objects.filter(pk=Job.objects.latest("pk").pk).update(worker_id=None, lease_token=None)

    rescued = rival.rescue()

    assert {each.job.worker_id for each in rescued} == {worker.id, None}
    assert len(rival.settle(*[each.settled_as(LOST) for each in rescued])) == 2


def test_jobs_of_another_backend_are_left_alone(worker, rival):
    """A worker rescues for its own backend only."""
    add_job(backend="other")
    let_leases_run_out(*worker.claim(backend="other"))

    assert rival.rescue() == []
    assert len(rival.rescue(backend="other")) == 1


@pytest.mark.parametrize("status", ["WAITING", "READY", "SUCCESSFUL", "FAILED", "CANCELLED"])
def test_only_running_jobs_are_rescued(rival, status):
    """A job in any other state has nobody to be rescued from."""
    add_job(status=status)

    assert rival.rescue() == []


def test_the_limit_holds(worker, rival):
    """At most `limit` jobs are taken over in a call; the rest is for the next one, or another worker."""
    add_jobs(5)
    let_leases_run_out(*worker.claim(5))

    assert [len(rival.rescue(limit=3)) for _ in range(3)] == [3, 2, 0]


def test_a_locked_job_is_skipped(worker, rival):
    """A row that somebody else has locked holds no rescue up, and is rescued once it is free."""
    add_jobs(2)
    held = worker.claim(2)
    let_leases_run_out(*held)
    with locked(held[0].id):
        assert [each.id for each in rival.rescue()] == [held[1].id]

    assert [each.id for each in rival.rescue()] == [held[0].id]


def test_a_rescuer_that_dies_is_rescued_from(worker, rival, make_worker, lost):
    """When the rescuer does not settle either, its lease runs out and the next worker takes over."""
    let_leases_run_out(*rival.rescue())

    (rescued,) = make_worker().rescue()

    assert rescued.job.worker_id == worker.id
    assert rescued.job.attempt_number == 1


def test_a_rescue_that_breaks_leaves_no_trace(rival, lost):
    """A rescue whose transaction fails has taken nothing over, and locks nothing."""
    before = row(lost.id)
    statement = rescue(backend="default", held_tokens=(), token=rival.id, lease_seconds=30)
    with pytest.raises(psycopg.Error):
        rival.session.run(statement, Ask("SELECT 1 / 0"))

    assert row(lost.id) == before
    assert len(rival.rescue()) == 1


def test_two_rescuers_share_the_jobs(worker, make_worker):
    """Workers that rescue at the same moment never take over the same job."""
    add_jobs(200)
    let_leases_run_out(*worker.claim(200))
    rescuers = [make_worker() for _ in range(3)]

    def rescue_all(hand):
        taken = []
        while rescued := hand.rescue(limit=17):
            taken += rescued
        return taken

    answers = at_once(*[lambda hand=hand: rescue_all(hand) for hand in rescuers])

    ids = [each.id for taken in answers for each in taken]
    assert (len(ids), len(set(ids))) == (200, 200)
    tokens = dict(Job.objects.values_list("pk", "lease_token"))
    assert all(tokens[each.id] == each.token for taken in answers for each in taken)


@pytest.mark.parametrize("round_number", range(10))
def test_settle_and_rescue_cannot_both_win(worker, rival, round_number):
    """When a late worker settles while another rescues, each job is settled by exactly one of them."""
    add_jobs(20)
    held = worker.claim(20)
    let_leases_run_out(*held)

    def rescue_and_settle():
        return rival.settle(*[each.settled_as(LOST) for each in rival.rescue(limit=20)])

    finished, lost = at_once(
        lambda: worker.settle(*[each.settled_as(FINISH) for each in held]),
        rescue_and_settle,
    )

    assert finished | lost == {each.id for each in held}
    assert not finished & lost
    assert dict(Attempt.objects.values_list("job_id", "outcome")) == dict.fromkeys(
        finished, "succeeded"
    ) | dict.fromkeys(lost, "lost")
    assert set(Job.objects.filter(status="SUCCESSFUL").values_list("pk", flat=True)) == finished


def test_a_rescue_sees_a_renewal_that_came_first(worker, rival, lost):
    """A renewal just before the rescue keeps the job."""
    worker.renew(lost)

    assert rival.rescue() == []
    assert worker.settle(lost.settled_as(RELEASE)) == {lost.id}


@pytest.mark.parametrize(("seconds", "takes_over"), [(30, True), (5, False)])
def test_a_rescue_that_comes_late_takes_nothing_over(rival, lost, seconds, takes_over):
    """A rescuer whose last sign of life is older than it knows was held up on its way, as all may have been."""
    seen_ten_seconds_ago(rival)

    assert bool(rival.rescue(contact=Contact(rival.id, seconds))) is takes_over


def test_a_rescuer_that_nobody_has_seen_takes_nothing_over(rival, lost):
    """A worker whose row is not there, or not yet, has to say first that it is alive."""
    assert rival.rescue(contact=Contact(rival.id, 30)) == []


def seen_ten_seconds_ago(hand):
    """Write the row of a worker."""
    Worker.objects.create(
        id=hand.id, backend="default", hostname="h", pid=1, queues=[], processes=1, threads=1, coroutines=1, running=0,
        stale_refused=0, started_at=at(-60), last_seen_at=at(-10),
    )  # fmt: skip
