"""The plans of the worker's verbs: on a queue that was just filled, and beside a long history."""

import re
from uuid import uuid4

import pytest
from django.db import connection

from django_jobqueue import operations
from django_jobqueue.models import Pause
from django_jobqueue.policy.lifecycle import DUE_BY_TIME
from django_jobqueue.store.claim import Serving, claim
from django_jobqueue.store.control import hold
from django_jobqueue.store.give_back import give_back
from django_jobqueue.store.promote import promote
from django_jobqueue.store.renew import Lease, renew
from django_jobqueue.store.rescue import recover, rescue
from django_jobqueue.store.settle import Settlement, settle
from django_jobqueue.store.statement import load
from tests.store.hands import BURY, COMMITS, FINISH, RETRY, TASK, Ask

pytestmark = COMMITS

FILL = """
INSERT INTO django_jobqueue_job (
    task, queue_name, status, waiting_for, run_after, attempt_count, finished_at, result, worker_id, lease_token,
    lease_expires_at
)
SELECT
    %(task)s, %(queue_name)s, %(status)s, %(waiting_for)s,
    statement_timestamp() + make_interval(secs => %(due_in)s + n * 0.001),
    CASE WHEN %(status)s IN ('READY', 'WAITING') THEN 0 ELSE 1 END,
    CASE WHEN %(status)s = 'SUCCESSFUL' THEN statement_timestamp() END,
    CASE WHEN %(status)s = 'SUCCESSFUL' THEN 'null'::jsonb END,
    CASE WHEN %(status)s = 'RUNNING' THEN md5((n / 100)::text)::uuid END,
    CASE WHEN %(status)s = 'RUNNING' THEN %(token)s::uuid END,
    CASE WHEN %(status)s = 'RUNNING' THEN statement_timestamp() - interval '1 minute' END
FROM generate_series(1, %(count)s) AS n
"""

TOKEN = uuid4()
SCANS_OF_EVERYTHING = {"Seq Scan", "Bitmap Heap Scan", "Bitmap Index Scan", "Sort", "Hash Join", "Merge Join"}


def fill(count, status, *, waiting_for="", due_in=-3600.0, queue_name="default"):
    with connection.cursor() as cursor:
        columns = {"task": TASK, "queue_name": queue_name, "status": status, "waiting_for": waiting_for}
        columns["due_in"] = due_in
        cursor.execute(FILL, {**columns, "count": count, "token": str(TOKEN)})


@pytest.fixture
def never_analysed(db):
    """A table of jobs without statistics, as it is until autovacuum has come by."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE django_jobqueue_job SET (autovacuum_enabled = off)")
        cursor.execute("DELETE FROM pg_statistic WHERE starelid = 'django_jobqueue_job'::regclass")
        # It may have come by already, in a test before.
        cursor.execute("UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE oid = 'django_jobqueue_job'::regclass")
        cursor.execute("SELECT reltuples FROM pg_class WHERE oid = 'django_jobqueue_job'::regclass")
        assert cursor.fetchone() == (-1,)
    yield
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE django_jobqueue_job RESET (autovacuum_enabled)")


@pytest.fixture
def full_queue(never_analysed):
    """A queue that was just filled with every kind of job, most of them ready."""
    fill(50_000, "READY")
    fill(5_000, "RUNNING")
    fill(5_000, "WAITING", waiting_for="retry", due_in=-60.0)
    fill(5_000, "SUCCESSFUL")


def claim_of(limit, *, tasks=(TASK, "other.task"), served=(), by_group=False):
    return claim(
        backend="default",
        tasks=tasks,
        serving=Serving(served),
        limit=limit,
        token=uuid4(),
        worker_id=uuid4(),
        lease_seconds=30,
        by_group=by_group,
    )


def leases(count=100):
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM django_jobqueue_job WHERE status = 'RUNNING' ORDER BY id LIMIT %s", [count])
        return [Lease(job_id, TOKEN) for (job_id,) in cursor.fetchall()]


def settlement_of(decision):
    (statement,) = settle([Settlement(*lease, decision, task=TASK) for lease in leases()])
    return statement


def plan_of(session, statement, *, run=False):
    """Explain a statement as the session would run it."""
    options = "ANALYZE, BUFFERS, FORMAT JSON" if run else "FORMAT JSON"
    ((answer,),) = session.run(Ask(f"EXPLAIN ({options}) {statement.sql}", statement.params))[0]
    return answer[0]["Plan"]


def nodes(plan):
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def scans_of_jobs(plan):
    """Name the ways in which a plan reads the table of jobs: the kind of scan, and its index."""
    return {
        (node["Node Type"], node.get("Index Name"))
        for node in nodes(plan)
        if node.get("Relation Name") == "django_jobqueue_job" and "Scan" in node["Node Type"]
    }


PRIMARY_KEY = ("Index Scan", "django_jobqueue_job_pkey")


def test_claim_reads_the_ready_jobs_in_order(full_queue, worker):
    """Without statistics, a claim walks the index in claim order: it sorts nothing and reads no more than it takes."""
    plan = plan_of(worker.session, claim_of(100))

    assert not {node["Node Type"] for node in nodes(plan)} & SCANS_OF_EVERYTHING
    assert scans_of_jobs(plan) == {("Index Scan", "jobqueue_job_ready"), PRIMARY_KEY}


@pytest.mark.parametrize("served", [(), ("mail",)], ids=["all_queues", "one_queue"])
def test_claim_by_group_reads_the_groups(full_queue, worker, served):
    """Without statistics, a claim by group goes by the index of groups alone, for their names and for their jobs."""
    plan = plan_of(worker.session, claim_of(100, served=served, by_group=True))

    assert {index for _, index in scans_of_jobs(plan)} == {"jobqueue_job_group", PRIMARY_KEY[1]}
    assert not {node["Node Type"] for node in nodes(plan)} & (SCANS_OF_EVERYTHING - {"Sort"})


def buffers(plan):
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


@pytest.mark.parametrize(
    "mine", [{"served": ("mail",)}, {"tasks": ("other.task", "one.more")}], ids=["another_queue", "another_task"]
)
def test_jobs_of_others_cost_a_claim_by_group_nothing(full_queue, worker, mine):
    """A worker of another queue, or of other tasks, reads a few pages, and not the jobs before its own."""
    in_order = buffers(plan_of(worker.session, claim_of(10, **mine), run=True))
    by_group = buffers(plan_of(worker.session, claim_of(10, by_group=True, **mine), run=True))

    assert in_order > 1000
    assert by_group < 20


@pytest.fixture
def paused_backlog(never_analysed):
    """A hundred thousand ready jobs of a queue that is paused, and behind them a thousand of another."""
    fill(100_000, "READY", queue_name="mail")
    fill(1_000, "READY", due_in=-10.0)
    operations.pause("mail", by="ada", reason="the provider is down")


def test_a_paused_backlog_costs_a_claim_by_group_nothing(paused_backlog, worker):
    """A claim by group reads a few pages for each job that it takes, and nothing of what is paused before them."""
    in_order = plan_of(worker.session, claim_of(10), run=True)
    by_group = plan_of(worker.session, claim_of(10, by_group=True), run=True)

    assert in_order["Actual Rows"] == by_group["Actual Rows"] == 10
    assert buffers(in_order) > 1000
    assert buffers(by_group) < 200


@pytest.mark.parametrize("by_group", [False, True], ids=["in order", "by group"])
def test_pauses_of_others_cost_a_claim_nothing(full_queue, worker, by_group):
    """Beside a hundred pauses, the claim of two hundred jobs reads some pages of those, once, and no more."""
    alone = buffers(plan_of(worker.session, claim_of(200, by_group=by_group), run=True))
    Pause.objects.bulk_create(
        Pause(kind=kind, target=f"tenant-{n}", pattern=f"tenant-{n}", reason="x", paused_by="ada")
        for kind in Pause.Kind
        for n in range(50)
    )

    beside_pauses = buffers(plan_of(worker.session, claim_of(200, by_group=by_group), run=True))

    assert beside_pauses <= 1.05 * alone + 10


def test_the_condition_costs_a_claim_four_pages(full_queue, worker):
    """A claim that asks what is paused, where nothing is, reads four pages more than one that does not ask."""
    params, asks = claim_of(200).params, load("ready_in_order")
    does_not = re.sub(r"AND NOT ready\.\w+ LIKE ANY \(ARRAY\(\s+SELECT.*?\n\s*\)\)\n", "", asks, flags=re.DOTALL)
    assert does_not.count("django_jobqueue_pause") == 0 < asks.count("django_jobqueue_pause")

    # Each once before, so that neither is the first to read a row that was just written.
    *_, without, cost = [buffers(plan_of(worker.session, Ask(text, params), run=True)) for text in (does_not, asks) * 2]

    assert cost <= without + 4


def test_the_gate_reads_no_plain_jobs(full_queue, worker):
    """What every claim asks before it is answered from the lock, a look at the pauses, and a page for rates."""
    plan = plan_of(worker.session, hold(), run=True)

    assert {index for _, index in scans_of_jobs(plan)} == {"jobqueue_job_rated"}
    assert buffers(plan) <= 10
    assert buffers(plan_of(worker.session, hold(), run=True)) <= 4


def test_without_the_guard_the_plan_is_bad(full_queue):
    """What the plan guard is for: left alone, the planner reads every ready job for each claim."""
    statement = claim_of(100)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement.sql}", statement.params)
        (plan,) = cursor.fetchone()[0]

    assert {node["Node Type"] for node in nodes(plan["Plan"])} & SCANS_OF_EVERYTHING


@pytest.mark.parametrize("decision", [FINISH, RETRY, BURY], ids=["finish", "retry", "bury"])
def test_settle_finds_jobs_by_their_primary_key(full_queue, worker, decision):
    """A settle looks each job up by its id; it never walks the running rows, most of whose entries are dead."""
    plan = plan_of(worker.session, settlement_of(decision))

    assert scans_of_jobs(plan) == {PRIMARY_KEY}
    assert not {node["Node Type"] for node in nodes(plan)} & SCANS_OF_EVERYTHING


def test_give_back_finds_jobs_by_their_primary_key(full_queue, worker):
    """What is given back is looked up by its id."""
    assert scans_of_jobs(plan_of(worker.session, give_back(leases()))) == {PRIMARY_KEY}


def test_renew_finds_jobs_by_their_primary_key(full_queue, worker):
    """A renewal looks each job up by its id: no scan of the primary key is without a condition."""
    plan = plan_of(worker.session, renew(leases(), lease_seconds=30))

    assert scans_of_jobs(plan) == {PRIMARY_KEY}
    assert all("id = " in node["Index Cond"] for node in nodes(plan) if node.get("Index Name") == PRIMARY_KEY[1])


def test_promote_reads_what_falls_due(full_queue, worker):
    """A promotion walks the index of due jobs from its low end, for those to move and for the next moment."""
    scans = scans_of_jobs(plan_of(worker.session, promote()))

    assert {index for _, index in scans} == {"jobqueue_job_due", "django_jobqueue_job_pkey"}
    assert {kind for kind, _ in scans} <= {"Index Scan", "Index Only Scan"}


def test_rescue_reads_running_jobs_only(full_queue, worker):
    """A look for expired leases reads the index of running jobs."""
    statement = rescue(backend="default", held_tokens=[uuid4()], token=uuid4(), lease_seconds=30)

    plan = plan_of(worker.session, statement)

    assert scans_of_jobs(plan) == {("Index Scan", "jobqueue_job_running"), PRIMARY_KEY}
    # Twice: those whose lease has ended, from the low end of the index, and those that have none.
    assert "lease_expires_at" in "".join(str(node.get("Index Cond")) for node in nodes(plan))


def test_recover_reads_running_jobs_only(full_queue, worker):
    """A worker that comes back looks for its own rows among the running ones."""
    statement = recover(worker_id=uuid4(), lost_tokens=[uuid4()], token=uuid4(), lease_seconds=30)

    assert scans_of_jobs(plan_of(worker.session, statement)) == {("Index Scan", "jobqueue_job_running"), PRIMARY_KEY}


def buffers_per_job(session, limit=200):
    plan = plan_of(session, claim_of(limit), run=True)
    assert plan["Actual Rows"] == limit
    return buffers(plan) / limit


def test_a_long_history_costs_a_claim_nothing(never_analysed, worker):
    """Beside a hundred thousand finished jobs and as many future ones, a claim reads as few pages as alone."""
    fill(1_000, "READY")
    alone = buffers_per_job(worker.session)
    fill(100_000, "SUCCESSFUL")
    fill(100_000, "WAITING", waiting_for=DUE_BY_TIME[0], due_in=86_400.0)

    beside_history = buffers_per_job(worker.session)

    assert beside_history <= 1.2 * alone
    assert beside_history < 15
