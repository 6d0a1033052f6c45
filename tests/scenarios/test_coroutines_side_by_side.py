"""Coroutines of one process share a thread and a connection: what one does there is not the others' end."""

import pytest

from django_jobqueue.models import Job
from tests.scenarios.conftest import SECONDS
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def is_there(what):
    """Whether somebody has left such a trace."""
    return Trace.objects.filter(what=what).exists()


def let_go_on():
    """Let those go on that wait for it."""
    Trace.objects.create(what="go on")


def outcomes(job):
    """How its attempts ended."""
    return list(job.attempts.order_by("number").values_list("outcome", flat=True))


def test_an_iteration_goes_on_when_a_neighbour_ends(start_worker, job_is):
    """A coroutine that ends does not close the connection that another one reads from, also at CONN_MAX_AGE 0."""
    Trace.objects.bulk_create(Trace(what="a row") for _ in range(30))
    start_worker("--processes", "1")
    reader = tasks.read_rows_with_a_pause.enqueue()
    wait_until(lambda: is_there("paused"), seconds=SECONDS)
    # The first one's end has been cleaned up after when the second one begins.
    for _ in range(2):
        job_is(tasks.return_from_a_coroutine.enqueue(1), "SUCCESSFUL")
    let_go_on()

    assert job_is(reader, "SUCCESSFUL").result == 30


def test_a_transaction_goes_on_when_a_neighbour_ends(start_worker, job_is):
    """What a coroutine has begun behind Django's back, and keeps over an await, is not rolled back beside it."""
    worker = start_worker("--processes", "1")
    writer = tasks.write_with_a_pause.enqueue()
    wait_until(lambda: "written, and not committed" in worker.log, seconds=SECONDS)
    wait_until(lambda: tasks.return_from_a_coroutine.enqueue(1) and "a transaction" in worker.log, seconds=SECONDS)
    let_go_on()

    assert outcomes(job_is(writer, "SUCCESSFUL")) == ["succeeded"]
    assert is_there("written")


def test_a_transaction_that_is_left_open_beside_others_has_an_end(start_worker, job_is):
    """The process takes no more: what comes later finds a connection on which it commits."""
    worker = start_worker("--processes", "1")
    neighbour = tasks.wait_to_go_on.enqueue()
    wait_until(lambda: is_there("paused"), seconds=SECONDS)
    job_is(tasks.leave_a_transaction_in_a_coroutine.enqueue(), "SUCCESSFUL")
    wait_until(lambda: "is replaced when its jobs have ended: a transaction" in worker.log, seconds=SECONDS)
    later = tasks.write_in_a_coroutine.enqueue()
    let_go_on()

    job_is(neighbour, "SUCCESSFUL")
    job_is(later, "SUCCESSFUL")
    assert is_there("written")
    assert not is_there("never committed")


def test_a_coroutine_that_has_returned_is_not_late(start_worker, job_is):
    """Its end is told before its connection is cleaned, which may have to wait for a neighbour's call."""
    start_worker("--processes", "1")
    early = tasks.return_when_the_thread_is_held.enqueue()
    wait_until(lambda: is_there("paused"), seconds=SECONDS)
    holder = tasks.hold_the_thread.enqueue()

    assert outcomes(job_is(early, "SUCCESSFUL")) == ["succeeded"]
    assert Job.objects.get(pk=int(holder.id)).status == "RUNNING"
    let_go_on()
    assert outcomes(job_is(holder, "SUCCESSFUL")) == ["succeeded"]


def test_a_long_call_in_the_shared_thread_keeps_nobody_from_beginning(start_worker, job_is):
    """A coroutine that needs no database begins all the same, and nobody's process is taken for hung."""
    start_worker("--processes", "1")
    holder = tasks.hold_the_thread.enqueue()
    wait_until(lambda: is_there("held"), seconds=SECONDS)

    assert outcomes(job_is(tasks.be_quick_in_a_coroutine.enqueue(), "SUCCESSFUL")) == ["succeeded"]
    assert Job.objects.get(pk=int(holder.id)).status == "RUNNING"
    let_go_on()
    assert outcomes(job_is(holder, "SUCCESSFUL")) == ["succeeded"]
