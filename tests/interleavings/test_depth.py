"""Whoever meets whom under a depth limit, in whatever order: nobody makes a credit, and nobody waits for another."""

import pytest
from django.db import transaction
from django.db.models import Sum

from django_jobqueue.exceptions import QueueFull
from django_jobqueue.models import Credit, Job
from django_jobqueue.store import depth
from django_jobqueue.store.bounded import enqueue_bounded
from django_jobqueue.store.depth import Bound
from django_jobqueue.store.enqueue import NewJob
from tests.interleavings import deeds
from tests.interleavings.deeds import ANN, OWNER, cancel, do, due
from tests.interleavings.orders import Meeting
from tests.interleavings.stepping import WRITES_OR_LOCKS
from tests.model.mutants import sql
from tests.store.hands import COMMITS, RELEASE, TASK

pytestmark = COMMITS


def ask(max_depth, count=1, *, rolls_back=False):
    """Enqueue in a transaction of the caller's; answer with how many are there for it."""
    job = NewJob(TASK, bounds=(Bound("queue", "default", "default", max_depth),))

    def deed():
        try:
            with transaction.atomic():
                enqueue_bounded([job] * count, using="default")
                if rolls_back:
                    raise RuntimeError
        except (QueueFull, RuntimeError):
            return 0
        return count

    return deed


def recount():
    return depth.recount("queue", "default")


def claim(worker=ANN):
    statement = deeds.claim(worker)
    return type(statement)("claim", statement.params, statement.read, statement.inner, "give_credits")


def full(max_depth, asked=None):
    """Fill the queue, and write every slice."""
    ask(max_depth, asked or max_depth)()
    for _ in range(2):
        deeds.at_once(recount())


def lose(count):
    """Have credits lost, as a worker leaves them that does not know of the limit."""
    for _ in range(count):
        deeds.at_once(deeds.claim(OWNER))


def enqueue_enqueue_at_the_very_first():
    return ask(1), ask(1)


def enqueue_enqueue_of_the_last_room():
    ask(2)()
    return ask(2), ask(2)


def enqueue_enqueue_of_the_one_credit():
    full(1)
    deeds.at_once(claim(OWNER))
    return ask(1), ask(1)


def enqueue_many_enqueue():
    ask(4)()
    return ask(4, 3), ask(4)


def enqueue_rolled_back_enqueue():
    return ask(2, 2, rolls_back=True), ask(2)


def enqueue_recount():
    full(4)
    lose(2)
    return ask(4), do(recount())


def recount_recount():
    full(4)
    lose(2)
    return do(recount()), do(recount())


def enqueue_claim():
    full(2)
    return ask(2), do(claim())


def claim_recount():
    full(4)
    lose(1)
    return do(claim()), do(recount())


def enqueue_promote():
    full(3, 1)
    due(queue_credit=0)
    return ask(3, 2), do(deeds.promote())


def promote_recount():
    full(3, 1)
    due(queue_credit=0)
    return do(deeds.promote()), do(recount())


def enqueue_release():
    full(1)
    deeds.at_once(claim(OWNER))
    return ask(1), do(*deeds.settle(RELEASE, Job.objects.get().pk))


def claim_paid_recount():
    full(3, 1)
    due(queue_credit=0)
    deeds.at_once(deeds.promote())
    return do(claim()), do(recount())


def enqueue_cancel():
    full(2)
    return ask(2), cancel(Job.objects.first().pk)


def cancel_recount():
    full(4)
    lose(1)
    return cancel(Job.objects.filter(status="READY").first().pk), do(recount())


PAIRS = {
    enqueue_enqueue_at_the_very_first: 1,
    enqueue_enqueue_of_the_last_room: 2,
    enqueue_enqueue_of_the_one_credit: 1,
    enqueue_many_enqueue: 4,
    enqueue_rolled_back_enqueue: 2,
    enqueue_recount: 4,
    recount_recount: 4,
    enqueue_claim: 2,
    claim_recount: 4,
    enqueue_promote: 3,
    promote_recount: 3,
    enqueue_release: 1,
    claim_paid_recount: 3,
    enqueue_cancel: 2,
    cancel_recount: 4,
}
"""With the limit of each."""

LONG = {
    enqueue_enqueue_at_the_very_first,
    enqueue_enqueue_of_the_last_room,
    enqueue_many_enqueue,
    enqueue_rolled_back_enqueue,
}
"""Two who write slices, each in several steps: hundreds of orders, which are walked through when asked for."""


def check(sides, pair):
    """Walk through all orders; answer with how many there are."""
    max_depth, number = PAIRS[pair], 0
    shares = depth.shares(max_depth)
    for side in sides.values():
        side.steps = WRITES_OR_LOCKS
    for run in Meeting(sides, pair).all_orders():
        number += 1
        written = {*Credit.objects.values_list("slot", flat=True)}
        room = Credit.objects.aggregate(sum=Sum("amount"))["sum"] or 0
        room += sum(share for slot, share in enumerate(shares) if slot not in written)
        held = Job.objects.filter(status__in=["READY", "WAITING"], queue_credit=1).count()
        assert room + held <= max_depth, f"{run.order}: {room} left and {held} held of {max_depth}; {run.answers}"
        assert not any(isinstance(answer, str) and "(" in answer for answer in run.answers), (run.order, run.answers)
    return number


@pytest.mark.parametrize(
    "pair",
    [pytest.param(pair, marks=[pytest.mark.every_order] * (pair in LONG)) for pair in PAIRS],
    ids=lambda pair: pair.__name__,
)
def test_no_order_makes_a_credit(sides, counted, pair):
    """What is left and what jobs hold is never more than the limit, and nobody ends in an error or a circle."""
    counted[pair.__name__] = check(sides, pair)

    assert counted[pair.__name__] > 1


def test_two_who_count_at_once_are_noticed(sides):
    """Without the slice that both need, some order gives the same lost credit out twice."""
    mutant = sql("two count at once", ("recount", "AND mine.slot = 0", ""))

    with mutant.make(), pytest.raises(AssertionError, match="held of 4"):
        check(sides, recount_recount)


def test_a_late_give_back_is_noticed(sides):
    """Where a claim and what it gives back are two transactions, a count in between gives it back as well."""

    def claim_then_give_recount():
        full(4)
        lose(1)

        def deed():
            deeds.at_once(deeds.claim(ANN))
            depth.give_back("queue", "default", "default", 1, using="default")

        return deed, do(recount())

    PAIRS[claim_then_give_recount] = 4
    try:
        with pytest.raises(AssertionError, match="held of 4"):
            check(sides, claim_then_give_recount)
    finally:
        del PAIRS[claim_then_give_recount]
