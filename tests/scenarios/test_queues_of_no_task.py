"""A worker of a queue that nothing is declared for."""

import pytest

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def test_a_worker_says_which_of_its_queues_no_task_has(start_worker):
    """It serves them all the same, and tells the person in front of it and the log, once each."""
    worker = start_worker("--processes", "1", "--until-idle", "--queue", "defualt", "--queue", "default")

    assert worker.wait() == 0
    words = "o task here is declared for queue 'defualt' (did you mean 'default'?)"
    assert sorted(line for line in worker.log.splitlines() if "declared for" in line) == [f"N{words}.", f"n{words}"]
