"""What circuit breakers cost the claims: nothing where there are none, and little where a backlog waits for one."""

import re

import pytest

from django_jobqueue import Breaker
from django_jobqueue.models import CircuitBreaker
from django_jobqueue.store import breakers
from django_jobqueue.store.breakers import LOOK_AT, Count
from django_jobqueue.store.control import hold
from django_jobqueue.store.statement import load
from tests.store.conftest import make_worker, worker  # noqa: F401 - fixtures
from tests.store.hands import COMMITS, TASK, Ask, at
from tests.store.test_query_plans import (  # noqa: F401 - fixtures among them
    SCANS_OF_EVERYTHING,
    buffers,
    claim_of,
    fill,
    full_queue,
    never_analysed,
    nodes,
    plan_of,
    scans_of_jobs,
)

pytestmark = COMMITS

STRIPE = Breaker("stripe", trips_on=(ConnectionError,))


@pytest.mark.parametrize("inner", ["ready_in_order", "ready_by_group"])
def test_a_claim_without_breakers_reads_no_page_more(full_queue, worker, inner):  # noqa: F811
    """The condition is a setting of the transaction, compared once."""
    params, asks = claim_of(200).params, load(inner)
    does_not = re.sub(r"AND NOT \w+\.task = ANY \(ARRAY\(\s+SELECT unnest.*?\n\s*\)\)\n", "", asks, flags=re.DOTALL)
    assert "held_tasks" in asks
    assert "held_tasks" not in does_not

    *_, without, cost = [buffers(plan_of(worker.session, Ask(text, params), run=True)) for text in (does_not, asks) * 2]

    assert cost == without


def test_what_workers_ask_of_breakers_reads_no_jobs(full_queue, worker):  # noqa: F811
    """How they stand, what is counted and changed: rows of breakers, by their name."""
    CircuitBreaker.objects.create(name="stripe")
    for statement in (
        breakers.standings({TASK: "stripe"}),
        breakers.count([Count(STRIPE, 0, 1, 1)]),
        breakers.probe("stripe"),
    ):
        plan = plan_of(worker.session, statement)
        assert scans_of_jobs(plan) == set()
        assert not {node["Node Type"] for node in nodes(plan)} & {"Seq Scan", "Hash Join", "Merge Join"}


def test_probes_are_found_before_a_backlog(never_analysed, worker):  # noqa: F811
    """A hundred thousand jobs wait for the breaker: of them the first fifty are looked at, whatever ran before."""
    fill(100_000, "READY")
    # Their leases have run out: what runs is looked for among those that have not.
    fill(5_000, "RUNNING")
    CircuitBreaker.objects.create(name="stripe", state="half_open", changed_at=at(-1))
    claim = claim_of(LOOK_AT, tasks=(TASK,), by_group=True)
    probes = breakers.probes_of(claim, STRIPE, [TASK], at_most=3)
    asked = Ask(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {probes.sql}", probes.params)

    *_, ((answer,),) = worker.session.run(hold(), breakers.probe("stripe"), asked)

    plan = answer[0]["Plan"]
    assert plan["Actual Rows"] == 3
    assert not {node["Node Type"] for node in nodes(plan)} & (SCANS_OF_EVERYTHING - {"Sort"})
    (running,) = [node for node in nodes(plan) if node.get("Index Name") == "jobqueue_job_running"]
    assert "lease_expires_at > " in running["Index Cond"]
    assert buffers(plan) <= 1000
