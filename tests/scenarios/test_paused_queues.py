"""Paused queues.

From the moment on at which pause() has returned, workers start nothing of what was paused.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from django_jobqueue import operations
from django_jobqueue.compat import task_backends
from django_jobqueue.models import Job, Worker
from tests.scenarios.conftest import SECONDS
from tests.stage import tasks
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]

SIGNED = {"by": "ada", "reason": "the provider is down"}
NAP = "tests.stage.tasks.nap"

ROUNDS, SOME = 20, 40
JOBS = 20_000

WITNESS = """
CREATE TABLE claim_seen (queue_name text NOT NULL, xid xid8 NOT NULL DEFAULT pg_current_xact_id());
CREATE FUNCTION note_claim() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO claim_seen (queue_name) VALUES (NEW.queue_name);
    RETURN NULL;
END $$;
CREATE TRIGGER note_claim AFTER UPDATE ON django_jobqueue_job FOR EACH ROW
    WHEN (OLD.status = 'READY' AND NEW.status = 'RUNNING') EXECUTE FUNCTION note_claim();
"""

FORGET = "DROP FUNCTION note_claim CASCADE; DROP TABLE claim_seen"


@pytest.fixture
def claims():
    """Write down each claim, with its transaction; count those of a queue between two moments, by commit order."""
    with connection.cursor() as cursor:
        cursor.execute(WITNESS)
    yield count_claims
    with connection.cursor() as cursor:
        cursor.execute(FORGET)


def count_claims(queue_name, after=None, before=None):
    """Count the claims that were committed after the one moment and before the other: what a snapshot sees is."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM claim_seen WHERE queue_name = %s"
            " AND (%s::pg_snapshot IS NULL OR NOT pg_visible_in_snapshot(xid, %s::pg_snapshot))"
            " AND (%s::pg_snapshot IS NULL OR pg_visible_in_snapshot(xid, %s::pg_snapshot))",
            [queue_name, after, after, before, before],
        )
        return cursor.fetchone()[0]


def moment():
    """Name this moment by what is committed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_snapshot()::text")
        return cursor.fetchone()[0]


def test_no_claim_is_committed_after_a_pause_has_returned(start_worker, claims):
    """Four workers under load, twenty pauses and resumes: each pause holds from its return on, by commit order.

    Meanwhile they go on with another queue, and after the resume with this one.
    """
    for _ in range(4):
        start_worker("--processes", "1", "--threads", "8")
    for queue in ("mail", "reports"):
        call = tasks.nap.using(queue_name=queue)
        task_backends["default"].enqueue_many([(call, (0.02,), {})] * JOBS)
    wait_until(lambda: Job.objects.values("worker_id").exclude(worker_id=None).distinct().count() == 4, seconds=SECONDS)
    for _ in range(ROUNDS):
        began = moment()
        wait_until(lambda began=began: claims("mail", after=began) >= SOME, seconds=SECONDS)
        assert Job.objects.filter(queue_name="mail", status="READY").exists()
        operations.pause("mail", **SIGNED)
        paused = moment()
        wait_until(lambda paused=paused: claims("reports", after=paused) >= SOME, seconds=SECONDS)
        ends = moment()
        operations.resume("mail", **SIGNED)

        assert claims("mail", after=paused, before=ends) == 0


SILENT = """
SELECT bool_and(state = 'idle' AND state_change < clock_timestamp() - interval '0.5 seconds')
FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'django_jobqueue'
"""


def is_silent():
    """Whether no worker has asked the database anything for half a second: none looks for jobs by itself just now."""
    with connection.cursor() as cursor:
        # Within a transaction what was seen of the sessions is kept.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(SILENT)
        return cursor.fetchone()[0]


@pytest.fixture
def worker_that_never_looks(start_worker, job_is):
    """A worker that has nothing to do, and looks for jobs when it is told to, and at no other time."""
    start_worker("--processes", "1", options=NEVER_LOOKS)
    # The chores look for jobs, too: the first are done, and the next are far away.
    came = wait_until(Worker.objects.first, seconds=SECONDS).last_seen_at
    job_is(tasks.start.enqueue(), "SUCCESSFUL")
    wait_until(Worker.objects.filter(last_seen_at__gt=came).exists, seconds=SECONDS)


NEVER_LOOKS = {"poll_seconds": 600.0, "rescue_seconds": 600.0, "lease_seconds": 600.0, "renew_seconds": 300.0}


def test_a_resume_wakes_idle_workers(worker_that_never_looks, job_is):
    """A job of what is resumed starts at once, and not when the worker would have looked by itself."""
    operations.pause(task=NAP, **SIGNED)
    result = tasks.nap.enqueue(0.0)
    wait_until(is_silent, seconds=SECONDS)
    assert Job.objects.get(pk=int(result.id)).status == "READY"
    operations.resume(task=NAP, **SIGNED)

    job_is(result, "SUCCESSFUL")


def test_a_claim_that_was_held_back_is_made_again_when_the_pause_is_committed(worker_that_never_looks, job_is):
    """Jobs that nobody has paused wait for whoever is pausing others, and start when that is done."""
    with ThreadPoolExecutor() as pool:
        with transaction.atomic():
            operations.pause("mail", **SIGNED)
            result = pool.submit(enqueue_elsewhere).result(timeout=SECONDS)
            wait_until(is_silent, seconds=SECONDS)
            assert Job.objects.get(pk=int(result.id)).status == "READY"

        job_is(result, "SUCCESSFUL")


def test_a_worker_that_leaves_when_it_is_idle_leaves_paused_jobs(run_until_idle):
    """There is nothing that it could start; nobody is charged for anything."""
    operations.pause(task=NAP, **SIGNED)
    paused, free = tasks.nap.enqueue(0.0), tasks.start.enqueue()
    run_until_idle("--processes", "1")

    assert Job.objects.get(pk=int(free.id)).status == "SUCCESSFUL"
    job = Job.objects.get(pk=int(paused.id))
    assert (job.status, job.attempt_count) == ("READY", 0)


def enqueue_elsewhere():
    """Enqueue on a connection of its own."""
    try:
        return tasks.nap.enqueue(0.0)
    finally:
        connection.close()
