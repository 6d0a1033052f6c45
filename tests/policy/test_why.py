"""Why: every gate has an answer, and there is always one."""

from dataclasses import replace

import pytest

from django_jobqueue.policy.lifecycle import Status, WaitingFor
from django_jobqueue.policy.why import Facts, Named, Pausing, Share, Slots, Tokens, Why, reasons

READY = Facts(
    status=Status.READY,
    queue_name="mail",
    task="shop.send",
    version=1,
    workers=1,
    workers_of_queue=1,
    workers_that_know=1,
)
WAITING = replace(READY, status=Status.WAITING)
FULL = Slots("key", "tenant:5", at_once=2, taken=2, holders=(7, 8))


@pytest.mark.parametrize(
    ("facts", "code", "words"),
    [
        (READY, Why.NEXT, "nothing: it is claimed when a worker that serves it has room"),
        (replace(READY, ahead=3), Why.BEHIND, "3 ready jobs"),
        (replace(READY, ahead=1000, ahead_is_all=False), Why.BEHIND, "more than 1000 ready jobs"),
        (replace(READY, status=Status.RUNNING), Why.RUNNING, "it is running"),
        (replace(READY, status=Status.SUCCESSFUL), Why.OVER, "it is SUCCESSFUL"),
        (replace(READY, crash_count=1), Why.SUSPECT, "it runs alone"),
        (replace(READY, is_expired=True), Why.EXPIRED, "deadline"),
        (
            replace(READY, rates=[Tokens("queue", "mail", "100/m", 0.44)]),
            Why.RATE,
            "the queue mail starts 100/m, and has done so; the next in 0.4 s",
        ),
        (replace(READY, rates=[Tokens("queue", "mail", "100/m", 0.0)]), Why.NEXT, "nothing"),
        (replace(READY, workers=0, workers_of_queue=0), Why.NO_WORKER, "start manage.py runworker"),
        (
            replace(READY, workers=2, workers_of_queue=0),
            Why.NO_WORKER,
            "none of the 2 living workers serves the queue mail",
        ),
        (replace(READY, workers_that_know=0, version=3), Why.UNKNOWN_TASK, "knows the task shop.send in version 3"),
        (
            replace(READY, pauses=[Pausing("queue mail-*", "the provider is down", "ada", "2026-01-01T10:00")]),
            Why.PAUSED,
            "queue mail-* is paused by ada until 2026-01-01T10:00: the provider is down",
        ),
        (replace(WAITING, waiting_for=WaitingFor.TIME, due_in_seconds=60), Why.NOT_DUE, "it is due 60 s from now"),
        (
            replace(WAITING, waiting_for=WaitingFor.RETRY, due_in_seconds=5, failure_count=2),
            Why.RETRY,
            "it has failed 2 times, and is tried again 5 s from now",
        ),
        (replace(WAITING, waiting_for=WaitingFor.SNOOZE, due_in_seconds=5), Why.SNOOZED, "come back 5 s from now"),
        (replace(WAITING, waiting_for=WaitingFor.RETRY), Why.NEXT, "admitted with the next poll"),
        (
            replace(WAITING, waiting_for=WaitingFor.LIMIT, limits=[FULL]),
            Why.LIMIT,
            "the concurrency key tenant:5 runs 2 at once, and 2 are (jobs 7, 8)",
        ),
        (
            replace(
                WAITING, waiting_for=WaitingFor.LIMIT, limits=[replace(FULL, kind="queue", target="mail", taken=9)]
            ),
            Why.LIMIT,
            "the queue mail runs 2 at once, and 9 are (jobs 7, 8 …)",
        ),
        (replace(WAITING, waiting_for=WaitingFor.LIMIT, limits=[replace(FULL, taken=1)]), Why.NEXT, "next poll"),
        (
            replace(WAITING, waiting_for=WaitingFor.SHARE, share=Share("tenant:5", 4, 8, 3, 2)),
            Why.SHARE,
            "tenant tenant:5 has 4 of the 8 places",
        ),
        (replace(WAITING, waiting_for=WaitingFor.SHARE, share=Share("", 0, 0, 0)), Why.NEXT, "next poll"),
        (replace(WAITING, waiting_for=WaitingFor.ORDER, before_in_order=4), Why.TURN, "job 4 of its order key"),
        (replace(WAITING, waiting_for=WaitingFor.ORDER, letter_in_order=4), Why.BLOCKED, "replay or discard it"),
        (replace(WAITING, waiting_for=WaitingFor.WORKER, workers_that_know=0), Why.UNKNOWN_TASK, "shop.send"),
    ],
    ids=str,
)
def test_what_stands_in_the_way_is_told(facts, code, words):
    """By a code, and in a sentence."""
    (reason,) = reasons(facts)

    assert reason.code == code
    assert words in reason.text


def test_everything_that_stands_in_the_way_is_told():
    """The nearest first: what would be left when one thing is mended is no surprise."""
    facts = replace(
        WAITING,
        waiting_for=WaitingFor.LIMIT,
        limits=[FULL],
        pauses=[Pausing("task shop.send", "it is broken", "ada")],
        workers_of_queue=0,
    )

    assert [reason.code for reason in reasons(facts)] == [Why.LIMIT, Why.PAUSED, Why.NO_WORKER]


def test_a_running_job_that_was_asked_to_stop_says_so():
    """It has not stopped yet."""
    facts = replace(READY, status=Status.RUNNING, cancel_requested=True)

    assert [reason.code for reason in reasons(facts)] == [Why.CANCELLING, Why.RUNNING]


@pytest.mark.parametrize(
    ("facts", "names"),
    [
        (
            replace(WAITING, waiting_for=WaitingFor.LIMIT, limits=[FULL]),
            [Named("limit", "key:tenant:5"), Named("job", 7), Named("job", 8)],
        ),
        (replace(READY, pauses=[Pausing("queue mail", "a move", "ada", id=3)]), [Named("pause", 3)]),
        (replace(READY, pauses=[Pausing("queue mail", "a move", "ada")]), []),
        (replace(WAITING, waiting_for=WaitingFor.ORDER, before_in_order=4), [Named("job", 4)]),
        (replace(WAITING, waiting_for=WaitingFor.ORDER, letter_in_order=4), [Named("job", 4)]),
        (replace(READY, workers=0), []),
    ],
    ids=str,
)
def test_what_a_reason_names_can_be_found(facts, names):
    """So that a page leads on to it: the jobs that have the slots or the turn, the pause, the limit."""
    (reason,) = reasons(facts)

    assert [*reason.names] == names
