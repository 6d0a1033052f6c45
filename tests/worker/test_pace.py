"""Pace: what has shown to be short may be claimed ahead."""

import pytest

from django_jobqueue.worker.pace import AHEAD_SECONDS, MAX_AHEAD, SHORT_SECONDS, Pace


def paced(**seconds):
    pace = Pace()
    for task, times in seconds.items():
        for time in times:
            pace.measure(task, time)
    return pace


def test_a_task_that_nobody_has_seen_is_long():
    """Nothing is claimed ahead for a task before its first run."""
    assert not Pace().is_short("new")
    assert Pace().ahead() == 0


@pytest.mark.parametrize(
    ("seconds", "is_short"), [(0.0001, True), (SHORT_SECONDS * 0.99, True), (SHORT_SECONDS, False)]
)
def test_the_first_run_tells(seconds, is_short):
    """A task is short when its run took less than ten milliseconds."""
    assert paced(task=[seconds]).is_short("task") is is_short


def test_one_long_run_counts_at_once():
    """A short task that takes long once is long: what is claimed ahead would wait behind it."""
    assert not paced(task=[0.001] * 100 + [0.02]).is_short("task")


def test_short_runs_count_bit_by_bit():
    """After a long run it takes many short ones until a task is short again."""
    pace = paced(task=[0.1, 0.001])
    assert not pace.is_short("task")

    for _ in range(20):
        pace.measure("task", 0.001)
    assert pace.is_short("task")


def test_tasks_are_measured_apart():
    """A long task does not make another one long."""
    pace = paced(quick=[0.001], slow=[1.0])

    assert [name for name in ("quick", "slow") if pace.is_short(name)] == ["quick"]
    assert pace.is_short("quick")
    assert not pace.is_short("slow")


def test_as_much_is_held_as_the_slowest_short_task_needs():
    """A slot holds 50 ms of the slowest of the short tasks, whichever jobs come."""
    pace = paced(quick=[0.0005], less_quick=[0.005], slow=[9.0])

    assert pace.ahead() == pytest.approx(AHEAD_SECONDS / 0.005, abs=1)


def test_no_slot_holds_more_than_the_limit():
    """However short a task is, a slot holds no more than five hundred of it."""
    assert paced(task=[1e-9]).ahead() == MAX_AHEAD
    assert paced(task=[0.0]).ahead() == MAX_AHEAD


def test_a_task_with_a_circuit_breaker_counts_as_long():
    """What a slot held ahead of it would be burnt when its dependency goes down."""
    pace = Pace({"shop.charge"})
    pace.measure("shop.charge", 0.001)

    assert not pace.is_short("shop.charge")
    assert pace.ahead() == 0
