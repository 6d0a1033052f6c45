"""The schedule: when a worker polls, rescues and renews."""

import pytest

from django_jobqueue.conf import Options
from django_jobqueue.worker import clock
from django_jobqueue.worker.schedule import BURST_POLL_SECONDS, BURST_SECONDS, Schedule, jittered

OPTIONS = Options(poll_seconds=2, rescue_seconds=6, lease_seconds=30, renew_seconds=10)


@pytest.fixture
def schedule():
    """A fresh schedule."""
    return Schedule(OPTIONS)


def test_a_fresh_worker_looks_at_once(schedule):
    """The first poll and rescue are due at the start; a renewal is not before there is a lease to renew."""
    now = clock.now()

    assert max(schedule.poll_at, schedule.rescue_at) <= now
    assert schedule.renew_at == pytest.approx(now + 10, abs=1)


@pytest.mark.parametrize(
    ("note", "moment", "period", "early"), [("polled", "poll_at", 2, 0), ("rescued", "rescue_at", 6, 2)]
)
def test_chores_are_spread(schedule, note, moment, period, early):
    """The next moment is a period away, give or take a tenth, so that workers started together drift apart.

    A look for leases is due a poll earlier.
    """
    moments = []
    for _ in range(200):
        getattr(schedule, note)(1000.0)
        moments.append(getattr(schedule, moment) - 1000.0 + early)

    assert 0.9 * period <= min(moments) < max(moments) <= 1.1 * period
    assert max(moments) - min(moments) > 0.1 * period


def test_a_look_for_leases_that_ran_out_is_never_six_seconds_away(monkeypatch):
    """At the defaults, however the dice fall, the wait for a poll included: a job of a dead keeper waits no longer."""
    monkeypatch.setattr("random.random", lambda: 1.0)
    schedule = Schedule(Options())
    schedule.rescued(1000.0)
    schedule.polled(schedule.rescue_at - 0.001)

    assert schedule.poll_at < 1005.8
    assert schedule.chores_at < 1005.8


def test_renewals_are_not_spread(schedule):
    """A lease is renewed on time: half a lease has room for one that fails, and jitter would eat of it."""
    schedule.renewed(1000.0)

    assert schedule.renew_at == 1010.0


def test_a_woken_worker_polls_often_for_a_while(schedule):
    """After a NOTIFY a worker polls at once, then every few milliseconds until the burst is over, then as before."""
    schedule.wake()
    now = clock.now()
    assert schedule.poll_at <= now

    schedule.polled(now)
    assert schedule.poll_at == now + BURST_POLL_SECONDS

    schedule.polled(now + BURST_SECONDS + 0.1)
    assert schedule.poll_at >= now + BURST_SECONDS + 0.1 + 0.9 * 2


def test_a_full_claim_is_followed_by_another(schedule):
    """Where as much was found as was asked for, the next poll is due at once."""
    schedule.polled(clock.now())
    schedule.poll_again()

    assert schedule.poll_at <= clock.now()


@pytest.mark.parametrize(("due_in", "wait"), [(0.5, 0.5), (0.0, 0.0), (-3.0, 0.0), (60.0, 2), (None, 2)])
def test_a_job_that_falls_due_is_polled_for(schedule, due_in, wait):
    """The poll comes when the next job is due, if that is before the next one; never later than it would have."""
    now = clock.now()
    schedule.polled(now)

    schedule.expect(due_in)

    assert wait * 0.9 <= schedule.poll_at - now <= wait * 1.1 + 0.2


def test_after_an_outage_rescue_waits(schedule):
    """Rescue is put off, so that the other workers can renew first; one that is put off further stays so."""
    schedule.postpone_rescue(10)
    assert schedule.rescue_at >= clock.now() + 9

    schedule.postpone_rescue(1)
    assert schedule.rescue_at >= clock.now() + 9


def test_chores_do_not_wait_for_a_poll_that_is_far_away(schedule):
    """Chores ride with a poll if one comes soon; where a worker polls once an hour, they are done without."""
    schedule.rescued(clock.now())
    schedule.poll_at = clock.now() + 3600

    assert schedule.rescue_at < schedule.chores_at <= schedule.rescue_at + 2


def test_what_is_held_is_not_looked_through_all_the_time(schedule):
    """Of many requests to cancel that come at once, the first is looked for at once and the others after a rest."""
    now = clock.now()
    schedule.renew_now()
    assert schedule.renew_at <= now

    schedule.renewed(now)
    schedule.renew_now()
    assert now < schedule.renew_at < now + 1


def test_jitter_stays_within_a_tenth():
    """A period is spread over a fifth of itself, around itself."""
    values = [jittered(10) for _ in range(500)]

    assert 9 <= min(values) < 9.5 < 10.5 < max(values) <= 11
