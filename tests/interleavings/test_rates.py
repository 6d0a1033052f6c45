"""Two claims and one token: whatever the order of their statements, it is spent once."""

from django_jobqueue.models import Job, RateBucket
from django_jobqueue.policy.rate import Rate
from django_jobqueue.store.rates import Rates, claim_rated, rate_lock
from tests.interleavings import deeds
from tests.interleavings.deeds import ANN, BEN, at_once, ready
from tests.interleavings.orders import Meeting
from tests.store.hands import COMMITS

pytestmark = COMMITS

ONE = Rates(queues={"default": Rate(1, "d", 1)})


def claim(worker):
    """What a worker's transaction does, statement by statement."""

    def deed():
        _, (jobs, _next_seconds) = at_once(rate_lock(), claim_rated(deeds.claim(worker, 2), ONE))
        return jobs

    return deed


def two_claims_and_one_token():
    RateBucket.objects.all().delete()
    ready(3, rate_key="")
    return claim(ANN), claim(BEN)


def test_one_token_is_spent_once(sides):
    """In every order one of the two starts one job; who comes too early finds nothing, and waits for nobody."""
    number = 0
    for run in Meeting(sides, two_claims_and_one_token).all_orders():
        number += 1
        assert sorted(len(answer) for answer in run.answers) == [0, 1], run.order
        assert Job.objects.filter(status="RUNNING").count() == 1
        assert RateBucket.objects.get().tokens == 0

    assert number > 5
