"""What a worker's log is told of jobs whose task, or version of it, it does not know."""

import logging

import pytest

from django_jobqueue.store.park import Parked
from django_jobqueue.worker.news import News

KNOWN = {"shop.tasks.resize": 1}


@pytest.fixture
def told(caplog):
    """What was said at WARNING."""
    caplog.set_level(logging.DEBUG, "django_jobqueue.worker")
    return lambda: [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def test_a_task_that_is_not_known_is_told_with_the_ways_out(told):
    """Once: what becomes of its jobs, where a worker finds tasks, and what to type for a renamed and a removed one."""
    news = News()
    for _ in range(2):
        news.unknown_tasks({"shop.jobs.hidden"}, known=KNOWN, buried_after_seconds=86_400)

    (line,) = told()
    assert line.startswith(
        "jobs of shop.jobs.hidden are due, and this worker does not know that task: unless another one does they are "
        "put aside, and are dead letters after 1 day. "
    )
    assert "A worker finds tasks in <app>/tasks.py and what it imports" in line
    assert 'a renamed task needs aliases=("shop.jobs.hidden",)' in line
    assert 'manage.py jobqueue jobs cancel --task shop.jobs.hidden --reason-text "…"' in line


def test_a_version_that_is_not_known_is_told_with_the_one_that_is(told):
    """It asks for newer code, and for nothing else."""
    News().unknown_tasks({"shop.tasks.resize v2"}, known=KNOWN, buried_after_seconds=7200)

    (line,) = told()
    assert line == (
        "jobs of shop.tasks.resize v2 are due, and this worker knows v1: deploy the newer code. Unless another one "
        "knows it they are put aside, and are dead letters after 2 hours"
    )


@pytest.mark.parametrize(
    ("seconds", "words"), [(60, "1 minute"), (90, "90 seconds"), (3600, "1 hour"), (172_800, "2 days")]
)
def test_the_time_until_they_are_buried_is_told_in_words(seconds, words, told):
    """As OPTIONS unknown_task_seconds says."""
    News().unknown_tasks({"gone"}, known={}, buried_after_seconds=seconds)

    assert f"after {words}. " in told()[0]


def test_what_waits_for_a_worker_is_told_in_one_line(told):
    """The most of a kind first; of many kinds the first five, and how many more."""
    news = News()
    news.parked([Parked("shop.tasks.very_long_nap", 1, 2), Parked("shop.tasks.resize", 2, 1)], known=KNOWN)
    news.parked([Parked(f"gone{number}", 1, 10 - number) for number in range(7)], known=KNOWN)
    news.parked([], known=KNOWN)

    assert told() == [
        "3 jobs wait for a worker that knows their task: shop.tasks.very_long_nap (2), shop.tasks.resize v2 (1)",
        "49 jobs wait for a worker that knows their task: gone0 (10), gone1 (9), gone2 (8), gone3 (7), gone4 (6), "
        "and 2 tasks more",
    ]
