"""What follows an attempt: every outcome against every bound."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_jobqueue.policy import backoff, outcomes
from django_jobqueue.policy.lifecycle import Reason, WaitingFor
from django_jobqueue.policy.outcomes import (
    Failed,
    Failure,
    Interrupted,
    Lost,
    OutcomeName,
    Snoozed,
    Succeeded,
    TimedOut,
    Verdict,
)
from django_jobqueue.policy.retry import (
    MAX_CRASHES,
    Bury,
    Finish,
    Release,
    RetryPolicy,
    Tally,
    Wait,
    decide,
)

POLICY = RetryPolicy(max_attempts=3, backoff=backoff.constant(10, jitter="none"))
FRESH = Tally()
LAST = Tally(failure_count=2)
FAILURE = Failure("builtins.ValueError", "no", "Traceback …")

COUNTS = st.integers(0, 50)
TALLIES = st.builds(Tally, COUNTS, COUNTS, COUNTS, COUNTS)
OUTCOMES = st.one_of(
    st.builds(Succeeded),
    st.builds(
        Failed,
        verdict=st.sampled_from(Verdict),
        after_seconds=st.none() | st.floats(0, 1e9, allow_nan=False),
    ),
    st.builds(TimedOut),
    st.builds(Lost, crashed=st.booleans()),
    st.builds(Interrupted, counted=st.booleans(), suspect=st.booleans()),
    st.builds(Snoozed, seconds=st.floats(0, 1e9)),
)


def follow(outcome, tally=FRESH, policy=POLICY):
    """Decide without chance."""
    return decide(outcome, tally, policy=policy, jitter=0)


def test_success_finishes_with_its_result():
    """What a task returned is kept, and no attempt is charged."""
    decision = follow(Succeeded("42"))

    assert decision.step == Finish("42")
    assert decision.outcome is OutcomeName.SUCCEEDED
    assert not decision.charged


@pytest.mark.parametrize("outcome", [Failed(FAILURE), TimedOut(FAILURE), Lost(FAILURE, crashed=True)])
def test_a_failure_waits_its_back_off(outcome):
    """A job that failed, hung or killed its process is tried again later, and is charged."""
    decision = follow(outcome)

    assert decision.step == Wait(10, WaitingFor.RETRY)
    assert decision.charged
    assert decision.failure is FAILURE


@pytest.mark.parametrize("outcome", [Failed(), TimedOut(), Lost(), Lost(crashed=True)])
def test_the_last_attempt_buries(outcome):
    """What fails at its last attempt is a dead letter, whatever made it fail."""
    assert follow(outcome, LAST).step == Bury(Reason.ATTEMPTS_EXHAUSTED)


def test_lost_with_its_host_runs_again_at_once():
    """A job whose keeper or host died did nothing wrong: charged, but without a wait."""
    decision = follow(Lost())

    assert decision.step == Release()
    assert decision.charged
    assert not decision.crash


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [
        (Verdict.NOT_RETRYABLE, Reason.NOT_RETRYABLE),
        (Verdict.REJECTED, Reason.REJECTED),
        (Verdict.INVALID_PAYLOAD, Reason.INVALID_PAYLOAD),
        (Verdict.INVALID_RESULT, Reason.INVALID_RESULT),
        (Verdict.UNKNOWN_TASK, Reason.UNKNOWN_TASK),
        (Verdict.UNKNOWN_VERSION, Reason.UNKNOWN_VERSION),
    ],
)
def test_what_cannot_get_better_is_buried_at_once(verdict, reason):
    """A failure that another attempt would only repeat uses up no further attempts."""
    assert follow(Failed(FAILURE, verdict)).step == Bury(reason)


def test_every_final_verdict_has_a_reason():
    """No verdict but RETRYABLE leads to another attempt."""
    waits = [v for v in Verdict if isinstance(follow(Failed(FAILURE, v)).step, Wait)]

    assert waits == [Verdict.RETRYABLE]


def test_the_wait_a_task_asks_for_counts():
    """Retry(after=…) and a callable back-off overrule the policy, up to a month."""
    assert follow(Failed(after_seconds=7)).step == Wait(7, WaitingFor.RETRY)
    assert follow(Failed(after_seconds=1e12)).step == Wait(backoff.MAX_SECONDS, WaitingFor.RETRY)


def test_asking_for_a_retry_does_not_buy_attempts():
    """A task that always raises Retry is a dead letter after max_attempts."""
    assert follow(Failed(after_seconds=0), LAST).step == Bury(Reason.ATTEMPTS_EXHAUSTED)


def test_back_off_counts_failures_not_attempts():
    """A thousand snoozes do not make the first failure wait for long."""
    policy = RetryPolicy(backoff=backoff.linear(10, jitter="none"))

    assert follow(Failed(), Tally(snooze_count=900), policy).step == Wait(10, WaitingFor.RETRY)
    assert follow(Failed(), Tally(failure_count=1), policy).step == Wait(20, WaitingFor.RETRY)


def test_a_job_that_keeps_killing_its_process_is_a_crash_loop():
    """The third unexplained death of its process buries a job that has attempts left."""
    policy = RetryPolicy(max_attempts=100)

    steps = [follow(Lost(crashed=True), Tally(crash_count=n), policy).step for n in range(3)]
    assert [isinstance(step, Wait) for step in steps] == [True, True, False]
    assert steps[2] == Bury(Reason.CRASH_LOOP)
    assert MAX_CRASHES == 3


def test_an_interruption_is_not_charged():
    """A deploy costs a job no attempt, even its last one."""
    decision = follow(Interrupted(), LAST)

    assert decision.step == Release()
    assert not decision.charged
    assert decision.interrupted


def test_interruptions_are_bounded():
    """A job that is interrupted more than max_interruptions times is a dead letter."""
    policy = RetryPolicy(max_interruptions=2)

    assert follow(Interrupted(), Tally(interruption_count=1), policy).step == Release()
    step = follow(Interrupted(), Tally(interruption_count=2), policy).step
    assert step == Bury(Reason.INTERRUPTED_TOO_OFTEN)


def test_a_neighbours_fault_is_not_counted():
    """A job taken down by its neighbour is not a step nearer to any bound."""
    decision = follow(Interrupted(counted=False), Tally(interruption_count=10**6))

    assert decision.step == Release()
    assert not decision.interrupted


def test_a_suspect_is_remembered():
    """A death of a process that held several jobs marks each of them, until they ran alone."""
    assert follow(Interrupted(suspect=True)).crash


@pytest.mark.parametrize("outcome", [Interrupted(suspect=True), Interrupted(counted=False, suspect=True)])
def test_suspicions_are_bounded(outcome):
    """The third one is a crash loop, though somebody else might have been it each time."""
    assert [follow(outcome, Tally(crash_count=n)).step for n in range(3)] == [
        Release(),
        Release(),
        Bury(Reason.CRASH_LOOP),
    ]


def test_a_snooze_is_neither_failure_nor_charge():
    """A task that asks to come back waits as long as it said."""
    decision = follow(Snoozed(90), LAST)

    assert decision.step == Wait(90, WaitingFor.SNOOZE)
    assert decision.snoozed
    assert not decision.charged


def test_snoozes_are_bounded():
    """A task that only ever snoozes is a dead letter in the end."""
    policy = RetryPolicy(max_snoozes=5)

    assert isinstance(follow(Snoozed(1), Tally(snooze_count=4), policy).step, Wait)
    step = follow(Snoozed(1), Tally(snooze_count=5), policy).step
    assert step == Bury(Reason.SNOOZED_TOO_OFTEN)


@given(OUTCOMES, TALLIES, st.integers(1, 60), st.floats(0, 1, exclude_max=True))
def test_no_road_leads_past_max_attempts(outcome, tally, max_attempts, jitter):
    """A charged attempt at or beyond max_attempts is never followed by another."""
    decision = decide(outcome, tally, policy=RetryPolicy(max_attempts=max_attempts), jitter=jitter)

    if decision.charged and tally.failure_count + 1 >= max_attempts:
        assert isinstance(decision.step, Bury)


@given(OUTCOMES, TALLIES, st.floats(0, 1, exclude_max=True))
def test_every_outcome_is_decided(outcome, tally, jitter):
    """Each outcome has a step, a name, and at most one kind of count."""
    decision = decide(outcome, tally, policy=RetryPolicy(), jitter=jitter)

    assert isinstance(decision.step, Finish | Wait | Release | Bury)
    assert [decision.charged, decision.interrupted, decision.snoozed].count(True) <= 1
    if isinstance(decision.step, Wait):
        assert 0 <= decision.step.after_seconds <= backoff.MAX_SECONDS


@given(st.lists(OUTCOMES, min_size=1, max_size=4), st.integers(1, 5))
def test_every_job_ends(few, max_attempts):
    """However attempts end, again and again, a job is over after a number of them that its bounds fix.

    Only what a neighbour surely did is free: such interruptions are left out here.
    """
    policy = RetryPolicy(max_attempts=max_attempts, max_interruptions=3, max_snoozes=3)
    failures = interruptions = snoozes = crashes = steps = 0
    for outcome in few * 50:
        if isinstance(outcome, Interrupted) and not outcome.counted and not outcome.suspect:
            continue
        tally = Tally(failures, interruptions, snoozes, crashes)
        decision = decide(outcome, tally, policy=policy, jitter=0)
        steps += 1
        if isinstance(decision.step, Finish | Bury):
            break
        failures += decision.charged
        interruptions += decision.interrupted
        snoozes += decision.snoozed
        crashes += decision.crash

    assert steps <= max_attempts + 3 + 3 + (MAX_CRASHES - 1)


def test_outcomes_without_words_carry_an_empty_failure():
    """An outcome always has a failure to store, if only an empty one."""
    assert Failed().failure is outcomes.NO_FAILURE
    assert follow(Succeeded()).failure is outcomes.NO_FAILURE
