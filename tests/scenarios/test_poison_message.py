"""Poison message.

A job that takes its process down is redelivered a finite number of times, and nothing else suffers.
"""

from datetime import timedelta

import pytest
from django.utils import timezone

from django_jobqueue.models import DeadLetter, Job
from tests.scenarios.conftest import SECONDS
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def test_a_job_that_kills_its_process_dies_after_exactly_three_attempts(start_worker, job_is):
    """Three attempts, each closed as lost with its signal, then a dead letter of crash_loop.

    The jobs around it succeed.
    """
    start_worker("--processes", "2")
    poison = tasks.kill_its_process.enqueue()
    others = [tasks.start.enqueue() for _ in range(20)]
    job = job_is(poison, "FAILED")
    for other in others:
        job_is(other, "SUCCESSFUL")

    attempts = list(job.attempts.order_by("number"))
    assert [attempt.outcome for attempt in attempts] == ["lost", "lost", "lost"]
    assert all("SIGKILL" in attempt.message for attempt in attempts)
    assert job.dead_letter.reason == "crash_loop"
    assert Trace.objects.filter(job_id=job.pk).count() == 3


@pytest.mark.parametrize(
    ("task", "words"),
    [(tasks.segfault, "SIGSEGV"), (tasks.exit_the_process, "exit code 0")],
    ids=["segfault", "exit_0"],
)
def test_a_process_that_dies_is_no_success(start_worker, job_is, task, words):
    """A segfault and an exit with code 0 are lost attempts that say how the process ended."""
    start_worker("--processes", "1")
    job = job_is(task.enqueue(), "FAILED")

    assert {attempt.outcome for attempt in job.attempts.all()} == {"lost"}
    assert all(words in attempt.message for attempt in job.attempts.all())


@pytest.mark.parametrize("task", [tasks.hang, tasks.hold_the_gil], ids=["blocked", "holding_the_gil"])
def test_a_hung_job_is_stopped_at_its_time_limit(start_worker, job_is, task):
    """A call that blocks, and one that never gives up the GIL, are killed at the limit.

    Their slot takes the next job.
    """
    start_worker("--processes", "1")
    job = job_is(task.enqueue(), "FAILED")
    job_is(tasks.start.enqueue(), "SUCCESSFUL")

    (attempt,) = job.attempts.all()
    assert attempt.outcome == "timed_out"
    assert (attempt.finished_at - attempt.started_at).total_seconds() >= 1.0


def test_a_suspect_runs_alone_until_the_guilty_one_is_known(start_worker, job_is):
    """Jobs that were in a process when it died run alone from then on.

    The innocent succeed, uncharged, the guilty one dies.
    """
    start_worker("--processes", "1", "--threads", "4")
    innocents = [tasks.sleep.enqueue(1) for _ in range(3)]
    poison = tasks.kill_its_process.enqueue()
    guilty = job_is(poison, "FAILED")
    jobs = [job_is(innocent, "SUCCESSFUL") for innocent in innocents]

    assert guilty.dead_letter.reason == "crash_loop"
    assert [job.failure_count for job in jobs] == [0, 0, 0]
    assert DeadLetter.objects.count() == 1
    assert not Job.objects.filter(status="RUNNING").exists()


def test_a_suspect_that_is_given_back_is_none_of_the_jobs_that_a_worker_leaves_after(start_worker):
    """--max-jobs 2 is two jobs that have ended: the worker stays until the suspect had its turn, too."""
    long = tasks.sleep.using(priority=9).enqueue(3)
    suspect = tasks.give_it_back.enqueue(2)
    Job.objects.filter(pk=int(suspect.id)).update(crash_count=1)
    worker = start_worker("--processes", "1", "--threads", "2", "--max-jobs", "2")

    assert worker.wait() == 0
    for result in (long, suspect):
        assert Job.objects.get(pk=int(result.id)).status == "SUCCESSFUL"


def test_a_suspect_that_finds_no_empty_process_is_left_to_another_worker(start_worker, job_is):
    """A worker whose one process is in a long job keeps a suspect for a moment, and runs other jobs besides."""
    start_worker("--processes", "1", "--threads", "2")
    long = tasks.sleep.enqueue(120)
    wait_until(lambda: Trace.objects.filter(what="start").exists(), seconds=SECONDS)
    suspect = tasks.give_it_back.enqueue(1)
    job_is(suspect, "SUCCESSFUL")
    suspect = tasks.give_it_back.using(run_after=timezone.now() + timedelta(seconds=1)).enqueue(2)
    Job.objects.filter(pk=int(suspect.id)).update(crash_count=1)
    job_is(suspect, "RUNNING")
    job_is(tasks.give_it_back.enqueue(3), "SUCCESSFUL")
    start_worker("--processes", "1")

    assert job_is(suspect, "SUCCESSFUL").attempt_count == 1
    assert Job.objects.get(pk=int(long.id)).status == "RUNNING"
