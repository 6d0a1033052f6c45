"""How long a failed job waits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_jobqueue import backoff

NUMBERS = st.integers(min_value=1, max_value=10**9)
JITTERS = st.floats(min_value=0, max_value=1, exclude_max=True)
POLICIES = st.one_of(
    st.builds(
        backoff.exponential,
        st.floats(0, 1000),
        cap_seconds=st.floats(10, 100_000),
        jitter=st.sampled_from(backoff.Jitter),
        min_seconds=st.floats(0, 10),
    ),
    st.builds(
        backoff.linear,
        st.floats(0, 1000),
        cap_seconds=st.floats(10, 100_000),
        jitter=st.sampled_from(backoff.Jitter),
    ),
    st.builds(backoff.constant, st.floats(0, 1000), jitter=st.sampled_from(backoff.Jitter)),
)


@pytest.mark.parametrize(("number", "seconds"), [(1, 2), (2, 4), (3, 8), (11, 2048), (12, 3600)])
def test_exponential_doubles_up_to_its_cap(number, seconds):
    """The wait doubles after each failure and stops growing at the cap."""
    policy = backoff.exponential(jitter="none")

    assert policy.delay_seconds(number, 0.5) == seconds


def test_exponential_survives_any_attempt_number():
    """The ten-thousandth failure waits the cap, and overflows nothing."""
    assert backoff.exponential(jitter="none").delay_seconds(10_000, 0) == 3600


def test_linear_adds_a_step():
    """The wait of a linear policy grows by the same step."""
    policy = backoff.linear(30, jitter="none", cap_seconds=100)

    assert [policy.delay_seconds(n, 0) for n in (1, 2, 3, 4)] == [30, 60, 90, 100]


def test_constant_never_grows():
    """The wait of a constant policy is the same after every failure."""
    policy = backoff.constant(10, jitter="none")

    assert {policy.delay_seconds(n, 0) for n in (1, 2, 50)} == {10}


def test_full_jitter_spreads_over_the_whole_wait():
    """With full jitter a wait lies anywhere between nothing and the whole."""
    policy = backoff.exponential(8)

    assert policy.delay_seconds(1, 0) == 0
    assert policy.delay_seconds(1, 0.5) == 4


def test_equal_jitter_keeps_half_of_the_wait():
    """With equal jitter a wait is never shorter than half."""
    policy = backoff.constant(10)

    assert policy.delay_seconds(1, 0) == 5
    assert policy.delay_seconds(1, 0.5) == 7.5


@given(POLICIES, NUMBERS, JITTERS)
def test_wait_is_between_minimum_and_cap(policy, number, jitter):
    """No policy, number or chance leads outside of min_seconds and cap_seconds."""
    assert policy.min_seconds <= policy.delay_seconds(number, jitter)
    assert policy.delay_seconds(number, jitter) <= max(policy.cap_seconds, policy.min_seconds)


@given(POLICIES, st.integers(1, 10**6), JITTERS)
def test_wait_never_shrinks(policy, number, jitter):
    """With the same jitter, a later failure never waits shorter than an earlier one."""
    assert policy.delay_seconds(number, jitter) <= policy.delay_seconds(number + 1, jitter)


@pytest.mark.parametrize("number", [0, -1])
def test_attempts_count_from_one(number):
    """There is no wait before the first attempt, so none can be asked for."""
    with pytest.raises(ValueError, match="counts from 1"):
        backoff.exponential().delay_seconds(number, 0)


@pytest.mark.parametrize("jitter", [1, -0.1, 2])
def test_jitter_is_a_fraction(jitter):
    """Jitter outside [0, 1) is refused, rather than stretching the wait."""
    with pytest.raises(ValueError, match="jitter is a number"):
        backoff.exponential().delay_seconds(1, jitter)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"base_seconds": -1}, "zero or more"),
        ({"base_seconds": float("inf")}, "zero or more"),
        ({"base_seconds": float("nan")}, "zero or more"),
        ({"base_seconds": "2"}, "zero or more"),
        ({"base_seconds": True}, "zero or more"),
        ({"cap_seconds": 10**9}, "30 days"),
        ({"cap_seconds": 5, "min_seconds": 6}, "above cap_seconds"),
        ({"jitter": "some"}, "'full', 'equal', 'none'"),
    ],
)
def test_nonsense_is_refused(arguments, words):
    """A policy that could not be obeyed is refused where it is written down."""
    with pytest.raises(ValueError, match=words):
        backoff.exponential(**arguments)
