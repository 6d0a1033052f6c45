"""Projects that set their database up otherwise: stricter isolation, local time, a pool, tight time-outs of a role."""

import os

import pytest
from django.db import connection
from psycopg import IsolationLevel

from django_jobqueue.models import Attempt, DeadLetter, Job
from tests.scenarios.conftest import SECONDS, TERM
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]

PRODUCER = """
from django.db import transaction
with transaction.atomic():
    for _ in range(20):
        tasks.start.enqueue()
    tasks.fail_at_first.enqueue(1)
    tasks.fail.enqueue()
tasks.leave_everything_changed.enqueue()
"""


def work_is_done(jobs=23):
    """Whether all jobs have come to their end; PRODUCER makes 23."""
    return Job.objects.filter(status__in=["SUCCESSFUL", "FAILED"]).count() == jobs


def assert_all_is_well(worker, *, starts=21):
    """Each job ended as its task says, and nothing was in the way."""
    assert Trace.objects.filter(what="start", attempt=1).count() == starts
    assert set(Job.objects.filter(status="FAILED").values_list("task", flat=True)) == {"tests.stage.tasks.fail"}
    assert DeadLetter.objects.get().reason == "attempts_exhausted"
    # Two failures of one job and three of the other, and no more.
    assert Attempt.objects.filter(charged=True).count() == 4
    assert "the database cannot be used" not in worker.log


def test_a_stricter_isolation_of_the_project_changes_nothing(start_worker, run_program):
    """A worker under REPEATABLE READ beside one under SERIALIZABLE, and a producer under either: all ends as ever."""
    repeatable, serializable = (
        {"database_options": {"isolation_level": level.value}}
        for level in (IsolationLevel.REPEATABLE_READ, IsolationLevel.SERIALIZABLE)
    )
    workers = [start_worker("--processes", "2", **habits) for habits in (repeatable, serializable)]
    run_program(PRODUCER, **serializable)
    run_program("tasks.start.enqueue()", **repeatable)
    wait_until(lambda: work_is_done(24), seconds=SECONDS)

    for worker in workers:
        worker.send(TERM)
        assert worker.wait() == 0
        assert_all_is_well(worker, starts=22)


def test_local_time_means_the_same_to_producer_and_worker(start_worker, run_program, job_is):
    """Without USE_TZ a run_after is a time of the project's zone; the job waits for that moment."""
    local = {"settings": {"USE_TZ": False, "TIME_ZONE": "Asia/Kathmandu"}}
    worker = start_worker("--processes", "2", **local)
    run_program(
        PRODUCER
        + """
from datetime import datetime, timedelta
tasks.start.using(run_after=datetime.now() + timedelta(seconds=1.5)).enqueue()
""",
        **local,
    )
    wait_until(lambda: work_is_done(24), seconds=SECONDS)
    job = Job.objects.latest("pk")

    assert job.started_at >= job.run_after
    assert (job.run_after - job.enqueued_at).total_seconds() < 60
    assert_all_is_well(worker, starts=22)


def test_djangos_own_pool_can_be_used(start_worker, run_program):
    """With `pool` in the OPTIONS of the database jobs borrow from a pool in each runner; what one leaves is gone."""
    pytest.importorskip("psycopg_pool")
    habits = {"database_options": {"pool": {"min_size": 1, "max_size": 2}}, "database": {"CONN_MAX_AGE": 0}}
    worker = start_worker("--processes", "2", "--threads", "2", **habits)
    run_program(PRODUCER, **habits)
    wait_until(work_is_done, seconds=SECONDS)

    assert "threads are alive" not in worker.log
    worker.send(TERM)
    assert worker.wait() == 0
    assert_all_is_well(worker)


@pytest.fixture
def tight_role(database_url):
    """A role whose sessions may do little for long; answers with a database address that uses it."""
    role = f"tight_{os.getpid()}"
    limits = {
        "statement_timeout": "300ms",
        "lock_timeout": "100ms",
        "idle_in_transaction_session_timeout": "300ms",
        "idle_session_timeout": "700ms",
    }
    if connection.pg_version >= 170000:
        limits["transaction_timeout"] = "1s"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {role} LOGIN SUPERUSER")
        for name, limit in limits.items():
            cursor.execute(f"ALTER ROLE {role} SET {name} = '{limit}'")
    parameters = connection.get_connection_params()
    yield database_url.replace(f"user={parameters['user']}", f"user={role}") if "user" in parameters else database_url
    with connection.cursor() as cursor:
        cursor.execute(f"DROP ROLE {role}")


def test_tight_time_outs_of_the_role_are_enough(tight_role, start_worker, run_program):
    """No statement needs longer than a few tenths of a second, and the session that listens may be idle."""
    habits = {"database_url": tight_role}
    worker = start_worker("--processes", "2", **habits)
    run_program(PRODUCER, **habits)
    wait_until(work_is_done, seconds=SECONDS)

    wait_until(_has_listened_for_long, seconds=SECONDS)

    assert_all_is_well(worker)
    assert "the listening connection is gone" not in worker.log
    worker.send(TERM)
    assert worker.wait() == 0


def _has_listened_for_long():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%%'"
            " AND clock_timestamp() - state_change > interval '1 second'"
        )
        return cursor.fetchone() is not None


def test_a_job_after_a_lull_finds_a_connection_that_works(tight_role, start_worker, job_is):
    """The server ends sessions that are idle: the job that comes after that succeeds at its first attempt."""
    habits = {"database_url": tight_role, "database": {"CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": False}}
    start_worker("--processes", "1", **habits)
    job_is(tasks.start.enqueue(), "SUCCESSFUL")
    job_is(tasks.nap.enqueue(0), "SUCCESSFUL")
    wait_until(lambda: not _sessions_of_jobs(), seconds=SECONDS)
    job = job_is(tasks.start.enqueue(), "SUCCESSFUL")

    assert job.attempt_count == 1


def _sessions_of_jobs():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename LIKE 'tight_%%'"
            " AND application_name <> 'django_jobqueue'"
        )
        return cursor.fetchone()[0]
