"""Two claims and one token: whatever the order of their statements, it is spent once."""

from django_jobqueue.models import Job, RateBucket
from django_jobqueue.policy.rate import Rate
from django_jobqueue.store import claim as claim_verb
from django_jobqueue.store.claim import Serving
from django_jobqueue.store.rates import Rates, claim_rated, rate_lock
from tests.interleavings.deeds import ANN, BEN, at_once, ready
from tests.interleavings.orders import Meeting
from tests.store.hands import COMMITS, TASK

pytestmark = COMMITS

ONE = Rates(queues={"default": Rate(1, "d", 1)})


def claim(worker, task):
    """What a worker's transaction does, statement by statement."""
    words = {"backend": "default", "serving": Serving(), "limit": 2, "lease_seconds": 3600}
    plain = claim_verb.claim(**words, tasks=(task,), token=worker, worker_id=worker)
    return lambda: at_once(rate_lock(), claim_rated(plain, ONE))[1].jobs


def two_claims_and_one_token():
    """Of a queue in which each of the two knows another task, so that no row that one has locked stops the other."""
    RateBucket.objects.all().delete()
    ready(2, rate_key="")
    ready(2, rate_key="", task="shop.refund")
    return claim(ANN, TASK), claim(BEN, "shop.refund")


def test_one_token_is_spent_once(sides):
    """In every order one of the two starts one job; who comes too early finds nothing, and waits for nobody."""
    number = 0
    for run in Meeting(sides, two_claims_and_one_token).all_orders():
        number += 1
        assert sorted(len(answer) for answer in run.answers) == [0, 1], run.order
        assert Job.objects.filter(status="RUNNING").count() == 1
        assert RateBucket.objects.get().tokens == 0

    assert number > 5
