"""What a worker says of its plan, in a line."""

import pytest

from django_jobqueue.conf import Options
from django_jobqueue.worker.plan import WorkerPlan


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({}, "all queues, backend 'default', 1 process of 1 function and 10 coroutines"),
        (
            {"queues": ("mail", "web"), "excluded_queues": ("web-slow",), "processes": 2, "threads": 4},
            "mail, web but web-slow, backend 'default', 2 processes of 4 functions and 10 coroutines",
        ),
        ({"coroutines": 1}, "all queues, backend 'default', 1 process of 1 function and 1 coroutine"),
    ],
    ids=["default", "many", "one"],
)
def test_a_plan_is_a_sentence(plan, words):
    """One is singular, all others are plural."""
    assert WorkerPlan("default", Options(), **plan).summary == words
