"""Everything goes through PgBouncer in transaction mode, with two server connections for all of it."""

from contextlib import ExitStack

import pytest
from django.db import connection

from django_jobqueue.models import Attempt, AuditEntry, DeadLetter, Job
from tests.factories import make_dead_letter
from tests.scenarios import pooler as pgbouncer
from tests.scenarios.conftest import LONG_LEASE, SECONDS, TERM
from tests.scenarios.sessions import Sessions
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.scenario,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(pgbouncer.program() is None, reason="pgbouncer is not installed"),
]


@pytest.fixture
def pooler(transactional_db):
    """A pooler before the test's database."""
    pooler = pgbouncer.Pooler(connection.get_connection_params())
    pooler.start()
    yield pooler
    pooler.close()


def test_a_worker_works_through_it(pooler, start_worker, run_program):
    """Enqueue, run, retry, bury and stop: each job ends as it would without a pooler, on two connections.

    That the worker listens for nothing does no harm; it says so.
    """
    sessions = Sessions()
    habits = {"database_url": pooler.url}
    worker = start_worker("--processes", "2", "--threads", "2", options=LONG_LEASE, **habits)
    run_program(
        """
        backend = tasks.start.get_backend()
        backend.enqueue_many([(tasks.start, (), {})] * 100)
        for result in [tasks.fail_at_first.enqueue(1), tasks.return_from_a_coroutine.enqueue(7), tasks.fail.enqueue()]:
            print(result.id)
        """,
        **habits,
    )
    wait_until(lambda: not Job.objects.exclude(status__in=["SUCCESSFUL", "FAILED"]).exists(), seconds=SECONDS)

    assert Trace.objects.filter(what="start", attempt=1).count() == 101
    assert Job.objects.filter(status="SUCCESSFUL").count() == 102
    assert DeadLetter.objects.get().reason == "attempts_exhausted"
    assert sessions.count() <= 2
    worker.send(TERM)
    assert worker.wait() == 0
    assert "the database cannot be used" not in worker.log
    assert worker.log.count("there is a pooler before PostgreSQL") == 1


def test_a_worker_outlives_a_restart_of_it(pooler, start_worker, job_is):
    """The pooler is killed with a job running and jobs waiting, and started again: nothing is lost or charged."""
    worker = start_worker("--processes", "2", database_url=pooler.url, options={"lease_seconds": 15})
    running = tasks.nap.enqueue(1.5)
    wait_until(lambda: Job.objects.filter(pk=int(running.id), status="RUNNING").exists(), seconds=SECONDS)
    others = [tasks.nap.enqueue(0.05) for _ in range(20)]
    pooler.kill()
    wait_until(lambda: "the database cannot be used" in worker.log, seconds=SECONDS)
    pooler.start()
    for result in [running, *others]:
        job_is(result, "SUCCESSFUL")

    assert not Attempt.objects.filter(charged=True).exists()
    assert Attempt.objects.filter(job_id=int(running.id)).count() == 1
    assert worker.log.count("the database is back") == worker.log.count("the database cannot be used")


def test_a_pool_that_others_have_taken_is_an_outage_that_ends(pooler, start_worker, job_is):
    """While others hold all of its connections a worker waits and says so; then it goes on. Nothing is charged."""
    worker = start_worker("--processes", "1", database_url=pooler.url)
    job_is(tasks.start.enqueue(), "SUCCESSFUL")
    with ExitStack() as others:
        for _ in range(2):
            others.enter_context(pooler.connect()).execute("SELECT 1")
        waiting = tasks.start.enqueue()
        wait_until(lambda: "the database cannot be used" in worker.log, seconds=SECONDS)
    job_is(waiting, "SUCCESSFUL")

    assert not Attempt.objects.filter(charged=True).exists()
    assert worker.log.count("the database cannot be used") == 1


def test_the_command_line_works_through_it(pooler, run_program):
    """stats, dead and jobs read and act through a pooler."""
    first, second = (make_dead_letter().pk for _ in range(2))
    waiting = tasks.nap.enqueue(0)
    said = run_program(
        f"""
        from django.core.management import call_command
        for words in (
            "stats",
            "dead list",
            "jobs list",
            "dead replay {first}",
            "dead discard {second} --reason-text because",
            "jobs cancel {waiting.id} --reason-text because",
        ):
            call_command("jobqueue", *words.split())
        """,
        database_url=pooler.url,
    )

    assert all(words in said for words in ("total", "replayed", "discarded", "cancelled"))
    assert sorted(DeadLetter.objects.values_list("status", flat=True)) == ["DISCARDED", "REPLAYED"]
    assert Job.objects.get(pk=int(waiting.id)).status == "CANCELLED"
    assert AuditEntry.objects.count() == 3


def test_the_admin_works_through_it(pooler, run_program):
    """Lists, pages and acts of the admin answer as ever, each request in any of the server's sessions."""
    letters = [make_dead_letter() for _ in range(2)]
    said = run_program(
        f"""
        from django.contrib.auth.models import User
        from django.test import Client
        client = Client()
        client.force_login(User.objects.create_superuser("ada"))
        base = "/admin/django_jobqueue"
        for page in ("job", "deadletter", "worker", "auditentry", "deadletter/{letters[0].pk}/change"):
            print(page, client.get(f"{{base}}/{{page}}/").status_code)
        for name, letter in (("replay", {letters[0].pk}), ("discard", {letters[1].pk})):
            data = {{"_selected_action": [letter], "confirm": "1", "reason": "because"}}
            print(name, client.post(f"{{base}}/deadletter/{{name}}/", data, follow=True).status_code)
        """,
        database_url=pooler.url,
    )

    assert said.count(" 200") == 7
    assert sorted(DeadLetter.objects.values_list("status", flat=True)) == ["DISCARDED", "REPLAYED"]


def test_nothing_of_a_session_is_left_in_it(pooler, start_worker, job_is):
    """What a worker and a producer set is gone with their transactions: no settings, statements or advisory locks."""
    worker = start_worker("--processes", "1", database_url=pooler.url, options={"notify": False})
    job_is(tasks.start.enqueue(), "SUCCESSFUL")
    worker.send(TERM)
    assert worker.wait() == 0

    with pooler.connect() as through_it:
        found = through_it.execute(
            "SELECT current_setting('statement_timeout'), current_setting('enable_seqscan'),"
            " current_setting('idle_in_transaction_session_timeout'),"
            " (SELECT count(*) FROM pg_prepared_statements),"
            " (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')"
        ).fetchone()
    assert "there is a pooler" not in worker.log
    assert found == ("0", "on", "0", 0, 0)
