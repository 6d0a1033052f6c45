"""What the executor makes of a request to cancel."""

import asyncio

import pytest

from django_jobqueue.compat import task_started
from django_jobqueue.policy.outcomes import Cancelled, Failed, Succeeded
from django_jobqueue.worker.executor import NEVER_BEGUN
from tests.worker import cast
from tests.worker.orders import run, run_async

# Before and after an attempt the slot's connections are looked at, if some are open.
pytestmark = pytest.mark.django_db(transaction=True, available_apps=["django_jobqueue"])


def answers(*values):
    """Say these one after the other, when asked whether the job is unwanted; then the last one for ever."""
    left = list(values)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


def test_the_context_says_what_is_asked_for():
    """`context.cancelled` is read at the moment when the task looks."""
    assert run(cast.tell_whether_cancelled) == Succeeded("false")
    assert run(cast.tell_whether_cancelled, is_unwanted=answers(False, True)) == Succeeded("true")


@pytest.mark.parametrize(("how", "task"), [(run, cast.stop_itself), (run_async, cast.stop_itself_async)])
def test_to_stop_on_request_is_no_failure(how, task):
    """A task that stops because it was asked to is cancelled."""
    outcome = how(task, is_unwanted=answers(False, True))

    assert isinstance(outcome, Cancelled)
    assert outcome.failure.traceback


@pytest.mark.parametrize(("how", "task"), [(run, cast.stop_itself), (run_async, cast.stop_itself_async)])
def test_to_stop_without_a_request_is_a_failure(how, task):
    """Nobody had asked: it is an error like any other."""
    assert isinstance(how(task), Failed)


@pytest.mark.parametrize(("how", "task"), [(run, cast.stop_itself), (run_async, cast.stop_itself_async)])
def test_a_job_that_was_cancelled_in_the_queue_of_its_runner_does_not_begin(how, task):
    """A request that comes before the first line keeps the task from being called at all."""
    outcome = how(task, is_unwanted=lambda: True)

    assert isinstance(outcome, Cancelled)
    assert not outcome.failure.traceback


def test_a_request_that_comes_while_receivers_are_told_is_kept():
    """A coroutine whose cancel was delivered to a receiver of task_started does not begin."""
    unwanted = []

    async def cancel_the_job(**_facts):
        unwanted.append(True)
        asyncio.current_task().cancel()
        await asyncio.sleep(3600)

    task_started.connect(cancel_the_job)
    try:
        outcome = run_async(cast.give_up_async, is_unwanted=lambda: bool(unwanted))
    finally:
        task_started.disconnect(cancel_the_job)

    assert outcome == NEVER_BEGUN
