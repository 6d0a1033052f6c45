"""Jobs that wait for a slot, many of them: what they cost the claims of others, and whoever admits."""

import pytest
from django.db import connection, transaction

from django_jobqueue.models import Job
from django_jobqueue.store.admit import admit_limited, admit_lock, admit_ordered, admit_shared
from django_jobqueue.store.session import PLAN_GUARD
from django_jobqueue.store.statement import run_on
from tests.store.conftest import make_worker, worker  # noqa: F401 - fixtures
from tests.store.hands import COMMITS, add_jobs, at
from tests.store.test_query_plans import buffers, claim_of, nodes, plan_of

pytestmark = COMMITS


COLUMNS = {"order": "order_key", "share": "share_weight, concurrency_key"}


def hold(count, keys=1, *, status="WAITING", waiting_for="limit"):
    """Add jobs that wait for one slot, the turn, or a place, of each of so many keys; or such jobs in another state."""
    columns = COLUMNS.get(waiting_for, "key_limit, concurrency_key")
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {Job._meta.db_table} (task, status, waiting_for, run_after, {columns})"
            f" SELECT 'shop.charge', %s, %s, now() - interval '1 h', {'' if waiting_for == 'order' else '1,'}"
            " 'k' || n %% %s FROM generate_series(1, %s) AS n",
            [status, waiting_for, keys, count],
        )


@pytest.mark.parametrize("by_group", [False, True], ids=["in order", "by group"])
def test_held_jobs_cost_the_claims_of_others_nothing(worker, by_group):  # noqa: F811
    """A hundred thousand behind one key are in no index that a claim reads."""
    # More that have ended, so that the primary key is as deep before as after.
    hold(300_000, status="CANCELLED", waiting_for="")
    add_jobs(1000, run_after=at(-60))

    def pages():
        return buffers(plan_of(worker.session, claim_of(100, by_group=by_group), run=True))

    pages()
    # The second claim finds what the first has left dead in the index, as every later one does.
    alone = pages()
    hold(100_000)

    assert pages() <= 1.1 * alone + 10


@pytest.mark.parametrize("waits_for", ["limit", "order"])
@pytest.mark.parametrize(("count", "keys"), [(100_000, 1), (20_000, 1000)], ids=["one key", "many"])
@pytest.mark.parametrize("ended", [0, 1], ids=["no room", "room"])
def test_who_admits_reads_by_keys_and_not_by_jobs(worker, waits_for, count, keys, ended):  # noqa: F811
    """A few pages for each key that has jobs waiting, however many they are, and whether or not one is admitted."""
    hold(count, keys, waiting_for=waits_for)
    assert worker.admit() == keys
    end_ready(ended)

    plan = plan_of_admission(admit_limited() if waits_for == "limit" else admit_ordered())
    print(f"{count} jobs behind {keys} keys: {buffers(plan['Plan'])} buffers, {plan['Execution Time']:.1f} ms")
    moved = next(node for node in nodes(plan["Plan"]) if node["Node Type"] == "ModifyTable")
    assert moved["Actual Rows"] == ended
    assert buffers(plan["Plan"]) <= 100 + 8 * keys


@pytest.mark.parametrize(("count", "tenants"), [(100_000, 1), (20_000, 1000)], ids=["one", "many"])
@pytest.mark.parametrize("wanted", [1, 100])
def test_places_are_given_by_tenants_and_not_by_jobs(worker, wanted, count, tenants):  # noqa: F811
    """A few pages for each tenant that has jobs waiting, and for each job that gets a place."""
    hold(count, tenants, waiting_for="share")
    plan = plan_of_admission(admit_shared(claim_of(wanted)))
    print(f"{count} jobs of {tenants} tenants: {buffers(plan['Plan'])} buffers, {plan['Execution Time']:.1f} ms")

    moved = next(node for node in nodes(plan["Plan"]) if node["Node Type"] == "ModifyTable")
    assert moved["Actual Rows"] == wanted
    assert buffers(plan["Plan"]) <= 100 + 8 * tenants + 40 * wanted


def end_ready(count):
    """Have so many of the ready jobs be over."""
    ready = Job.objects.filter(status="READY").values_list("pk", flat=True)[:count]
    assert Job.objects.filter(pk__in=[*ready]).update(status="CANCELLED") == count


def plan_of_admission(statement):
    """Run a statement of an admission as a worker does, and say what it has read."""
    with transaction.atomic():
        run_on(connection, admit_lock())
        with connection.cursor() as cursor:
            cursor.execute(PLAN_GUARD)
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement.sql}", statement.params)
            return cursor.fetchone()[0][0]
