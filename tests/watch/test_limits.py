"""The limits that hold now."""

import json

from django.db import connection, transaction

from django_jobqueue import task
from django_jobqueue.models import Limit
from django_jobqueue.store.session import PLAN_GUARD
from django_jobqueue.store.statement import Statement
from django_jobqueue.watch import limits
from django_jobqueue.watch.limits import limits_now
from tests.store.hands import COMMITS, TASK, add_job, add_jobs
from tests.watch.test_why import nodes

pytestmark = COMMITS

WAITS = {"status": "WAITING", "waiting_for": "limit"}


@task(task_name="limits.pay", concurrency_key="account:{iban}", concurrency_limit=1, sensitive=("iban",))
def pay(iban, tenant): ...


@task(task_name="limits.sync", concurrency_key="tenant:{tenant}", concurrency_limit=1, sensitive=("iban",))
def sync(iban, tenant): ...


def standings():
    return [
        (row.kind, row.target, row.at_once, row.declared, row.taken, row.waiting) for row in limits_now("default").rows
    ]


def test_without_limits_there_is_nothing_to_tell():
    """A plain job is under none."""
    add_job()

    assert standings() == []
    assert limits_now("default").is_all


def test_a_limit_has_its_slots_and_those_that_wait(worker):
    """Of each kind: what the rows say, how many have a slot, and how many wait for one."""
    for limit in (2, 3):
        add_jobs(3, **WAITS, concurrency_key="k", key_limit=limit, task_limit=9, queue_limit=2)
    worker.admit()
    worker.claim(1)

    assert standings() == [
        ("key", "k", [2, 3], [2, 3], 2, 4),
        ("queue", "default", [2, 2], [2, 2], 2, 4),
        ("task", TASK, [9, 9], [9, 9], 2, 4),
    ]


def test_what_a_person_has_set_stands_for_the_rows():
    """Also while no job is under it."""
    add_job(**WAITS, queue_limit=5)
    Limit.objects.create(kind="queue", target="default", at_once=1, set_by="ada")
    Limit.objects.create(kind="key", target="gone", at_once=0, set_by="ada")

    assert standings() == [("key", "gone", [0, 0], [], 0, 0), ("queue", "default", [1, 1], [5, 5], 0, 1)]


def test_each_backend_has_slots_of_its_own():
    """One number that a person has set holds in each."""
    add_job(**WAITS, queue_limit=5)
    add_job(**WAITS, queue_limit=5, backend="other")
    Limit.objects.create(kind="queue", target="default", at_once=1, set_by="ada")

    assert [(row.backend, row.at_once) for row in limits_now("default").rows] == [
        ("default", [1, 1]), ("other", [1, 1]),
    ]  # fmt: skip


def test_more_than_is_counted_is_a_lower_bound(monkeypatch):
    """Of what has a slot and of what waits; and more lanes than are looked at are told."""
    monkeypatch.setattr(limits, "COUNT_CAP", 20)
    monkeypatch.setattr(limits, "LANE_CAP", 2)
    add_jobs(25, concurrency_key="a", key_limit=100)
    for key in ("a", "b", "c"):
        add_jobs(15, **WAITS, concurrency_key=key, key_limit=100)

    found = limits_now("default")

    assert [(row.target, row.taken, row.waiting) for row in found.rows] == [("a", 20, 10), ("b", 0, 10)]
    assert found.rows[0].lower_bounds == {"taken", "waiting"}
    assert not found.is_all


def test_where_not_all_was_looked_at_nothing_is_said_to_be_missing(monkeypatch):
    """A limit of a key behind many others holds up jobs, though none of them was seen."""
    for key in ("a", "b", "c"):
        add_job(**WAITS, concurrency_key=key, key_limit=9)
    last = Limit.objects.create(kind="key", target="c", at_once=1, set_by="ada")
    gone = Limit.objects.create(kind="key", target="d", at_once=1, set_by="ada")

    assert (limits.hints_for(last, "default"), len(limits.hints_for(gone, "default"))) == ([], 1)
    monkeypatch.setattr(limits, "LANE_CAP", 2)
    assert limits.hints_for(last, "default") == []


def test_a_key_that_may_hold_what_a_task_hides_is_not_shown():
    """One made of other arguments is; one of a task that nobody knows is not; what a person has typed is."""
    iban = "DE0271 0815 4711"
    add_job(**WAITS, task="limits.pay", concurrency_key=f"account:{iban}", key_limit=1)
    add_job(**WAITS, task="limits.sync", concurrency_key="tenant:5", key_limit=1)
    add_job(**WAITS, task="limits.gone", concurrency_key="tenant:6", key_limit=1)
    add_job(**WAITS, task="limits.gone", concurrency_key="tenant:7", key_limit=1)
    Limit.objects.create(kind="key", target="tenant:7", at_once=1, set_by="ada")

    shown = {row.target: row.shown_target for row in limits_now("default").rows}

    assert iban not in str(shown.values())
    assert "tenant:6" not in shown.values()
    assert (shown["tenant:5"], shown["tenant:7"]) == ("tenant:5", "tenant:7")


def test_a_look_walks_through_no_history():
    """Each part of it is led by an index, on a table without statistics too."""
    add_jobs(50, **WAITS, concurrency_key="k", key_limit=1)
    statement = Statement("limit_stats", {"cap": 20, "lane_cap": 5}, list)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(PLAN_GUARD)
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement.sql}", statement.params)
        ((answer,),) = cursor.fetchall()
    (plan,) = answer if isinstance(answer, list) else json.loads(answer)

    scans = [node for node in nodes(plan["Plan"]) if node.get("Relation Name") == "django_jobqueue_job"]
    assert {node["Index Name"] for node in scans} == {"jobqueue_job_slots", "jobqueue_job_limit"}
