"""Fault: the reply to COMMIT is lost, after the server has carried it out: of a claim, of a settle, of an enqueue."""

import pytest

from tests.chaos.harness import budgets
from tests.chaos.harness.nemesis import healed
from tests.waiting import wait_until

WORDS = {"claim": b"attempt_count = job.attempt_count + 1", "settle": b"SET status = 'SUCCESSFUL'"}


def lose(words):
    """Return the fault that loses one reply."""

    def fault(drill):
        drill.proxy.lose_reply(words)
        wait_until(lambda: not drill.proxy.is_waiting)
        return healed()

    return fault


@pytest.mark.parametrize("verb", ["claim", "settle"])
def test_a_lost_reply_costs_nothing(drill, times, verb):
    """What was claimed without hearing of it is given back; what was settled is not settled twice."""
    with drill(f"lost_reply_{verb}", proxied=True) as stage:
        report = stage.run(lose(WORDS[verb]), times(5), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()
        assert stage.proxy.replies_lost >= times(5)


def test_an_enqueue_whose_reply_is_lost_left_one_job_or_none(drill, times):
    """The producer does not know; the job is there once with its caller's row, or neither is."""
    with drill("lost_reply_enqueue", proxied=True, proxied_producer=True) as stage:
        report = stage.run(lose(b'INSERT INTO "stage_order"'), times(5), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()
        outcomes = [fact["what"] for fact in report.evidence.outcomes.values()]
        assert outcomes.count("indeterminate") >= times(5)
