"""A deploy.

The first signal lets jobs end, what does not end is handed back uncharged, the second signal leaves at once.
"""

import os
import signal
from contextlib import suppress

import psutil
import pytest

from django_jobqueue.models import Attempt, Job, Worker
from tests.scenarios.conftest import KILL, LONG_LEASE, SECONDS
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def has_started(count=1):
    """Whether so many runs have left their trace."""
    return Trace.objects.filter(what="start").count() >= count


def test_a_running_job_ends_within_the_grace_and_no_other_starts(start_worker):
    """SIGTERM with one job running and twenty waiting: the one succeeds, the twenty stay READY, the exit code is 0."""
    worker = start_worker("--processes", "1", "--grace", "20")
    running = tasks.sleep.enqueue(2)
    wait_until(has_started, seconds=SECONDS)
    for _ in range(20):
        tasks.start.enqueue()
    worker.send(signal.SIGTERM)

    assert worker.wait() == 0
    assert Job.objects.get(pk=int(running.id)).status == "SUCCESSFUL"
    assert Job.objects.filter(status="READY", attempt_count=0).count() == 20
    assert "jobs handed back: 0." in worker.log
    assert not worker.survivors()


def test_a_job_longer_than_the_grace_is_handed_back_at_once(start_worker):
    """After the grace the job is READY again at once, its attempt closed as interrupted, uncharged."""
    worker = start_worker("--processes", "1", "--grace", "0.5", options={"lease_seconds": 600})
    result = tasks.sleep.enqueue(60)
    wait_until(has_started, seconds=SECONDS)
    worker.send(signal.SIGTERM)

    assert worker.wait() == 0
    job = Job.objects.get(pk=int(result.id))
    assert (job.status, job.failure_count, job.interruption_count, job.attempt_count) == ("READY", 0, 1, 1)
    assert job.lease_token is None
    assert [(a.outcome, a.charged) for a in job.attempts.all()] == [("interrupted", False)]
    assert "Stopped; attempts claimed: 1, jobs handed back: 1." in worker.log


def test_a_second_signal_leaves_at_once_and_still_hands_back(start_worker):
    """Two signals in a row end the worker long before its grace; the job is not left running without an owner."""
    worker = start_worker("--processes", "1", "--grace", "600", options={"lease_seconds": 600})
    result = tasks.sleep.enqueue(60)
    wait_until(has_started, seconds=SECONDS)
    worker.send(signal.SIGTERM)
    wait_until(lambda: "asked to stop" in worker.log, seconds=SECONDS)
    worker.send(signal.SIGINT)

    assert worker.wait() == 0
    assert Job.objects.get(pk=int(result.id)).status == "READY"


def test_signals_until_it_has_left_do_no_harm(start_worker):
    """Whoever sends signal after signal until the process is gone sees it leave with 0, however late they come."""
    worker = start_worker("--processes", "1")
    result = tasks.sleep.enqueue(60)
    wait_until(has_started, seconds=SECONDS)

    def is_gone():
        worker.send(signal.SIGTERM)
        return worker.popen.poll() is not None

    for _ in range(100_000):
        if is_gone():
            break

    assert worker.wait() == 0
    assert Job.objects.get(pk=int(result.id)).status == "READY"


def test_a_signal_to_the_whole_group_is_a_stop_like_any_other(start_worker):
    """SIGTERM to keeper, forkserver and runners at once, as service managers send it, lets the running job end."""
    import os

    worker = start_worker("--processes", "1", "--grace", "20")
    result = tasks.sleep.enqueue(1)
    wait_until(has_started, seconds=SECONDS)
    for process in worker.family():
        os.kill(process.pid, signal.SIGTERM)

    assert worker.wait() == 0
    assert Job.objects.get(pk=int(result.id)).status == "SUCCESSFUL"


def forkserver_of(worker):
    """The process that will import the code, from the moment at which it is a program of its own."""
    for process in worker.family()[1:]:
        with suppress(psutil.Error):
            if "forkserver_main" in " ".join(process.cmdline()):
                return process
    return None


def has_worked_for(worker, seconds):
    """Whether it has come so far in its imports, by the time that it has had of a CPU."""
    forkserver = forkserver_of(worker)
    with suppress(psutil.Error):
        return forkserver is not None and forkserver.cpu_times().user >= seconds


MOMENTS = {
    "the first line": lambda worker: "Stop it with Ctrl-C" in worker.log,
    "a program": forkserver_of,
    "its first imports": lambda worker: has_worked_for(worker, 0.05),
    "imports of Django": lambda worker: has_worked_for(worker, 0.15),
}


@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS)
def test_ctrl_c_while_it_starts_is_nobodys_trouble(start_worker, moment):
    """A terminal sends SIGINT to keeper and forkserver at once: no traceback and no death are told."""
    worker = start_worker("--processes", "1")
    wait_until(lambda: moment(worker), seconds=SECONDS)
    os.killpg(worker.pid, signal.SIGINT)

    assert worker.wait() == 0
    assert [line for line in worker.log.splitlines() if "died" in line or "KeyboardInterrupt" in line] == []


def test_a_stop_says_nothing_of_who_starts_runners(start_worker):
    """Where it dies with the stop, as when somebody kills all, no other one is announced."""
    worker = start_worker("--processes", "1", "--grace", "20")
    tasks.sleep.enqueue(1)
    wait_until(has_started, seconds=SECONDS)
    worker.send(signal.SIGINT)
    wait_until(lambda: "Stopping:" in worker.log, seconds=SECONDS)
    forkserver_of(worker).kill()

    assert worker.wait() == 0
    assert "it is started again" not in worker.log


def test_a_job_that_every_deploy_interrupts_is_bounded(start_worker):
    """Each interruption is an attempt of its own and charges nothing.

    One more than max_interruptions buries the job.
    """
    result = tasks.sleep.enqueue(60)
    for round_number in range(1, 4):
        worker = start_worker("--processes", "1", "--grace", "0.2", options={"max_interruptions": 2})
        wait_until(lambda number=round_number: has_started(number), seconds=SECONDS)
        worker.send(signal.SIGTERM)
        assert worker.wait() == 0
    job = Job.objects.get(pk=int(result.id))

    assert [a.outcome for a in job.attempts.order_by("number")] == ["interrupted"] * 3
    assert (job.status, job.failure_count) == ("FAILED", 0)
    assert job.dead_letter.reason == "interrupted_too_often"


def test_read_ahead_that_never_began_is_neither_attempt_nor_counted(start_worker):
    """Short jobs that were claimed ahead and not begun when the worker stopped are as if they had not been claimed."""
    from django_jobqueue.compat import task_backends

    task_backends["default"].enqueue_many([(tasks.start, (), {})] * 3000)
    worker = start_worker("--processes", "1")
    wait_until(lambda: has_started(200), seconds=SECONDS)
    worker.send(signal.SIGTERM)

    assert worker.wait() == 0
    assert Job.objects.filter(status="READY").exclude(attempt_count=0).count() == 0
    assert Job.objects.filter(status="SUCCESSFUL").count() == Attempt.objects.count() == Trace.objects.count()
    assert Job.objects.filter(status="RUNNING").count() == 0


def test_a_worker_says_that_it_lives_and_that_it_stopped(start_worker):
    """The worker's row has its process id while it runs, and the moment of its end afterwards."""
    worker = start_worker("--processes", "1", "--queue", "mail", "--queue", "bulk-*")
    row = wait_until(Worker.objects.first, seconds=SECONDS)
    worker.send(signal.SIGTERM)
    worker.wait()

    assert (row.pid, row.queues, row.stopped_at) == (worker.pid, ["mail", "bulk-*"], None)
    assert Worker.objects.get().stopped_at is not None


def test_nothing_survives_a_killed_keeper(start_worker):
    """kill -9 of the keeper takes the forkserver and the runners with it."""
    worker = start_worker("--processes", "2")
    tasks.sleep.enqueue(600)
    wait_until(has_started, seconds=SECONDS)
    assert len(worker.family()) == 4
    worker.send(signal.SIGKILL)
    worker.wait()

    wait_until(lambda: not worker.survivors(), seconds=5)


def test_code_that_imports_no_longer_stops_a_worker_as_a_signal_would(start_worker, job_is, tmp_path):
    """A deploy replaces the code under a worker: where a runner cannot be replaced, the other's job ends first."""
    half_a_deploy = tmp_path / "half a deploy"
    environment = {"STAGE_BROKEN": str(half_a_deploy)}
    worker = start_worker("--processes", "2", thread=True, may_break=True, options=LONG_LEASE, environment=environment)
    good, lost = tasks.sleep.enqueue(8), tasks.sleep.enqueue(60)
    for result in (good, lost):
        wait_until(lambda result=result: Trace.objects.filter(job_id=int(result.id)).exists(), seconds=SECONDS)
    half_a_deploy.touch()
    os.kill(Trace.objects.get(job_id=int(lost.id)).pid, KILL)

    assert worker.wait() == 1
    assert job_is(good, "SUCCESSFUL").attempt_count == 1
    assert not Job.objects.filter(status="RUNNING").exists()
    assert "ImportError: half a deploy" in worker.log
