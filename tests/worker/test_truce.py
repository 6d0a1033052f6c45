"""The truce: when a worker that was away may take over what the others have not renewed."""

import psycopg
import pytest

from django_jobqueue.worker import clock, truce
from django_jobqueue.worker.link import longest_call_seconds
from django_jobqueue.worker.outage import MAX_SECONDS, Outage
from django_jobqueue.worker.schedule import CHORES_WAIT_SECONDS

LEASES = [1, 2, 3, 6, 10, 30, 86400]


@pytest.mark.parametrize("lease_seconds", LEASES)
@pytest.mark.parametrize("silent", [True, False], ids=["nobody answers", "refused at once"])
def test_the_others_have_begun_to_return_when_a_truce_ends(lease_seconds, silent, monkeypatch):
    """Whoever tried in vain a moment before the database was back has tried again by then, and had its time to call."""
    monkeypatch.setattr("random.random", lambda: 1.0)
    took = longest_call_seconds(lease_seconds) if silent else 0.0
    theirs = Outage()
    for _ in range(20):
        theirs.failed(psycopg.OperationalError("nobody answers"), took)

    next_try = took + theirs.retry_at - clock.now()
    assert next_try + truce.RETURN_SECONDS <= truce.after_outage_seconds(lease_seconds) + 0.01


@pytest.mark.parametrize("lease_seconds", LEASES)
def test_a_worker_that_was_lost_in_an_outage_is_rescued_in_time(lease_seconds):
    """From the database's return it takes no longer than from a death at any other time: the lease and six seconds.

    A worker that was refused meanwhile is back within a second, keeps the truce, and then looks for what ran out.
    """
    after_seconds = MAX_SECONDS + truce.after_outage_seconds(lease_seconds) + CHORES_WAIT_SECONDS

    assert after_seconds <= lease_seconds + 6
