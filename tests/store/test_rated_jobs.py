"""Jobs that wait for tokens, many of them: what they cost the claims of others, and whoever looks at their buckets."""

import pytest
from django.db import connection

from django_jobqueue.models import Job, RateBucket
from django_jobqueue.policy.rate import parse
from django_jobqueue.store.claim import Serving
from django_jobqueue.store.control import hold
from django_jobqueue.store.park import park
from django_jobqueue.store.rates import Rates, TaskRate, claim_rated, rate_lock
from tests.store.conftest import make_worker, worker  # noqa: F401 - fixtures
from tests.store.hands import COMMITS, TASK, Ask, add_jobs, at
from tests.store.test_query_plans import (
    SCANS_OF_EVERYTHING,
    buffers,
    claim_of,
    fill,
    never_analysed,  # noqa: F401 - a fixture
    nodes,
    plan_of,
    scans_of_jobs,
)

pytestmark = COMMITS

EMPTY = Rates(tasks={TASK: TaskRate(TASK, parse("1/d"), by_key=True)})


def wait_for_tokens(count, keys=1, *, status="READY"):
    """Add jobs behind so many keys, each of which has an empty bucket; or such jobs in another state."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {Job._meta.db_table} (task, status, rate_key, run_after)"
            " SELECT %s, %s, 'k' || n %% %s, now() - interval '1 h' FROM generate_series(1, %s) AS n",
            [TASK, status, keys, count],
        )
        cursor.execute(
            f"INSERT INTO {RateBucket._meta.db_table} (backend, kind, target, tokens, refilled_at, full_at)"
            " SELECT 'default', 'key', 'k' || n, 0, now(), now() + interval '1 d' FROM generate_series(0, %s - 1) AS n"
            " ON CONFLICT DO NOTHING",
            [keys],
        )


def look(session, rates=EMPTY, *, by_group=False, limit=100):
    """Explain, and run, a claim by rates."""
    claim = claim_rated(claim_of(limit, tasks=(TASK,), by_group=by_group), rates)
    explain = Ask(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {claim.sql}", claim.params)
    ((answer,),) = session.run(hold(), rate_lock(), explain)[2]
    return answer[0]


@pytest.mark.parametrize("keys", [1, 1000], ids=["one bucket", "many"])
@pytest.mark.parametrize("by_group", [False, True], ids=["in order", "by group"])
def test_waiting_for_tokens_costs_the_claims_of_others_nothing(worker, by_group, keys):  # noqa: F811
    """A hundred thousand jobs behind empty buckets are in no index that a plain claim reads."""
    # More that have ended, so that the primary key is as deep before as after.
    wait_for_tokens(300_000, status="CANCELLED")
    add_jobs(1000, run_after=at(-60))

    def pages():
        return buffers(plan_of(worker.session, claim_of(100, by_group=by_group), run=True))

    pages()
    # The second claim finds what the first has left dead in the index, as every later one does.
    alone = pages()
    wait_for_tokens(100_000, keys)

    assert pages() <= 1.1 * alone + 10


@pytest.mark.parametrize(("count", "keys"), [(100_000, 1), (20_000, 1000)], ids=["one bucket", "many"])
def test_a_look_reads_by_buckets_and_not_by_jobs(worker, count, keys):  # noqa: F811
    """A few pages for each that has jobs waiting, however many they are, and however many have ended."""
    wait_for_tokens(50_000, status="CANCELLED")
    wait_for_tokens(count, keys)
    look(worker.session)
    plan = look(worker.session)
    print(f"{count} jobs behind {keys} buckets: {buffers(plan['Plan'])} buffers, {plan['Execution Time']:.1f} ms")

    assert buffers(plan["Plan"]) <= 100 + 20 * keys


def test_a_look_goes_by_indexes_alone(never_analysed, worker):  # noqa: F811
    """Without statistics, and beside every other kind of job: by that of its lanes, and for plain jobs by theirs."""
    fill(20_000, "READY")
    fill(5_000, "RUNNING")
    fill(5_000, "SUCCESSFUL")
    wait_for_tokens(20_000, 10)
    RateBucket.objects.update(tokens=1)

    plan = look(worker.session)["Plan"]

    by_index = {(node, index) for node, index in scans_of_jobs(plan) if index != "django_jobqueue_job_pkey"}
    assert {index for _, index in by_index} == {"jobqueue_job_ready", "jobqueue_job_rated"}
    assert not {node["Node Type"] for node in nodes(plan)} & (SCANS_OF_EVERYTHING - {"Sort"})
    assert buffers(plan) < 5_000


def test_a_task_that_nobody_knows_is_parked_from_behind_a_backlog(worker):  # noqa: F811
    """However many jobs of tasks that are known wait for tokens."""
    wait_for_tokens(1000, 10)
    add_jobs(2, task="shop.gone", rate_key="z", run_after=at(-60))

    (names,) = worker.session.run(park(backend="default", tasks=(TASK,), serving=Serving()))

    assert names == {"shop.gone"}
    assert Job.objects.filter(task="shop.gone", status="WAITING", waiting_for="worker").count() == 2
    assert Job.objects.filter(task=TASK, status="READY").count() == 1000
