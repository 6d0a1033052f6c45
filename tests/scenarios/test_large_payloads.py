"""Arguments and results as large as they may be: more than the socket to a runner takes at once."""

import pytest

from django_jobqueue.models import Attempt, Job
from tests.stage import tasks

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]

LARGE = "x" * (250 * 1024)


@pytest.mark.parametrize("threads", ["1", "8"])
def test_jobs_as_large_as_they_may_be_cost_no_runner(run_until_idle, threads):
    """Orders and outcomes of 250 KiB pass piece by piece, one at a time or many at once: each job runs once."""
    tasks.give_it_back.get_backend().enqueue_many([(tasks.give_it_back, (LARGE,), {})] * 24)
    worker = run_until_idle("--processes", "1", "--threads", threads)

    assert Job.objects.filter(status="SUCCESSFUL", attempt_count=1, crash_count=0).count() == 24
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {"succeeded"}
    assert "died" not in worker.log


def test_large_results_of_a_coroutine_cost_no_runner(run_until_idle):
    """The same from the event loop, where ten outcomes are under way at a time."""
    tasks.return_from_a_coroutine.get_backend().enqueue_many([(tasks.return_from_a_coroutine, (LARGE,), {})] * 24)
    run_until_idle("--processes", "1")

    assert Job.objects.filter(status="SUCCESSFUL", attempt_count=1, crash_count=0).count() == 24
