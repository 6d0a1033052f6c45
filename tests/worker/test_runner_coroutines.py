"""Coroutines of a runner that are cancelled before their first step: the keeper has an answer all the same."""

import asyncio
import json
import socket

import pytest

from django_jobqueue.registry import Registry
from django_jobqueue.worker.frames import FrameReader
from django_jobqueue.worker.runner import RunnerPlan, _Runner
from tests.worker import cast
from tests.worker.orders import BOUNDS, order


@pytest.fixture
def runner(monkeypatch):
    """A runner whose event loop turns when the test says so, and the keeper's end of its socket."""
    keeper, own = socket.socketpair()
    task = cast.give_up_async
    runner = _Runner(own, Registry({task.module_path: task}), RunnerPlan(threads=1, bounds=BOUNDS))
    loop = asyncio.new_event_loop()
    monkeypatch.setattr(runner, "_event_loop", lambda: loop)
    runner._loop, runner.keeper = loop, keeper
    yield runner
    loop.close()
    keeper.close()
    own.close()


def turn(runner):
    """Let the loop do what there is to do, and answer with what the keeper was told."""
    for _ in range(5):
        runner._loop.call_soon(runner._loop.stop)
        runner._loop.run_forever()
    runner.keeper.settimeout(5)
    return [json.loads(payload) for payload in FrameReader().feed(runner.keeper.recv(1 << 16))]


def test_a_request_that_comes_with_its_order_is_answered(runner):
    """The order and the request to cancel it are read in one go: the coroutine never begins, and is cancelled."""
    runner._take(order(cast.give_up_async))
    runner._cancel(1)

    ((done, ticket, _, (outcome, _)),) = turn(runner)

    assert (done, ticket, outcome) == ("done", 1, "cancelled")
    assert not runner._in_hand
    assert not runner._coroutines


def test_a_coroutine_that_somebody_cancels_before_its_first_step_is_answered(runner):
    """A task that cancels all it can find, as some do at their end, hits one that has not begun: a failed attempt."""
    runner._take(order(cast.give_up_async))
    runner._loop.call_soon(lambda: [each.cancel() for each in asyncio.all_tasks(runner._loop)])

    ((done, ticket, _, (outcome, *_)),) = turn(runner)

    assert (done, ticket, outcome) == ("done", 1, "failed")
