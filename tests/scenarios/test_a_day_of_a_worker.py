"""What a worker does all day: retries, snoozes, due jobs, queues, coroutines, signals, a clean slate, quiet."""

import re

import pytest
from django.utils import timezone

from django_jobqueue.models import Attempt, Job
from tests.scenarios.conftest import SECONDS, TERM, wait_for_signs_of_life
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def test_a_job_that_fails_at_first_is_retried_until_it_succeeds(run_until_idle, start_worker, job_is):
    """Two failures are two charged attempts; the third returns, and nothing is left to do for a person."""
    start_worker("--processes", "1")
    job = job_is(tasks.fail_at_first.enqueue(2), "SUCCESSFUL")

    assert job.result == 3
    outcomes = list(job.attempts.order_by("number").values_list("outcome", "charged", "exception_class"))
    assert outcomes == [
        ("failed", True, "builtins.ConnectionError"),
        ("failed", True, "builtins.ConnectionError"),
        ("succeeded", False, ""),
    ]


def test_a_job_that_always_fails_ends_as_a_dead_letter_with_its_history(start_worker, job_is):
    """By default three attempts, then FAILED with an open letter; only the last failure is an ERROR in the log."""
    worker = start_worker("--processes", "1")
    job = job_is(tasks.fail.enqueue("no such luck"), "FAILED")
    wait_until(lambda: "attempts_exhausted" in worker.log, seconds=SECONDS)

    assert [a.message for a in job.attempts.all()] == ["no such luck"] * 3
    assert (job.dead_letter.status, job.dead_letter.reason, job.dead_letter.deaths) == ("OPEN", "attempts_exhausted", 1)


def test_a_job_for_later_starts_when_it_is_due_and_not_before(start_worker, job_is):
    """run_after keeps a job WAITING; it starts within a poll of the moment."""
    start_worker("--processes", "1")
    due = timezone.now() + timezone.timedelta(seconds=2)
    result = tasks.start.using(run_after=due).enqueue()
    assert Job.objects.get(pk=int(result.id)).status == "WAITING"
    job = job_is(result, "SUCCESSFUL")

    assert job.started_at >= due


def test_a_worker_serves_only_its_queues(run_until_idle):
    """--queue takes that queue and leaves the others; --exclude-queue does the reverse."""
    here, elsewhere = tasks.start.enqueue(), tasks.start_elsewhere.enqueue()
    run_until_idle("--processes", "1", "--queue", "oth*")
    first = set(Job.objects.filter(status="SUCCESSFUL").values_list("pk", flat=True))
    run_until_idle("--processes", "1", "--exclude-queue", "other")

    assert first == {int(elsewhere.id)}
    assert Job.objects.get(pk=int(here.id)).status == "SUCCESSFUL"


def test_a_worker_leaves_after_so_many_jobs(start_worker):
    """--max-jobs 3 starts three jobs, exits with 0 and leaves the rest READY."""
    for _ in range(5):
        tasks.start.enqueue()
    worker = start_worker("--processes", "1", "--max-jobs", "3")

    assert worker.wait() == 0
    assert Trace.objects.count() == 3
    assert Job.objects.filter(status="READY", attempt_count=0).count() == 2


def test_a_coroutine_runs_in_the_event_loop(run_until_idle):
    """A coroutine's return value is stored like a function's."""
    result = tasks.return_from_a_coroutine.enqueue({"answer": 42})
    run_until_idle("--processes", "1")
    result.refresh()

    assert result.return_value == {"answer": 42}


def test_a_job_finds_nothing_of_the_one_before(run_until_idle):
    """Language, time zone, context variables and an open transaction of one job are gone in the next one's slot."""
    tasks.leave_everything_changed.enqueue()
    result = tasks.report_what_is_active.enqueue()
    worker = run_until_idle("--processes", "1")
    result.refresh()

    assert result.return_value == ["en-us", "UTC", "nobody"]
    assert not Trace.objects.exists()
    assert "left a transaction open" in worker.log


def test_signals_are_sent_and_a_receiver_that_raises_changes_nothing(start_worker, job_is):
    """task_started for each attempt, task_finished once at the end, also to receivers behind one that raises."""
    start_worker("--processes", "1", receivers=True)
    good, bad = tasks.fail_at_first.enqueue(1), tasks.fail.enqueue()
    job_is(good, "SUCCESSFUL")
    job_is(bad, "FAILED")
    wait_until(lambda: Trace.objects.filter(what__startswith="finished").count() == 2, seconds=SECONDS)

    told = {
        result.id: list(
            Trace.objects.filter(job_id=int(result.id))
            .exclude(what="start")
            .order_by("pk")
            .values_list("what", flat=True)
        )
        for result in (good, bad)
    }
    assert told[good.id] == ["started RUNNING 1", "started RUNNING 2", "finished SUCCESSFUL"]
    assert told[bad.id] == ["started RUNNING 1", "started RUNNING 2", "started RUNNING 3", "finished FAILED"]


def test_an_idle_worker_picks_up_a_job_long_before_it_would_poll(start_worker, job_is):
    """With a poll of a minute, NOTIFY alone brings the job to the worker."""
    worker = start_worker("--processes", "1", options={"poll_seconds": 60, "rescue_seconds": 60})
    job_is(tasks.start.enqueue(), "SUCCESSFUL")
    wait_until(lambda: _listeners() == 1, seconds=SECONDS)

    job_is(tasks.start.enqueue(), "SUCCESSFUL")
    assert worker.popen.poll() is None


def test_without_notify_polling_is_enough(start_worker, job_is):
    """With the switch off no session listens, and jobs are found by polling."""
    start_worker("--processes", "1", options={"notify": False})
    job_is(tasks.start.enqueue(), "SUCCESSFUL")

    assert _listeners() == 0


def test_an_idle_worker_is_quiet(start_worker, job_is):
    """An idle worker says nothing after its start."""
    worker = start_worker("--processes", "1")
    job_is(tasks.start.enqueue(), "SUCCESSFUL")
    said = worker.log
    wait_for_signs_of_life(worker, 5)

    assert worker.log == said
    assert not re.search(r"ERROR|WARNING", said)


def test_a_worker_outlives_its_connection(start_worker, job_is):
    """When its sessions are terminated the worker comes back by itself, and the job that ran meanwhile counts once."""
    from django.db import connection

    worker = start_worker("--processes", "1")
    result = tasks.sleep.enqueue(1.5)
    wait_until(lambda: Trace.objects.filter(what="start").exists(), seconds=SECONDS)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'django_jobqueue'"
            " AND datname = current_database()"
        )
    job_is(result, "SUCCESSFUL")
    job_is(tasks.start.enqueue(), "SUCCESSFUL")

    assert Attempt.objects.filter(job_id=int(result.id)).count() == 1
    assert worker.popen.poll() is None


def _listeners():
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%%' AND datname = current_database()"
        )
        return cursor.fetchone()[0]


def test_a_row_that_somebody_has_locked_holds_up_nobody_else(start_worker, job_is):
    """A job whose row another session holds is settled when it lets go; until then the others start and end as ever."""
    from django.db import transaction

    worker = start_worker("--processes", "2")
    held = tasks.sleep.enqueue(1)
    wait_until(lambda: Trace.objects.filter(what="start").exists(), seconds=SECONDS)
    with transaction.atomic():
        Job.objects.select_for_update().get(pk=int(held.id))
        wait_until(lambda: "row is locked by somebody" in worker.log, seconds=SECONDS)
        others = [tasks.start.using(queue_name=f"q{number}") for number in range(3)]
    results = [other.enqueue() for other in others]
    for result in [held, *results]:
        job_is(result, "SUCCESSFUL")

    assert Attempt.objects.filter(job_id=int(held.id)).count() == 1


def test_a_job_that_asks_to_come_back_at_once_is_run_before_the_worker_leaves(run_until_idle):
    """--until-idle does not leave while a job is due, also when another slot had found nothing before it was."""
    result = tasks.come_back_at_once.enqueue(3)
    run_until_idle("--processes", "2")

    assert Job.objects.get(pk=int(result.id)).status == "SUCCESSFUL"


def test_a_due_job_that_no_worker_knows_is_told_once(start_worker, job_is):
    """A job of a task that is not imported is put aside with its payload, and one warning names the task."""
    from django_jobqueue.store.enqueue import NewJob, enqueue

    enqueue([NewJob(task="shop.jobs.elsewhere")] * 3, using="default")
    Job.objects.update(run_after=timezone.now() - timezone.timedelta(seconds=60))
    worker = start_worker("--processes", "1")
    wait_until(lambda: "jobs of shop.jobs.elsewhere are due" in worker.log, seconds=SECONDS)
    job_is(tasks.start.enqueue(), "SUCCESSFUL")

    assert worker.log.count("jobs of shop.jobs.elsewhere are due") == 1
    assert worker.log.count("wait for a worker that knows their task") <= 1
    assert "manage.py jobqueue jobs cancel --task shop.jobs.elsewhere" in worker.log
    put_aside = set(Job.objects.filter(task="shop.jobs.elsewhere").values_list("waiting_for", "attempt_count"))
    assert put_aside == {("worker", 0)}


@pytest.mark.parametrize("task", [tasks.print_and_sleep, tasks.print_and_wait], ids=["function", "coroutine"])
def test_a_line_that_a_job_prints_is_there_at_once(start_worker, task):
    """With the output in a file, what a job and the worker itself print is in it while the job runs."""
    worker = start_worker("--processes", "1", buffered=True)
    task.enqueue("a line of the job's own")
    wait_until(lambda: "a line of the job's own\n" in worker.log, seconds=SECONDS)

    assert Job.objects.get().status == "RUNNING"
    assert worker.log.startswith("Worker of all queues")


def test_the_last_words_of_a_worker_are_there_before_it_ends(start_worker, job_is):
    """With the output in a file, a worker that waits for its jobs says so while it waits."""
    worker = start_worker("--processes", "1", buffered=True)
    job_is(tasks.print_and_sleep.enqueue("started"), "RUNNING")
    wait_until(lambda: "started" in worker.log, seconds=SECONDS)
    worker.send(TERM)

    wait_until(lambda: "Stopping" in worker.log, seconds=SECONDS)
    assert worker.popen.poll() is None
