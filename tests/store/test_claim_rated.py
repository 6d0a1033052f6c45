"""Claims of jobs under a rate: tokens, buckets, and what is claimed beside them."""

from datetime import timedelta

import pytest
from django.db.models import F
from hypothesis import given, settings
from hypothesis import strategies as st

from django_jobqueue.models import Job, Limit, Pause, RateBucket
from django_jobqueue.policy.rate import Rate, parse
from django_jobqueue.store.claim import Serving
from django_jobqueue.store.rates import Rates, TaskRate, rate_lock, sweep_buckets
from django_jobqueue.store.session import connect
from tests.store.hands import COMMITS, RETRY_NOW, TASK, add_job, add_jobs, at, at_once, locked

pytestmark = COMMITS

OTHER = "shop.refund"
MAIL = Rates(queues={"mail": Rate(1, "h", 3)})


def rated(count=1, *, key="", **columns):
    """Add ready jobs of the queue mail that are under a rate."""
    return add_jobs(count, **{"queue_name": "mail", "rate_key": key, "run_after": at(-60), **columns})


def ids(held):
    return [each.id for each in held]


def let_pass(seconds):
    """Have the past lie so much farther back: everything that is compared with now."""
    back = timedelta(seconds=seconds)
    RateBucket.objects.update(refilled_at=F("refilled_at") - back, full_at=F("full_at") - back)
    Job.objects.filter(last_attempted_at__isnull=False).update(last_attempted_at=F("last_attempted_at") - back)


def test_a_bucket_begins_full_and_gives_its_burst(worker):
    """In claim order, and no more; the answer says when there is a token again."""
    jobs = rated(5)

    assert ids(worker.claim_rated(10, MAIL)) == jobs[:3]
    assert worker.claim_rated(10, MAIL) == []
    assert 3590 < worker.next_seconds <= 3600


@pytest.mark.parametrize("by_group", [False, True], ids=["in order", "by group"])
def test_a_plain_claim_does_not_see_them(make_worker, by_group):
    """A worker of older code, or a claim that does not look at rates, leaves them to others."""
    rated(2)
    plain = add_job()

    assert ids(make_worker(by_group=by_group).claim(10)) == [plain]


def test_a_bucket_fills_at_its_pace_and_not_beyond_its_burst(worker):
    """One token for each pace that has passed, what has grown of the next one is kept, and at most the burst."""
    rated(20)
    rates = Rates(queues={"mail": parse("1/m burst 3")})
    worker.claim_rated(10, rates)

    let_pass(90)
    assert len(worker.claim_rated(10, rates)) == 1
    let_pass(30)
    assert len(worker.claim_rated(10, rates)) == 1
    let_pass(86_400)
    assert len(worker.claim_rated(10, rates)) == 3


def test_retries_cost_tokens_too(worker):
    """Each start does, whatever came of the one before, and so does one that is given back."""
    rated()
    (held,) = worker.claim_rated(1, MAIL)
    worker.settle(held.settled_as(RETRY_NOW))
    worker.promote()
    (held,) = worker.claim_rated(1, MAIL)
    worker.give_back(held)
    (held,) = worker.claim_rated(1, MAIL)
    worker.give_back(held)

    assert worker.claim_rated(1, MAIL) == []
    assert RateBucket.objects.get().tokens == 0


def test_a_job_needs_a_token_of_each_of_its_buckets(worker):
    """The queue's, the task's and the key's; each counts what was started in all lanes together."""
    rates = Rates(
        queues={"mail": Rate(1, "h", 4)},
        tasks={TASK: TaskRate(TASK, Rate(1, "h", 2), by_key=True), OTHER: TaskRate(OTHER, Rate(1, "h", 3))},
    )
    ones, twos = rated(3, key="one"), rated(3, key="two")
    others = rated(5, task=OTHER)

    claimed = worker.claim_rated(20, rates, tasks=(TASK, OTHER))

    assert ids(claimed) == [*ones[:2], *twos[:2]]
    Job.objects.filter(pk__in=others).update(queue_name="calls")
    assert ids(worker.claim_rated(20, rates, tasks=(TASK, OTHER))) == others[:3]
    buckets = {(each.kind, each.target): each.tokens for each in RateBucket.objects.all()}
    assert buckets == {("queue", "mail"): 0, ("key", "one"): 0, ("key", "two"): 0, ("task", OTHER): 0}


def test_another_backend_has_buckets_of_its_own(worker):
    """A queue's name means another queue there."""
    rated(3)
    rated(3, backend="reports")

    assert len(worker.claim_rated(10, MAIL)) == 3
    assert len(worker.claim_rated(10, MAIL, backend="reports")) == 3


def test_an_alias_shares_the_bucket_of_its_task(worker):
    """Jobs that are stored under an older name of the task are jobs of the task."""
    rates = Rates(tasks=dict.fromkeys((TASK, "old.name"), TaskRate(TASK, Rate(1, "h", 3))))
    rated(2, task="old.name")
    rated(2)

    assert len(worker.claim_rated(10, rates, tasks=(TASK, "old.name"))) == 3


def test_what_no_code_declares_any_more_is_under_no_rate(worker):
    """Jobs that were marked before are claimed as any."""
    rated(5)

    assert len(worker.claim_rated(10)) == 5


@pytest.mark.parametrize(
    ("kind", "target", "code"),
    [("queue", "mail", MAIL), ("task", TASK, Rates()), ("key", "k", MAIL)],
    ids=["queue", "task", "key"],
)
def test_what_a_person_has_set_stands_for_the_code(worker, kind, target, code):
    """Its pace and its burst, at once."""
    rated(5, key="k")
    Limit.objects.create(
        kind=kind, target=target, rate="1/m", rate_pace_microseconds=60_000_000, rate_burst=1, set_by="ada"
    )

    assert len(worker.claim_rated(10, code)) == 1
    assert worker.next_seconds <= 60


def test_a_limit_of_how_many_at_once_is_no_rate(worker):
    """A row that a person has set for one says nothing of the other."""
    rated(5)
    Limit.objects.create(kind="queue", target="mail", at_once=1, set_by="ada")

    assert len(worker.claim_rated(10, MAIL)) == 3


def test_a_lower_burst_takes_tokens_away_and_a_higher_one_gives_none(worker):
    """A bucket holds what it holds, and no more than it may: to change to and fro makes no token."""
    rated(500)
    high, low = (Rates(queues={"mail": Rate(1, "h", burst)}) for burst in (100, 2))
    worker.claim_rated(50, high)

    assert len(worker.claim_rated(50, low)) == 2
    assert worker.claim_rated(50, high) == []


@pytest.mark.parametrize("by_group", [False, True], ids=["in order", "by group"])
def test_jobs_under_a_rate_and_others_share_one_order(make_worker, by_group):
    """By priority, moment and id; a bucket with tokens puts nobody before, nor behind."""
    worker = make_worker(by_group=by_group)
    second, fourth = rated(1, run_after=at(-40))[0], rated(1, run_after=at(-20))[0]
    third, first = add_job(run_after=at(-30)), add_job(run_after=at(-10), priority=5)

    assert ids(worker.claim_rated(3, MAIL)) == [first, second, third]
    assert ids(worker.claim_rated(3, MAIL)) == [fourth]
    assert RateBucket.objects.get().tokens == 1


def test_an_empty_bucket_holds_up_nobody_else(worker):
    """Neither plain jobs nor those of other buckets, however many wait before them."""
    rated(200, run_after=at(-3600))
    worker.claim_rated(3, MAIL)
    other, plain = rated(1, queue_name="calls")[0], add_job()

    assert ids(worker.claim_rated(10, MAIL)) == [other, plain]


def test_what_a_claim_leaves_it_leaves_here_too(worker):
    """What the worker does not serve or know, what is paused, expired, of newer code, or suspected."""
    rated(1, queue_name="calls")
    rated(1, task=OTHER)
    rated(1, expires_at=at(-1))
    rated(1, version=2)
    rated(1, crash_count=1)
    rated(1, queue_name="letters")
    mine = rated(1)
    Pause.objects.create(kind="queue", target="letters", pattern="letters", reason="", paused_by="ada")

    claimed = worker.claim_rated(10, serving=Serving(("mail", "letters")), suspects=False)

    assert ids(claimed) == mine


def test_a_locked_row_does_not_hold_up_the_next(worker):
    """It costs no token either."""
    first, second, _third = rated(3)
    rates = Rates(queues={"mail": Rate(1, "h", 1)})
    with locked(first):
        assert ids(worker.claim_rated(1, rates)) == [second]


def test_one_transaction_at_a_time_spends(worker):
    """Who is not let takes plain jobs meanwhile, and waits for nobody."""
    jobs, plain = rated(3), add_job()
    with connect("default") as stranger, stranger.transaction():
        stranger.execute(rate_lock().sql, rate_lock().params)
        assert ids(worker.claim_rated(10, MAIL)) == [plain]

    assert ids(worker.claim_rated(10, MAIL)) == jobs


def test_many_at_once_take_no_more_than_there_is(make_worker):
    """Eight workers who ask at the same moment, again and again, start the burst between them."""
    rated(100)
    rates = Rates(queues={"mail": Rate(1, "h", 7)})
    workers = [make_worker() for _ in range(8)]
    for _ in range(5):
        at_once(*(lambda worker=worker: worker.claim_rated(3, rates) for worker in workers))

    assert Job.objects.filter(status="RUNNING").count() == 7


def test_a_clock_that_steps_back_makes_no_token_and_holds_nobody_for_long(worker):
    """By however much: the next token grows from then on."""
    rated(10)
    rates = Rates(queues={"mail": parse("1/m burst 3")})
    worker.claim_rated(2, rates)
    let_pass(-86_400)

    assert len(worker.claim_rated(10, rates)) == 1
    assert worker.claim_rated(10, rates) == []
    assert 59 < worker.next_seconds <= 60
    let_pass(61)
    assert len(worker.claim_rated(10, rates)) == 1


def test_an_empty_bucket_follows_a_clock_that_steps_back(worker):
    """Though there is nothing to spend: otherwise it would wait until the clock is where it was."""
    rated(10)
    rates = Rates(queues={"mail": parse("1/m")})
    worker.claim_rated(1, rates)
    let_pass(-86_400)

    assert worker.claim_rated(1, rates) == []
    let_pass(60)
    assert len(worker.claim_rated(1, rates)) == 1


def test_buckets_that_have_long_been_full_are_swept(worker):
    """They mean what no row means; the others stay."""
    rated(3, key="one")
    rated(1, key="two")
    rates = Rates(tasks={TASK: TaskRate(TASK, parse("1/m burst 3"), by_key=True)})
    worker.claim_rated(10, rates)

    let_pass(150)
    assert worker._run(sweep_buckets())[0] == 0
    assert worker._run(rate_lock(), sweep_buckets())[1] == 1
    assert RateBucket.objects.get().target == "one"


WAITS = st.one_of(st.just(0), st.integers(1, 2_000_000), st.integers(3_000_000, 200_000_000))
STEPS = st.lists(st.tuples(st.integers(1, 5), WAITS, st.sampled_from("ab")), min_size=5, max_size=15)


@pytest.mark.parametrize("rate", ["7/m burst 3", "1/s", "100/m"])
def test_no_window_ever_has_more_starts_than_its_rate(worker, rate):
    """Whatever is asked for when: at most burst + rate x w, counted exactly. What may start is not kept back."""
    rate = parse(rate)
    rates = Rates(queues={"mail": rate}, tasks={TASK: TaskRate(TASK, rate, by_key=True)})

    @settings(max_examples=15)
    @given(STEPS)
    def check(steps):
        Job.objects.all().delete()
        RateBucket.objects.all().delete()
        for number, microseconds, key in steps:
            rated(number, key=key)
            worker.claim_rated(number, rates)
            let_pass(microseconds / 1_000_000)
        starts = [*Job.objects.filter(last_attempted_at__isnull=False).values_list("last_attempted_at", flat=True)]
        assert over_the_rate(starts, rate) == []
        rated(1, key="a")
        let_pass(86_400)
        assert len(worker.claim_rated(1, rates)) == 1

    check()


def over_the_rate(moments, rate):
    """Sweep over every window that begins and ends with a start; name those with more of them than the rate allows."""
    moments = sorted(moments)
    return [
        (first, last)
        for place, first in enumerate(moments)
        for number, last in enumerate(moments[place:], 1)
        if number > rate.most_starts((last - first) // timedelta(microseconds=1))
    ]
