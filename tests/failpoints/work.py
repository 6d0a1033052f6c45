"""Work that makes every moment come, each with something in it that may go wrong."""

from __future__ import annotations

import signal

from django_jobqueue.compat import task_backends
from django_jobqueue.models import Job
from tests.stage import tasks
from tests.store.hands import Hand, at, let_leases_run_out
from tests.waiting import wait_until

START = "tests.stage.tasks.start"

READ_AHEAD = 4
"""So many claimed jobs of which one runs: the others wait in the runner, or for it."""


def enqueue_for(moment: str) -> None:
    """Fill the queue with what a worker needs to come to this moment."""
    if moment.endswith(" rescue"):
        abandon_a_job()
    if moment.endswith(" promote"):
        Job.objects.create(task=START, status="WAITING", waiting_for="time", run_after=at(-60))
    if moment.endswith(" renew"):
        tasks.sleep.enqueue(1.5)
    if moment.endswith(" give_back"):
        # Short enough to be claimed ahead, and so many that a worker has some in hand whenever it is stopped.
        task_backends["default"].enqueue_many([(tasks.nap, (0.002,), {})] * 300)
    for _ in range(4):
        tasks.start.enqueue()
        tasks.book.enqueue(0.1)
        tasks.note_once.enqueue()
        tasks.pay_once.enqueue()
    for _ in range(2):
        tasks.fail_once.enqueue()


def abandon_a_job() -> None:
    """Leave a job RUNNING under a lease that is over, of a worker that is gone."""
    tasks.start.enqueue()
    gone = Hand()
    (held,) = gone.claim(tasks=(START,))
    let_leases_run_out(held)
    gone.session.close()


def bring_about(moment: str, worker, seconds: float) -> None:
    """Do to a worker what brings it to this moment, where its work alone does not."""
    if moment.endswith(" give_back"):
        wait_until(lambda: Job.objects.filter(status="RUNNING").count() >= READ_AHEAD, seconds=seconds)
        worker.send(signal.SIGTERM)
