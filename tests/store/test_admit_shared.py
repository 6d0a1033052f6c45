"""Places: of a queue that tenants share as many jobs are ready as can start, and the next place goes by shares."""

from collections import Counter

import pytest

from django_jobqueue.models import Job, Pause
from django_jobqueue.store.claim import Serving
from tests.store.hands import COMMITS, FINISH, TASK, add_job, add_jobs, at

pytestmark = COMMITS


def waiting(count, tenant, *, weight=1, since=-60, **columns):
    """Add jobs of a tenant that wait for a place, all due since then."""
    return add_jobs(
        count,
        status="WAITING",
        waiting_for="share",
        concurrency_key=tenant,
        share_weight=weight,
        run_after=at(since),
        **columns,
    )


def tenants(held):
    """Count jobs by tenant."""
    keys = Job.objects.filter(pk__in=[job.id for job in held]).values_list("concurrency_key", flat=True)
    return Counter(keys)


def test_alone_a_tenant_has_every_place(worker):
    """It is work-conserving, and what it gives are the first jobs in claim order."""
    ids = waiting(10, "big")

    assert [job.id for job in worker.share_out(4)] == ids[:4]
    assert Job.objects.filter(status="READY").count() == 0


def test_the_next_places_go_to_who_has_less_than_its_share(worker):
    """A tenant that comes when all places are taken has the next ones that are free, up to its share."""
    waiting(50, "big", since=-3600)
    held = worker.share_out(8)
    small = waiting(10, "small", since=-1)

    for turn in range(4):
        worker.settle(held.pop(0).settled_as(FINISH))
        (job,) = worker.share_out(1)
        held.append(job)
        assert job.id == small[turn]
    for _ in range(4):
        worker.settle(held.pop(0).settled_as(FINISH))
        held += worker.share_out(1)
    assert tenants(held) == {"big": 4, "small": 4}


def test_shares_are_in_proportion_to_the_weights(worker):
    """Of eight places a tenant of weight three has six."""
    waiting(20, "three", weight=3)
    waiting(20, "one")

    assert tenants(worker.share_out(8)) == {"three": 6, "one": 2}


def test_with_one_place_each_draw_is_by_weight(worker):
    """With fewer places than tenants nobody is left out, and the weights are the odds."""
    waiting(200, "old", since=-3600)
    waiting(200, "three", weight=3)
    waiting(200, "one")
    drawn = Counter()
    for _ in range(200):
        (job,) = worker.share_out(1)
        drawn += tenants([job])
        worker.settle(job.settled_as(FINISH))

    # Each bound is farther away than five standard deviations.
    assert 80 <= drawn["three"] <= 156
    assert 12 <= drawn["old"] <= 74
    assert 12 <= drawn["one"] <= 74


def test_what_a_tenant_leaves_is_there_for_the_others(worker):
    """A tenant with few jobs takes only these; the others share the rest."""
    waiting(1, "few")
    waiting(50, "many")
    held = worker.share_out(6) + worker.share_out(6)

    assert tenants(held[:6])["few"] == 1
    assert len(held) == 12


def test_priority_orders_within_a_tenant(worker):
    """Among tenants the share rules, whatever their priorities."""
    waiting(5, "loud", priority=9)
    low, *_ = waiting(5, "quiet")
    high = waiting(1, "quiet", priority=5)
    held = worker.share_out(2)

    assert tenants(held) == {"loud": 1, "quiet": 1}
    assert {job.id for job in held} & {low, *high} == {*high}


def test_jobs_without_a_key_are_one_tenant(worker):
    """They share as one among the others."""
    waiting(20, None)
    waiting(20, "a")

    assert tenants(worker.share_out(4)) == {None: 2, "a": 2}


@pytest.mark.parametrize(
    ("limits", "at_once"),
    [({"key_limit": 1}, 2), ({"task_limit": 3}, 3), ({"queue_limit": 3}, 3)],
    ids=["key", "task", "queue"],
)
def test_limits_hold_as_well(worker, limits, at_once):
    """A job that is shared out is within its other limits too."""
    waiting(10, "a", **limits)
    waiting(10, "b", **limits)
    held = worker.share_out(8) + worker.share_out(8)

    assert len(held) == at_once
    worker.settle(held[0].settled_as(FINISH))
    assert len(worker.share_out(8)) == 1


def test_what_a_queue_runs_at_once_is_what_its_tenants_share(worker):
    """Of a limit of four each of two has two, however many a worker wants."""
    waiting(10, "a", queue_limit=4)
    waiting(10, "b", queue_limit=4)

    assert tenants(worker.share_out(50)) == {"a": 2, "b": 2}


def test_a_tenant_whose_limit_is_full_leaves_its_share_to_the_others(worker):
    """No place is kept for who cannot use it."""
    waiting(10, "full", key_limit=1)
    waiting(10, "free")

    assert tenants(worker.share_out(8) + worker.share_out(1)) == {"full": 1, "free": 8}


def test_turns_come_before_places(worker):
    """Of an order key one job at a time asks for a place."""
    for _ in range(3):
        add_job(status="WAITING", waiting_for="order", order_key="o", share_weight=1, run_after=at(-60))

    assert len(worker.share_out(5)) == 1
    assert Job.objects.filter(waiting_for="order").count() == 2


def test_what_is_ready_and_claimed_by_nobody_here_takes_no_place(worker):
    """Jobs of another queue, of a task that is not known here, or paused: they keep nobody from starting."""
    add_jobs(5, queue_name="other", share_weight=1, concurrency_key="a")
    add_jobs(5, task="shop.unknown", share_weight=1, concurrency_key="a")
    add_jobs(5, task="shop.paused", share_weight=1, concurrency_key="a")
    Pause.objects.create(kind="task", pattern="shop.paused", paused_by="ada", reason="")
    waiting(5, "b")
    held = worker.share_out(3, tasks=(TASK, "shop.paused"), serving=Serving(("default",)))

    assert tenants(held) == {"b": 3}


def test_a_worker_gives_places_only_where_it_can_start(worker):
    """What it does not serve, and what is paused, goes on waiting and costs nobody a place."""
    elsewhere = waiting(3, "a", queue_name="other")
    paused = waiting(3, "a", task="shop.paused")
    Pause.objects.create(kind="task", pattern="shop.paused", paused_by="ada", reason="")
    mine = waiting(3, "b")
    held = worker.share_out(9, tasks=(TASK, "shop.paused"), serving=Serving(("default",)))

    assert {job.id for job in held} == {*mine}
    assert Job.objects.filter(pk__in=[*elsewhere, *paused], status="WAITING").count() == 6


def test_what_no_living_worker_knows_is_let_through(worker):
    """So that it is parked, and its clock runs; it takes no place."""
    waiting(2, "a", task="shop.unknown")
    mine = waiting(3, "a")

    assert {job.id for job in worker.share_out(2)} == {*mine[:2]}
    assert Job.objects.filter(task="shop.unknown", status="READY").count() == 1


def test_who_comes_back_waits_for_a_place_again(worker):
    """A job that is put back unstarted has no place any more."""
    waiting(1, "a")
    (job,) = worker.share_out(1)
    worker.give_back(job)

    assert Job.objects.get(pk=job.id).waiting_for == "share"
    assert [again.id for again in worker.share_out(1)] == [job.id]
