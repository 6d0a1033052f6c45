"""Rates as text: what is understood, what is refused, and how exact the numbers are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_jobqueue.policy.rate import MAX_BURST, MAX_PER_SECOND, Rate, parse

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}

RATES = st.sampled_from("smhd").flatmap(
    lambda period: st.builds(
        Rate, st.integers(1, MAX_PER_SECOND * SECONDS[period]), st.just(period), st.integers(1, MAX_BURST)
    )
)


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("100/m", Rate(100, "m", 1)),
        ("10/s", Rate(10, "s", 10)),
        ("5 / hour", Rate(5, "h", 1)),
        ("100/min burst 20", Rate(100, "m", 20)),
        (" 1/day ", Rate(1, "d", 1)),
        ("2/sec", Rate(2, "s", 2)),
    ],
)
def test_a_rate_is_written_as_in_other_libraries(text, rate):
    """With one letter or a word; the burst is that of a second, and at least one, where nobody says."""
    assert parse(text) == rate


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("100", '"100/m"'),
        ("100/fortnight", "s, m, h or d"),
        ("1.5/s", '"100/m"'),
        ("-1/s", '"100/m"'),
        ("100/m burst", "burst"),
        ("\u0661/s", '"100/m"'),
        (100, '"100/m"'),
        (None, '"100/m"'),
        ("0/m", "pause"),
        ("10001/s", "10000/s"),
        ("100/m burst 0", "from 1 to 100000"),
        ("100/m burst 100001", "from 1 to 100000"),
        ("9" * 100 + "/s", '"100/m"'),
    ],
    ids=repr,
)
def test_what_is_no_rate_is_refused_with_what_to_type(text, words):
    """No half of it is taken for the whole."""
    with pytest.raises(ValueError, match=words):
        parse(text)


@given(RATES)
def test_a_rate_that_is_written_is_read_as_the_same(rate):
    """What a person reads can be typed again."""
    assert parse(str(rate)) == rate


@given(RATES)
def test_the_pace_is_never_faster_than_what_was_written(rate):
    """It is rounded to the next microsecond, so that a period never has more than its count beside the burst."""
    period = SECONDS[rate.period] * 1_000_000

    assert rate.most_starts(period) - rate.burst <= rate.count
    assert (rate.pace_microseconds - 1) * rate.count < period


@given(RATES, st.integers(0, 10**12), st.integers(0, 10**12))
def test_a_longer_window_allows_no_fewer(rate, one, other):
    """And a moment allows the burst."""
    assert rate.most_starts(0) == rate.burst
    assert rate.most_starts(min(one, other)) <= rate.most_starts(max(one, other))
