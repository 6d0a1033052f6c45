"""The legal moves of a job and of a dead letter."""

from django_jobqueue.policy.lifecycle import (
    DUE_BY_TIME,
    LETTER_TRANSITIONS,
    LIVE,
    TERMINAL,
    TRANSITIONS,
    LetterStatus,
    Status,
)


def reachable(start, transitions):
    """Follow every move from `start`."""
    seen, frontier = set(), {start}
    while frontier:
        seen |= frontier
        frontier = {t.new for t in transitions if t.old in frontier} - seen
    return seen


def test_every_status_is_live_or_terminal():
    """A job either still holds its unique key, or is over; there is no third kind."""
    assert set(Status) == LIVE | TERMINAL
    assert not LIVE & TERMINAL


def test_only_a_replay_leaves_a_terminal_state():
    """What is over stays over, but for a failed job that a person replays."""
    assert {t for t in TRANSITIONS if t.old in TERMINAL} == {t for t in TRANSITIONS if t.verb == "replay"}
    assert {t.old for t in TRANSITIONS if t.verb == "replay"} == {Status.FAILED}


def test_only_a_claim_starts_a_job():
    """There is one door into RUNNING."""
    assert {(t.verb, t.old) for t in TRANSITIONS if t.new == Status.RUNNING} == {("claim", Status.READY)}


def test_every_status_is_reached_and_can_end():
    """No job can enter a state from which it cannot come to an end."""
    assert reachable(None, TRANSITIONS) - {None} == set(Status)
    for status in LIVE:
        assert reachable(status, TRANSITIONS) & TERMINAL


def test_every_letter_can_be_seen_to():
    """A letter may always be replayed or resolved; none is stuck."""
    assert reachable(None, LETTER_TRANSITIONS) - {None} == set(LetterStatus)
    for status in set(LetterStatus) - {LetterStatus.RESOLVED}:
        assert LetterStatus.RESOLVED in reachable(status, LETTER_TRANSITIONS)


def test_waits_that_end_by_themselves_are_those_of_time():
    """A job that waits for a worker or a limit is not promoted by the clock."""
    assert set(DUE_BY_TIME) == {"time", "retry", "snooze"}
