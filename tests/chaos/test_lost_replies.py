"""Fault: the reply to COMMIT is lost, after the server has carried it out: of each verb of a worker."""

import re
import time

import pytest

from tests.chaos.conftest import in_full, only_in_full
from tests.chaos.harness import budgets
from tests.chaos.harness.checker import Allowed
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.process import is_running
from tests.chaos.harness.proxy import Order
from tests.waiting import wait_until


def reply_to(words, replied=b""):
    """Order the reply to a transaction with these words, if it fits a pattern."""
    return Order(re.escape(words), replied)


A_JOB = rb"tests\.chaos\.tasks"
CLAIM = [reply_to(b"attempt_count = job.attempt_count + 1", A_JOB)]
RECOVER = reply_to(b"AND mine.lease_token = ANY", A_JOB)
# A row of two values, of which the first is the number of jobs.
PROMOTE = reply_to(b"WITH promoted AS", rb"D\x00\x00\x00.\x00\x02\x00\x00\x00.[1-9]")
FAILING = {"fast": 0.5, "slow": 0.1, "fails": 0.3, "dies": 0.1}
VERBS = {
    "claim": (CLAIM, None),
    "finish": ([reply_to(b"SET status = 'SUCCESSFUL'")], None),
    "settle": ([reply_to(b"failure_count = job.failure_count + mine.charged::int")], FAILING),
    "renew": ([reply_to(b"FOR NO KEY UPDATE OF job SKIP LOCKED")], {"fast": 0.6, "slow": 0.3, "long": 0.1}),
    "promote": ([PROMOTE], FAILING),
    # What was claimed in vain is found, which may be lost too, and is given back, which may be.
    "recover": ([*CLAIM, RECOVER], None),
    "give_back": ([*CLAIM, reply_to(b"attempt_count = job.attempt_count - 1")], None),
}
GIVEN_BACK = "the reply to its claim was lost; it is given back"


def lose(*orders):
    """Return the fault that loses a reply, or one after the other."""

    def fault(drill):
        before = drill.proxy.replies_lost
        drill.proxy.lose_replies(*orders)
        wait_until(lambda: not drill.proxy.is_waiting)
        return healed(drill.proxy.replies_lost - before)

    return fault


@pytest.mark.parametrize("verb", [verb if verb in ("claim", "settle") else in_full(verb) for verb in VERBS])
def test_a_lost_reply_costs_nothing(drill, times, verb):
    """What was claimed without hearing of it is given back; what was written is not written twice."""
    orders, mix = VERBS[verb]
    with drill(f"lost_reply_{verb}", proxied=True, mix=mix) as stage:
        report = stage.run(lose(*orders), times(5), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()
        if orders[0] is CLAIM[0]:
            logs = "".join(worker.log_path.read_text() for worker in stage.workers)
            assert logs.count(GIVEN_BACK) >= times(5)


def lose_a_rescue(drill):
    """Kill a keeper, and lose the reply that says which of its jobs were taken over."""
    worker = drill.dice.choice(drill.workers)
    # One that has just come in another's place may not have said so yet.
    ((dead,),) = wait_until(lambda: drill.ask("SELECT id FROM django_jobqueue_worker WHERE pid = %s", [worker.pid]))
    held = "SELECT count(*) FROM django_jobqueue_job WHERE status = 'RUNNING' AND worker_id = %s"
    before = drill.proxy.replies_lost
    wait_until(lambda: drill.ask(held, [dead])[0][0])
    worker.kill()
    wait_until(lambda: not any(map(is_running, worker.seen)), seconds=10)
    if drill.ask(held, [dead])[0][0]:
        # The row of a rescued job names the worker that lost it, as a value of 36 bytes.
        rescued = Order(re.escape(b"expired.lease_expires_at <="), re.escape(b"\0\0\0\x24" + str(dead).encode()))
        drill.proxy.lose_replies(rescued)
        # What an atomic task had sent before the kill may be committed after it: then there is nothing to rescue.
        wait_until(lambda: not drill.proxy.is_waiting or not drill.ask(held, [dead])[0][0])
        drill.proxy.lose_replies()
    drill.replace(worker)
    drill.claims_again(time.time())
    return healed(drill.proxy.replies_lost - before)


@only_in_full
def test_a_rescue_whose_reply_is_lost_is_made_again(drill, times):
    """Nobody knows of it, so the lease that it took runs out too; the attempt is closed once, as the lost worker's."""
    mix = {"fast": 0.5, "slow": 0.3, "long": 0.2}
    with drill("lost_reply_rescue", proxied=True, workers=3, rate=15, mix=mix) as stage:
        report = stage.run(lose_a_rescue, times(5), allowed=Allowed(charges=True, deaths=True))

        assert report.is_good, report.details()
