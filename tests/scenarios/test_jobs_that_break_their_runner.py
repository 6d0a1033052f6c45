"""Jobs that break what carries them: each is answered for, and the next one runs."""

import pytest

from tests.scenarios.conftest import SECONDS
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(
    ("task", "status", "outcome"),
    [
        (tasks.close_every_file, "FAILED", "lost"),
        (tasks.write_into_every_socket, "FAILED", "lost"),
        (tasks.cancel_itself, "SUCCESSFUL", "succeeded"),
        (tasks.stop_the_loop, "SUCCESSFUL", "succeeded"),
        (tasks.leave_an_exit_behind, "SUCCESSFUL", "succeeded"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_whatever_a_job_breaks_its_attempt_ends_and_the_next_one_runs(start_worker, job_is, task, status, outcome):
    """No job leaves a slot, an event loop or a keeper behind that no longer answers."""
    worker = start_worker("--processes", "1")
    broken = task.enqueue()

    job = job_is(broken, status)
    assert [attempt.outcome for attempt in job.attempts.all()] == [outcome]
    for follower in (tasks.return_from_a_coroutine.enqueue(1), tasks.start.enqueue()):
        job_is(follower, "SUCCESSFUL")
    assert worker.popen.poll() is None


def test_the_copy_of_a_process_that_a_job_forks_does_not_speak_for_it(start_worker, job_is):
    """A forked child that returns from the task ends there; the result is the original's."""
    start_worker("--processes", "1")

    assert job_is(tasks.fork_and_come_back.enqueue(), "SUCCESSFUL").result == "the original"


def test_a_connection_that_a_forked_copy_has_closed_is_replaced(start_worker, job_is):
    """The copy says goodbye to the server in the name of both; the next job in the slot has a connection that works."""
    start_worker("--processes", "1", database={"CONN_MAX_AGE": None})
    broken = [tasks.fork_and_hang_up_in_the_copy.enqueue() for _ in range(3)]
    followers = [tasks.start.enqueue() for _ in range(3)]

    for result in [*broken, *followers]:
        assert job_is(result, "SUCCESSFUL").attempt_count == 1


def test_a_receiver_of_task_started_cannot_end_its_runner(start_worker, job_is):
    """SystemExit of a receiver is logged; the job runs as if it had not listened."""
    worker = start_worker("--processes", "1", receivers=True)

    job = job_is(tasks.be_watched_by_one_who_leaves.enqueue(), "SUCCESSFUL")
    assert job.attempt_count == 1
    assert "a receiver of task_started" in worker.log


def test_a_receiver_of_task_finished_cannot_end_its_process(start_worker):
    """SystemExit of a receiver is logged; the ends of the other jobs, which its process has in hand, are told."""
    worker = start_worker("--processes", "1", receivers=True)
    tasks.be_watched_by_one_who_leaves.enqueue()
    others = {int(tasks.give_it_back.enqueue(number).id) for number in range(30)}

    told = Trace.objects.filter(what="finished SUCCESSFUL", job_id__in=others)
    wait_until(lambda: told.count() == len(others), seconds=SECONDS)
    assert "receivers of task_finished" in worker.log
