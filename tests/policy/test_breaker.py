"""When a circuit breaker opens, for how long, and when it closes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_jobqueue import Breaker
from django_jobqueue.policy import breaker as policy
from django_jobqueue.policy.breaker import Change, Standing, State, judge, trips
from django_jobqueue.policy.outcomes import (
    Cancelled,
    Committed,
    Failed,
    Interrupted,
    Lost,
    Snoozed,
    Succeeded,
    TimedOut,
    Verdict,
)

SHARES = st.floats(0.01, 1.0)
COUNTS = st.integers(0, 1000)
BREAKERS = st.builds(
    lambda share, minimum, pause, factor, probes: Breaker(
        "stripe",
        trips_on=(ConnectionError,),
        share=share,
        minimum=minimum,
        pause_seconds=pause,
        max_pause_seconds=pause * factor,
        probes=probes,
    ),
    SHARES,
    st.integers(1, 100),
    st.floats(0.1, 100),
    st.floats(1, 100),
    st.integers(1, 50),
)
STRIPE = Breaker("stripe", trips_on=(ConnectionError,))


def standing(state, ended=0, tripped=0, openings=0):
    """A row of the breaker `stripe`."""
    return Standing("stripe", state, 7, ended, tripped, openings, "builtins.ConnectionError", None, False)


@given(BREAKERS, COUNTS, COUNTS)
def test_it_opens_on_enough_of_enough_attempts(breaker, ended, tripped):
    """Never before the minimum, never below the share, always from both on; and never for nothing."""
    tripped = min(ended, tripped)
    change = judge(breaker, standing(State.CLOSED, ended, tripped))

    is_down = ended >= breaker.minimum and tripped >= breaker.share * ended and tripped > 0
    assert (change is not None) is is_down
    assert change is None or (change.state, change.openings) == (State.OPEN, 1)


@given(BREAKERS, st.integers(0, 1000))
def test_an_outage_is_noticed_within_a_window(breaker, before):
    """However many attempts have ended well, it opens after few failures in a row: a window is full some time."""
    ended, tripped, failures = before % (policy.WINDOWS * breaker.minimum + 1), 0, 0
    while judge(breaker, standing(State.CLOSED, ended, tripped)) is None:
        if ended >= policy.WINDOWS * breaker.minimum:
            ended = tripped = 0
        ended, tripped, failures = ended + 1, tripped + 1, failures + 1

    assert failures < (policy.WINDOWS + 1) * breaker.minimum + 1


@given(BREAKERS, COUNTS, st.integers(1, 1000), st.integers(0, 10_000))
def test_one_probe_that_fails_opens_it_again_for_longer(breaker, ended, tripped, openings):
    """The pause doubles with each opening, up to its cap, and no number of them is too much for it."""
    change = judge(breaker, standing(State.HALF_OPEN, ended + tripped, tripped, openings))

    assert (change.state, change.openings) == (State.OPEN, openings + 1)
    assert breaker.pause_seconds <= change.pause_seconds <= breaker.max_pause_seconds
    assert change.pause_seconds >= policy.pause_seconds(breaker, max(0, openings - 1))


@given(BREAKERS, COUNTS)
def test_it_closes_when_all_probes_have_ended_well(breaker, ended):
    """So many as it was told to send, and no sooner."""
    change = judge(breaker, standing(State.HALF_OPEN, ended))

    assert change == (Change(State.CLOSED, f"{ended} probes ended well") if ended >= breaker.probes else None)


@given(BREAKERS, COUNTS, COUNTS)
def test_nothing_that_ends_late_changes_an_open_one(breaker, ended, tripped):
    """Open it stays, until its time has come or a person closes it."""
    assert judge(breaker, standing(State.OPEN, ended, tripped)) is None


def test_the_reason_tells_what_was_counted():
    """How many of how many failed, and by which exception the last."""
    change = judge(STRIPE, standing(State.CLOSED, 20, 12))

    assert change.reason == "12 of 20 attempts failed (builtins.ConnectionError)"


@pytest.mark.parametrize(
    ("outcome", "counts"),
    [
        (Succeeded(), False),
        (Committed(), False),
        (Failed(trips=True), True),
        (Failed(trips=False), False),
        (Failed(verdict=Verdict.INVALID_RESULT), False),
        (Snoozed(1.0, trips=True), True),
        (Failed(), None),
        (Failed(verdict=Verdict.UNKNOWN_TASK), None),
        (TimedOut(), None),
        (Lost(), None),
        (Interrupted(), None),
        (Cancelled(), None),
    ],
    ids=str,
)
def test_what_an_outcome_says_of_the_dependency(outcome, counts):
    """It has answered, or it is down; or nobody knows, where a worker died or the task was not called."""
    assert trips(STRIPE, outcome) is counts


@pytest.mark.parametrize("classes", [(TimeoutError,), (OSError,), Exception])
def test_a_time_limit_counts_where_time_outs_do(classes):
    """The hard limit of a task is a TimeoutError like any other."""
    assert trips(Breaker("stripe", trips_on=classes), TimedOut()) is True


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"name": "stripe api"}, "name takes letters"),
        ({"name": "x" * 256}, "name has 256 characters"),
        ({"trips_on": ()}, "trips_on takes exception classes"),
        ({"trips_on": ("ConnectionError",)}, "trips_on takes exception classes"),
        ({"share": 0}, "share is a part of the attempts, above 0 and up to 1; got 0"),
        ({"share": 50}, "got 50"),
        ({"share": True}, "got True"),
        ({"minimum": 0}, "minimum is a whole number from 1 to 10000; got 0"),
        ({"probes": 2.5}, "probes is a whole number from 1 to 10000; got 2.5"),
        ({"window_seconds": 0}, "window_seconds is a number of seconds above 0 and up to 86400; got 0"),
        ({"pause_seconds": float("nan")}, "pause_seconds is a number of seconds"),
        ({"pause_seconds": 60, "max_pause_seconds": 30}, "max_pause_seconds is at least pause_seconds, 60; got 30"),
    ],
)
def test_a_wrong_rule_is_told_where_it_is_written(options, said):
    """With its name, what it takes, and what it got."""
    with pytest.raises(ValueError, match="breaker ") as caught:
        Breaker(**{"name": "stripe", "trips_on": (ConnectionError,)} | options)

    assert said in str(caught.value)
