"""The crew, without processes: what becomes of jobs that wait for a runner."""

import pytest

from django_jobqueue.conf import Options
from django_jobqueue.worker import clock
from django_jobqueue.worker.crew import Crew
from django_jobqueue.worker.plan import WorkerPlan
from django_jobqueue.worker.wakeup import Wakeup
from tests.worker.flights import flight


@pytest.fixture
def crew():
    """A crew that was not started."""
    wakeup = Wakeup()
    yield Crew(WorkerPlan("default", Options()), wakeup)
    wakeup.close()


def test_a_job_whose_lease_ends_while_it_waits_is_not_started(crew):
    """A job that waits for a runner is let go before its lease ends: another worker may soon have it."""
    now = clock.now()
    late, good = flight(), flight()
    late.lease_until = now + 5
    crew.fleet.waiting = [late, good]

    crew.check(now, lease_margin=6.0)

    assert crew.never_started == [late]
    assert crew.fleet.waiting == [good]
