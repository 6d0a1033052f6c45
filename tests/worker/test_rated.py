"""When a worker looks at jobs under a rate."""

import pytest

from django_jobqueue.policy.rate import parse
from django_jobqueue.store.rates import Rates
from django_jobqueue.worker import rated
from django_jobqueue.worker.rated import REST, SHUT_OUT_SECONDS, RateWatch

RATES = Rates(queues={"mail": parse("1/s")})


@pytest.fixture
def watch(monkeypatch):
    """A watch that has heard of jobs under a rate; its clock stands at 100."""
    monkeypatch.setattr(rated.clock, "now", lambda: 100.0)
    watch = RateWatch(RATES)
    assert watch.note(has_rated=True)
    return watch


def test_where_there_are_none_nobody_looks():
    """A worker learns of them from the gate, and what is no news wakes nobody."""
    watch = RateWatch(RATES)
    assert watch.look(0.0, is_poll=True) is None
    assert watch.note(has_rated=True)
    assert not watch.note(has_rated=True)

    assert watch.look(0.0, is_poll=False) is RATES
    assert not watch.note(has_rated=False)
    assert watch.look(0.0, is_poll=True) is None


def test_it_looks_when_the_next_token_comes(watch):
    """And with a poll before, when the last look is long enough ago for what it took."""
    assert watch.looked(5.0, 0.01, is_ours=True) == 5.0

    assert watch.look(100.0 + REST * 0.01 - 0.001, is_poll=True) is None
    assert watch.look(100.0 + REST * 0.01, is_poll=True) is RATES
    assert watch.look(104.9, is_poll=False) is None
    assert watch.look(105.0, is_poll=False) is RATES


def test_a_token_that_is_left_is_looked_at_at_once(watch):
    """There was more than there was room for."""
    assert watch.looked(0.0, 0.5, is_ours=True) == 0.0

    assert watch.look(100.0, is_poll=False) is RATES


def test_a_look_that_takes_long_is_not_repeated_at_once_for_the_next_token(watch):
    """Of a thousand buckets one gets a token at every moment."""
    assert watch.looked(0.001, 0.2, is_ours=True) == 0.2


def test_who_was_shut_out_comes_again_soon(watch):
    """It has learned nothing of any token."""
    assert watch.looked(None, 0.01, is_ours=False) == SHUT_OUT_SECONDS

    assert watch.look(100.0 + SHUT_OUT_SECONDS, is_poll=False) is RATES


def test_where_nothing_waits_for_a_token_it_rests(watch):
    """What is ready is paused, say, or somebody else's."""
    assert watch.looked(None, 0.01, is_ours=True) is None

    assert watch.look(100.0 + REST * 0.01, is_poll=False) is RATES


def test_buckets_are_swept_once_a_minute(watch):
    """The first time at once."""
    assert watch.wants_sweep(100.0)
    assert not watch.wants_sweep(159.0)
    assert watch.wants_sweep(160.0)
