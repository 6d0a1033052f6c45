"""The rows of circuit breakers: counted by many, changed once, and heeded by every claim."""

from uuid import uuid4

import pytest

from django_jobqueue import Breaker
from django_jobqueue.models import CircuitBreaker, Job
from django_jobqueue.policy.breaker import RAMP_SECONDS, Change, State
from django_jobqueue.store import breakers
from django_jobqueue.store.breakers import Count
from django_jobqueue.store.claim import Serving, claim
from django_jobqueue.store.control import hold
from django_jobqueue.store.session import connect
from tests.store.hands import COMMITS, TASK, add_job, add_jobs, at, at_once

pytestmark = COMMITS

STRIPE = Breaker("stripe", trips_on=(ConnectionError,), minimum=4, pause_seconds=30, probes=3)
OTHER = "shop.thumbnail"
DOWN = Change(State.OPEN, "4 of 4 attempts failed", 1, 30.0)


@pytest.fixture(autouse=True)
def stripe(db):
    """The row of the breaker `stripe`, closed."""
    return CircuitBreaker.objects.create(name="stripe")


def run(worker, *statements):
    """Run statements as a worker does, and answer with what the last one read."""
    return worker.session.run(*statements, statement_timeout_ms=20_000)[-1]


def claim_of(limit, tasks=(TASK, OTHER), *, by_group=False):
    """A claim of these tasks."""
    return claim(
        backend="default",
        tasks=tasks,
        serving=Serving(),
        limit=limit,
        token=uuid4(),
        worker_id=uuid4(),
        lease_seconds=30.0,
        by_group=by_group,
    )


def claimed(worker, limit=100, *, by_group=False):
    """Claim as a worker that knows the breaker does; answer with the tasks of what it got."""
    jobs = run(worker, hold(), breakers.standings({TASK: "stripe"}), claim_of(limit, by_group=by_group))
    return sorted(job.task for job in jobs)


def probed(worker, breaker=STRIPE, at_most=100):
    """Claim what the breaker lets run; answer with how many that were."""
    probes = breakers.probes_of(claim_of(100, (TASK,), by_group=True), breaker, [TASK], at_most=at_most)
    return len(run(worker, hold(), breakers.standings({TASK: "stripe"}), breakers.probe("stripe"), probes))


def stand(**columns):
    """Put the breaker's row so."""
    CircuitBreaker.objects.update(**columns)


def count(worker, ended, tripped, generation=0):
    """Count attempts; answer with the standing, or None where the row was not free."""
    counts = [Count(STRIPE, generation, ended, tripped, "builtins.ConnectionError" if tripped else "")]
    return next(iter(run(worker, breakers.count(counts))), None)


def test_counts_of_workers_add_up(make_worker):
    """Of any number of them, at the same moment: who finds the row locked counts again."""
    workers = [make_worker() for _ in range(4)]

    def work(worker):
        for _ in range(25):
            while count(worker, 2, 1) is None:
                pass

    assert at_once(*[lambda worker=worker: work(worker) for worker in workers]) == [None] * 4
    row = CircuitBreaker.objects.get()
    # Windows of eight.
    assert 2 <= row.ended <= 10
    assert row.tripped * 2 == row.ended


def test_nobody_waits_for_a_row_that_is_locked(worker):
    """A keeper that is frozen with it holds up no other: the counts come later, a change is decided again."""
    with connect("default") as stranger, stranger.transaction():
        stranger.execute("SELECT FROM django_jobqueue_circuitbreaker FOR UPDATE")

        assert count(worker, 4, 4) is None
        assert run(worker, breakers.change("stripe", 0, DOWN)) is False
        assert run(worker, breakers.probe("stripe")) is None
    assert count(worker, 4, 4).tripped == 4


def test_a_window_ends_with_its_time_and_with_its_number(worker):
    """What was counted before is forgotten then."""
    count(worker, 3, 0)
    assert count(worker, 1, 1).ended == 4

    stand(window_started_at=at(-61))
    assert count(worker, 2, 1)[3:5] == (2, 1)
    stand(ended=16)
    assert count(worker, 1, 1)[3:5] == (1, 1)


def test_an_attempt_counts_for_the_state_that_it_began_in(worker):
    """One that began before the last change, and fails long after it, says nothing of the present."""
    run(worker, breakers.change("stripe", 0, DOWN))

    assert count(worker, 5, 5, generation=0)[2:5] == (1, 0, 0)
    assert count(worker, 1, 1, generation=1)[2:5] == (1, 1, 1)


def test_of_all_who_decide_a_change_one_makes_it(make_worker):
    """The others are told that it was not theirs; it is written once."""
    workers = [make_worker() for _ in range(4)]

    changed = at_once(*[lambda w=worker: run(w, breakers.change("stripe", 0, DOWN)) for worker in workers])

    assert sorted(changed) == [False, False, False, True]
    row = CircuitBreaker.objects.get()
    assert (row.state, row.generation, row.openings, row.reason) == ("open", 1, 1, "4 of 4 attempts failed")
    assert (row.next_probe_at - row.changed_at).total_seconds() == 30


@pytest.mark.parametrize("by_group", [False, True], ids=["in order", "by group"])
def test_while_it_is_open_its_tasks_are_not_claimed(worker, by_group):
    """They stay READY, nothing is counted against them, and others are claimed; closed, they are as well."""
    add_job(), add_job(task=OTHER)
    run(worker, breakers.change("stripe", 0, DOWN))

    assert claimed(worker, by_group=by_group) == [OTHER]
    job = Job.objects.get(task=TASK)
    assert (job.status, job.attempt_count, job.failure_count) == ("READY", 0, 0)
    stand(state="closed", changed_at=at(-RAMP_SECONDS - 1))
    assert claimed(worker, by_group=by_group) == [TASK]


def test_a_worker_that_knows_no_breaker_claims_as_ever(worker):
    """What is set for one transaction is gone in the next."""
    add_job(), add_job(task=OTHER)
    run(worker, breakers.change("stripe", 0, DOWN))
    assert claimed(worker, 1) == [OTHER]

    assert [job.task for job in run(worker, hold(), claim_of(5))] == [TASK]


def test_no_probe_before_its_time(worker):
    """By PostgreSQL's clock. One without a moment, as a person may open it, lets none start at all."""
    add_jobs(5)
    run(worker, breakers.change("stripe", 0, DOWN))
    assert probed(worker) == 0
    stand(next_probe_at=None)
    assert probed(worker) == 0

    stand(next_probe_at=at(-1))
    assert probed(worker) == 3
    row = CircuitBreaker.objects.get()
    assert (row.state, row.generation, row.next_probe_at) == ("half_open", 2, None)


def test_probes_are_few_whoever_asks(make_worker):
    """Eight workers at once, again and again: three jobs, and no more until one of them has ended."""
    add_jobs(50)
    stand(state="open", next_probe_at=at(-1))
    workers = [make_worker() for _ in range(8)]

    for _ in range(5):
        at_once(*[lambda worker=worker: probed(worker) for worker in workers])
    assert Job.objects.filter(status="RUNNING").count() == 3

    count(workers[0], 1, 0, generation=1)
    Job.objects.filter(pk=Job.objects.filter(status="RUNNING").first().pk).update(status="SUCCESSFUL", lease_token=None)
    assert probed(workers[0]) == 0


def test_a_probe_that_nobody_answers_for_makes_room(worker):
    """Its worker was killed, or it hangs: after a pause others take its place."""
    add_jobs(50)
    stand(state="open", next_probe_at=at(-1))
    assert (probed(worker), probed(worker)) == (3, 0)

    Job.objects.filter(status="RUNNING").update(last_attempted_at=at(-31))
    stand(changed_at=at(-40))
    assert probed(worker) == 3


def test_probes_are_jobs_that_have_attempts_left(worker):
    """Those that failed when it opened are due first, and would spend their last attempts on finding out."""
    tired, fresh = add_jobs(3, failure_count=2, run_after=at(-60)), add_jobs(3, run_after=at(-5))
    stand(state="open", next_probe_at=at(-1))

    assert probed(worker) == 3
    assert set(Job.objects.filter(status="RUNNING").values_list("pk", flat=True)) == set(fresh)
    stand(state="closed", changed_at=at(-2))
    assert probed(worker, at_most=3) == 3
    assert not Job.objects.filter(pk__in=tired, status="READY").exists()


def test_what_ran_before_it_was_asked_takes_no_room(worker):
    """A long job that began before the outage is no probe."""
    add_jobs(2)
    assert len(run(worker, hold(), claim_of(2))) == 2
    add_jobs(10)
    stand(state="open", next_probe_at=at(-1))

    assert probed(worker) == 3


@pytest.mark.parametrize(("age", "starts"), [(0.0, 3), (2.5, 6), (4.5, 12), (8.5, 48)])
def test_after_it_has_closed_jobs_start_in_growing_numbers(worker, age, starts):
    """Whoever has just come back is not run over: the number doubles every two seconds."""
    add_jobs(100)
    stand(state="closed", generation=3, changed_at=at(-age))

    assert claimed(worker) == []
    assert probed(worker) == starts
    assert probed(worker) == 0


def test_some_time_after_it_has_closed_nothing_is_held(worker):
    """Its jobs are claimed as any others are."""
    add_jobs(100)
    stand(state="closed", generation=3, changed_at=at(-RAMP_SECONDS))

    assert probed(worker) == 0
    assert len(claimed(worker)) == 100


def test_a_row_is_made_once(worker):
    """By the first worker that knows the breaker; what it says already stays."""
    stand(state="open")
    run(worker, breakers.declare(["stripe", "mail"]))
    run(worker, breakers.declare(["stripe", "mail"]))

    assert sorted(CircuitBreaker.objects.values_list("name", "state")) == [("mail", "closed"), ("stripe", "open")]
