"""Claim: ready jobs come under a lease, each to one worker only."""

from collections import Counter
from datetime import timedelta
from functools import partial
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection

from django_jobqueue.models import Attempt, Job
from django_jobqueue.store.claim import Serving, claim, queue_pattern
from django_jobqueue.store.session import connect
from tests.store.hands import (
    COMMITS,
    FINISH,
    RETRY_NOW,
    TASK,
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


@pytest.fixture(params=[False, True], ids=["in_order", "by_group"])
def make_worker(request, make_worker):
    """Hire workers that claim in one of the two ways; every fact about claims holds for both."""
    return partial(make_worker, by_group=request.param)


def ids(held):
    return [each.id for each in held]


def serving(*served, excluded=()):
    return Serving(tuple(map(queue_pattern, served)), tuple(map(queue_pattern, excluded)))


def test_jobs_are_claimed_in_order(worker):
    """The higher priority comes first, then the earlier run_after, then the lower id."""
    moment = at(-50)
    third, fourth = add_jobs(2, run_after=at(-60))
    last = add_job(priority=-1, run_after=at(-900))
    second = add_job(run_after=at(-100))
    first = add_job(priority=5, run_after=moment)

    assert ids(worker.claim(2)) == [first, second]
    assert ids(worker.claim(9)) == [third, fourth, last]


@pytest.mark.parametrize("moment", ["-infinity", "infinity", "0044-03-15 BC", "20000-01-01"])
def test_a_moment_that_python_cannot_hold_stops_no_claim(worker, moment):
    """A row whose run_after lies outside the years 1 to 9999 is claimed in its turn, and so are the others."""
    odd, other = add_jobs(2, run_after=at(-60))
    with connection.cursor() as cursor:
        cursor.execute("UPDATE django_jobqueue_job SET run_after = %s WHERE id = %s", [moment, odd])

    assert set(ids(worker.claim(2))) == {odd, other}


def test_the_limit_holds(worker):
    """A claim takes no more than was asked for, whatever plan the server chooses."""
    add_jobs(50)

    assert len(worker.claim(7)) == 7
    assert Job.objects.filter(status="RUNNING").count() == 7


def test_nothing_is_ready(worker):
    """Where nothing is ready a claim answers with nothing."""
    assert worker.claim(5) == []


@pytest.mark.parametrize("status", ["WAITING", "SUCCESSFUL", "FAILED", "CANCELLED"])
def test_only_ready_jobs_are_claimed(worker, status):
    """A job in any other state is not claimed, even when its run_after has passed."""
    add_job(status=status, run_after=at(-60))

    assert worker.claim(5) == []


def test_a_claimed_job_is_not_claimed_again(worker, rival):
    """A running job is nobody else's, not even when its lease has run out: that is for rescue."""
    add_job()
    let_leases_run_out(*worker.claim())

    assert rival.claim(5) == []
    assert worker.claim(5) == []


def test_unknown_tasks_stay(worker):
    """A worker takes no job of a task that it does not know, and that job keeps its attempts."""
    unknown = add_job(task="removed.task", priority=9)
    known = add_job()

    assert ids(worker.claim(5)) == [known]
    assert (row(unknown)["status"], row(unknown)["attempt_count"]) == ("READY", 0)


@pytest.mark.parametrize("by_group", [False, True])
def test_jobs_of_a_newer_version_stay(make_worker, by_group):
    """They wait for a worker whose code knows it, and keep their attempts; older ones are taken."""
    worker = make_worker(by_group=by_group)
    newer, same, older, other = (add_job(task=t, version=v) for t, v in [("a", 3), ("a", 2), ("a", 1), ("b", 2)])

    assert set(ids(worker.claim(5, tasks=("b", "a"), versions={"a": 2}))) == {same, older}
    assert [row(each)["attempt_count"] for each in (newer, other)] == [0, 0]
    assert set(ids(worker.claim(5, tasks=("b", "a"), versions={"a": 3, "b": 9}))) == {newer, other}


@pytest.mark.parametrize("name", ['say "hi"', "back\\slash", "{curly,comma}", "NULL", "naïve.täsk", "it's"])
def test_a_task_is_known_by_its_exact_name(worker, name):
    """No character in a name of a task means anything but itself."""
    job_id = add_job(task=name)
    add_job(task="other")

    assert ids(worker.claim(5, tasks=(name, "one.more"))) == [job_id]


def test_suspects_stay_where_none_is_asked_for(worker):
    """A worker without an empty process passes jobs over that may have taken one down."""
    suspect, other = add_job(crash_count=1), add_job()

    assert ids(worker.claim(9, suspects=False)) == [other]
    assert ids(worker.claim(9)) == [suspect]


def test_other_backends_stay(worker):
    """A worker takes only jobs of its own backend."""
    add_job(backend="other")
    ours = add_job()

    assert ids(worker.claim(5)) == [ours]


QUEUES = ["mail", "mail-eu", "mail-us", "mailing", "m%il", "m_il", "m\\il", "MAIL", "", "billing"]


@pytest.mark.parametrize(
    ("served", "excluded", "taken"),
    [
        ((), (), set(QUEUES)),
        (("mail",), (), {"mail"}),
        (("mail-*",), (), {"mail-eu", "mail-us"}),
        (("mail*",), (), {"mail", "mail-eu", "mail-us", "mailing"}),
        (("mail", "billing"), (), {"mail", "billing"}),
        (("*",), (), set(QUEUES)),
        (("m%il",), (), {"m%il"}),
        (("m_il",), (), {"m_il"}),
        (("m\\il",), (), {"m\\il"}),
        (("m%*",), (), {"m%il"}),
        (("m_*",), (), {"m_il"}),
        (("m\\*",), (), {"m\\il"}),
        (("%",), (), set()),
        (("", "no such queue"), (), {""}),
        ((), ("mail",), set(QUEUES) - {"mail"}),
        ((), ("mail*",), set(QUEUES) - {"mail", "mail-eu", "mail-us", "mailing"}),
        ((), ("m%il", "m_il"), set(QUEUES) - {"m%il", "m_il"}),
        (("mail*",), ("mail-us", "mail-e*"), {"mail", "mailing"}),
        (("mail",), ("mail",), set()),
    ],
)
def test_queues_are_served_by_name_and_prefix(worker, served, excluded, taken):
    """A worker takes from the queues that it serves and does not exclude; only a last asterisk is special."""
    names = {add_job(queue_name=name): name for name in QUEUES}

    held = worker.claim(99, serving=serving(*served, excluded=excluded))

    assert {names[each.id] for each in held} == taken


def test_an_expired_job_is_not_started(worker):
    """A job whose expires_at has passed is left; one that has still time is taken."""
    add_job(expires_at=at(-1))
    alive = add_job(expires_at=at(60))

    assert ids(worker.claim(5)) == [alive]


def test_a_claim_opens_an_attempt(worker):
    """A claimed job is RUNNING under the token, lease and name of the worker, and its attempt is counted."""
    job_id = add_job(run_after=at(-60))

    (held,) = worker.claim(lease_seconds=20)

    job = row(job_id)
    assert (job["status"], job["lease_token"], job["worker_id"]) == ("RUNNING", held.token, worker.id)
    assert (job["attempt_count"], held.job.attempt_number) == (1, 1)
    assert 10 < lease_seconds_left(job_id) <= 20
    assert job["started_at"] == job["last_attempted_at"] == job["lease_expires_at"] - timedelta(seconds=20)
    assert job["started_at"] > job["enqueued_at"]
    assert not Attempt.objects.exists()


def test_a_later_attempt_keeps_the_first_start(worker, rival):
    """started_at is of the first attempt, last_attempted_at of the latest; each attempt has a token of its own."""
    job_id = add_job()
    (first,) = worker.claim()
    began = row(job_id)["started_at"]
    worker.settle(first.settled_as(RETRY_NOW))
    worker.promote()

    (second,) = rival.claim()

    job = row(job_id)
    assert job["started_at"] == began < job["last_attempted_at"]
    assert (second.job.attempt_number, job["worker_id"]) == (2, rival.id)
    assert second.token != first.token


def test_a_claim_says_what_a_runner_must_know(worker):
    """The answer holds arguments as JSON text, the bounds and what the job has behind it."""
    add_job(
        args=[1, "zwei", {"drei": None}],
        kwargs={"quote": '"'},
        max_attempts=7,
        failure_count=1,
        interruption_count=2,
        snooze_count=3,
        crash_count=4,
    )

    job = worker.claim()[0].job

    assert (job.task, job.args, job.kwargs) == (TASK, '[1, "zwei", {"drei": null}]', '{"quote": "\\""}')
    assert (job.max_attempts, job.tally.failure_count, job.tally.interruption_count) == (7, 1, 2)
    assert (job.tally.snooze_count, job.tally.crash_count) == (3, 4)
    assert job.earlier_worker_ids == "[]"


def test_a_claim_names_the_workers_of_earlier_attempts(worker, rival):
    """The answer lists who ran the attempts before this one, in their order."""
    add_job()
    for hand in (worker, rival, worker):
        hand.settle(hand.claim()[0].settled_as(RETRY_NOW))
        hand.promote()

    (held,) = rival.claim()

    assert held.job.earlier_worker_ids == f'["{worker.id}", "{rival.id}", "{worker.id}"]'


def test_a_locked_job_is_skipped(worker):
    """A row that somebody else has locked holds nobody up, and is claimed once it is free."""
    first, second = add_jobs(2)
    with locked(first):
        assert ids(worker.claim(5)) == [second]

    assert ids(worker.claim(5)) == [first]


def test_a_claim_locks_what_it_takes_and_no_more(worker, rival):
    """While a claim is not committed, another one finds all the jobs that the first left, in other queues too."""
    for queue in ("mail", "bulk", "reports"):
        add_jobs(2, queue_name=queue, run_after=at(-60))
    statement = claim(
        backend="default",
        tasks=(TASK,),
        serving=Serving(),
        limit=2,
        token=uuid4(),
        worker_id=worker.id,
        lease_seconds=30,
        by_group=worker.by_group,
    )
    with connect("default") as stranger, stranger.transaction():
        taken = {row[0] for row in stranger.execute(statement.sql, statement.params).fetchall()}
        others = set(ids(rival.claim(9)))

    assert len(taken) == 2
    assert others == set(Job.objects.values_list("pk", flat=True)) - taken


def test_no_two_workers_claim_one_job(make_worker):
    """Workers that claim and finish together as fast as they can run each of thousands of jobs once."""
    total = 2000
    add_jobs(total)
    workers = [make_worker() for _ in range(4)]

    def drain(hand):
        taken = []
        while held := hand.claim(37):
            taken += ids(held)
            hand.settle(*[each.settled_as(FINISH) for each in held])
        return taken

    answers = at_once(*[lambda hand=hand: drain(hand) for hand in workers])

    runs = Counter(job_id for taken in answers for job_id in taken)
    assert len(runs) == total
    assert set(runs.values()) == {1}
    assert Attempt.objects.count() == Attempt.objects.filter(number=1).count() == total
    assert Job.objects.filter(status="SUCCESSFUL", attempt_count=1).count() == total


def test_no_two_claims_share_a_token(worker):
    """Two claims of one worker have different tokens, so a late write of the first cannot reach the second."""
    add_jobs(2)

    assert worker.claim()[0].token != worker.claim()[0].token


def test_the_database_keeps_a_token_with_running(db):
    """A token is a right to write, so no row but a running one can have one."""
    with pytest.raises(IntegrityError, match="jobqueue_job_token_is_running"):
        add_job(status="READY", lease_token=uuid4())


def test_a_claim_after_many_is_still_in_order(worker):
    """Batches that follow each other go on where the last one ended."""
    expected = add_jobs(30, run_after=at(-60))

    assert [job_id for _ in range(6) for job_id in ids(worker.claim(5))] == expected
