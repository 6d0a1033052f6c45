"""How many connections a worker holds, by its configuration; docs/guides/deploy.md has the same table."""

import pytest

from django_jobqueue.models import Job
from tests.scenarios.conftest import LONG_LEASE, SECONDS
from tests.scenarios.sessions import Sessions
from tests.stage import tasks
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def all_are_done(sessions):
    """Whether every job has succeeded; looks at the sessions meanwhile."""
    sessions.count()
    return not Job.objects.exclude(status="SUCCESSFUL").exists()


def test_a_worker_holds_one_connection_for_each_slot_that_used_one(start_worker):
    """One of the keeper, one to listen, one for each slot that ran an ORM job, one for each runner's coroutines."""
    sessions = Sessions()
    start_worker("--processes", "2", "--threads", "2", database={"CONN_MAX_AGE": None}, options=LONG_LEASE)
    sessions.settle_at(2)
    tasks.nap.get_backend().enqueue_many([(tasks.nap, (0.01,), {})] * 20)
    wait_until(lambda: all_are_done(sessions), seconds=SECONDS)
    assert sessions.most == 2

    tasks.sleep.get_backend().enqueue_many([(tasks.sleep, (0.3,), {})] * 12)
    wait_until(lambda: all_are_done(sessions), seconds=SECONDS)
    sessions.settle_at(2 + 4)
    tasks.sleep.get_backend().enqueue_many([(tasks.count_from_a_coroutine, (0.5,), {})] * 20)
    wait_until(lambda: all_are_done(sessions), seconds=SECONDS)
    sessions.settle_at(2 + 4 + 2)
    assert sessions.most == 2 + 4 + 2


def test_a_slot_closes_its_connection_after_each_job_where_the_project_says_so(start_worker):
    """With CONN_MAX_AGE 0, Django's default, an idle worker holds its own two; a receiver's process closes, too."""
    sessions = Sessions()
    start_worker("--processes", "2", "--threads", "2", receivers=True, options=LONG_LEASE)
    tasks.sleep.get_backend().enqueue_many([(tasks.sleep, (0.1,), {})] * 20)
    wait_until(lambda: all_are_done(sessions), seconds=SECONDS)
    sessions.settle_at(2)

    assert sessions.most <= 2 + 4 + 1
