"""The figures of a queue."""

import pytest
from django.db import connection, transaction

from django_jobqueue.store.session import PLAN_GUARD
from django_jobqueue.store.statement import Statement
from django_jobqueue.watch import stats
from django_jobqueue.watch.glance import glance
from django_jobqueue.watch.stats import QueueStats, queue_stats, task_stats, total
from tests.factories import add_attempt, make_dead_letter, make_job

pytestmark = pytest.mark.django_db


def test_an_empty_queue_has_no_figures():
    """Without a job there is no row, and a total of zeros with an unknown failure rate."""
    assert queue_stats("default") == []
    assert total([]) == QueueStats("")
    assert total([]).failure_rate is None


def test_future_work_is_neither_deep_nor_old():
    """A job for the next hour is scheduled: depth and age are 0."""
    make_job("WAITING", due_in=3600)

    (row,) = queue_stats("default")

    assert (row.depth, row.oldest_ready_seconds, row.scheduled) == (0, 0, 1)


def test_a_job_that_is_due_counts_before_it_is_promoted():
    """A job that was due 30 s ago is 30 s late, whether or not a worker has promoted it."""
    make_job("WAITING", due_in=3600)
    make_job("WAITING", due_in=-30)

    (row,) = queue_stats("default")

    assert (row.depth, row.scheduled) == (1, 1)
    assert row.oldest_ready_seconds == pytest.approx(30, abs=5)


def test_the_oldest_is_found_under_all_priorities():
    """An old job of low priority is the oldest, however many are served before it."""
    make_job(priority=10, due_in=-5)
    make_job(priority=-10, due_in=-500)
    make_job(priority=0, due_in=-50)

    assert queue_stats("default")[0].oldest_ready_seconds == pytest.approx(500, abs=5)


def test_each_state_has_its_count():
    """Due, scheduled, retrying, snoozed, running and dead are counted apart; what has ended is not."""
    make_job()
    make_job("WAITING")
    for reason in ("retry", "retry", "snooze"):
        make_job("WAITING", waiting_for=reason)
    make_job("RUNNING")
    make_dead_letter()
    make_dead_letter("DISCARDED")
    make_job("SUCCESSFUL", attempts=0)
    make_job("CANCELLED")

    (row,) = queue_stats("default")

    assert (row.depth, row.scheduled, row.retrying, row.snoozed, row.running, row.dead) == (1, 1, 2, 1, 1, 1)
    assert row.lower_bounds == frozenset()


def test_queues_are_apart_and_tasks_within_them():
    """Each queue has a row, each task in a queue another; the total adds up."""
    make_job(queue_name="mail", task="send")
    make_job(queue_name="mail", task="bounce", due_in=-300)
    make_job("RUNNING", queue_name="billing", task="charge")

    queues = queue_stats("default")

    assert [(row.queue_name, row.depth, row.running) for row in queues] == [("billing", 0, 1), ("mail", 2, 0)]
    assert [(row.queue_name, row.task) for row in task_stats("default")] == [
        ("billing", "charge"),
        ("mail", "bounce"),
        ("mail", "send"),
    ]
    everything = total(queues)
    assert (everything.depth, everything.running) == (2, 1)
    assert everything.oldest_ready_seconds == pytest.approx(300, abs=5)


def test_the_failure_rate_is_of_the_last_hour():
    """Charged attempts among those that ended within the hour; a snooze is an end and no failure."""
    job = make_job("WAITING", waiting_for="retry")
    for outcome in ("succeeded", "failed", "timed_out", "snoozed"):
        add_attempt(job, outcome)
    add_attempt(job, "failed", ended_in=-3700)

    (row,) = queue_stats("default")

    assert (row.attempts_ended, row.attempts_failed, row.failure_rate) == (4, 2, 0.5)


def test_a_count_that_met_its_cap_says_so(monkeypatch):
    """Beyond the cap a count is a lower bound and named as one; the age of the oldest is right all the same."""
    monkeypatch.setattr(stats, "COUNT_CAP", 3)
    monkeypatch.setattr(stats, "LETTER_CAP", 2)
    for _ in range(5):
        make_job(priority=1)
        make_job("WAITING")
        make_dead_letter()
    make_job(queue_name="slow", priority=0, due_in=-900)

    rows = {row.queue_name: row for row in queue_stats("default")}

    default = rows["default"]
    assert (default.depth, default.scheduled, default.dead) == (3, 3, 2)
    assert default.lower_bounds == {"depth", "scheduled", "retrying", "snoozed", "dead"}
    assert rows["slow"].oldest_ready_seconds == pytest.approx(900, abs=5)


def test_the_callers_transaction_keeps_its_settings(django_assert_num_queries):
    """The time-out and the guard on plans end with the look; it takes a bounded number of statements."""
    with transaction.atomic(), connection.cursor() as cursor:
        with django_assert_num_queries(6):  # savepoint, two settings, one query, rollback, release
            queue_stats("default")
        cursor.execute("SELECT current_setting('statement_timeout'), current_setting('enable_seqscan')")
        assert cursor.fetchone() == ("0", "on")


@pytest.mark.parametrize("analyzed", [True, False])
def test_history_is_not_read(analyzed):
    """With 200,000 finished jobs, with or without statistics, the figures come from the indexes of what is live."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_jobqueue_job (task, status, finished_at)"
            " SELECT 'tasks.mail', 'SUCCESSFUL', now() FROM generate_series(1, 200000)"
        )
        cursor.execute(
            "INSERT INTO django_jobqueue_attempt (job_id, number, outcome, finished_at)"
            " SELECT id, 1, 'succeeded', now() FROM django_jobqueue_job LIMIT 20000"
        )
        if analyzed:
            cursor.execute("ANALYZE django_jobqueue_job; ANALYZE django_jobqueue_attempt")
    for status in ("READY", "WAITING", "RUNNING", "FAILED"):
        make_job(status)

    nodes = list(explain())

    assert not [node for node in nodes if node["Node Type"] == "Seq Scan"]
    of_jobs = [node for node in nodes if node.get("Relation Name") == "django_jobqueue_job"]
    assert sum(node["Actual Rows"] * node["Actual Loops"] for node in of_jobs) <= stats.NEWEST_ATTEMPTS + 20


def explain():
    """Run the query of the figures and yield every node of its plan."""
    params = {
        "cap": stats.COUNT_CAP,
        "letter_cap": stats.LETTER_CAP,
        "newest_attempts": stats.NEWEST_ATTEMPTS,
        "window_seconds": 3600.0,
    }
    with glance("default", settings=PLAN_GUARD), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {Statement('queue_stats', params, list).sql}", params)
        ((plan,),) = cursor.fetchall()
    waiting = [plan[0]["Plan"]]
    while waiting:
        node = waiting.pop()
        waiting += node.get("Plans", [])
        yield node
