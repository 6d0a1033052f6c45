"""Why a job does not run: the facts are read from rows as the verbs leave them."""

import json
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from django_jobqueue import operations
from django_jobqueue.database import queue_options
from django_jobqueue.declared_rates import declared_rates
from django_jobqueue.models import Job, Limit, Worker
from django_jobqueue.store.session import PLAN_GUARD
from django_jobqueue.watch.why import COUNT_CAP, why
from tests.store.hands import BURY, COMMITS, RETRY, SNOOZE, TASK, add_job, add_jobs, at, row
from tests.test_limits import queues  # noqa: F401 - a fixture

pytestmark = COMMITS

SIGNED = {"by": "ada", "reason": "the provider is down"}


@pytest.fixture(autouse=True)
def alive():
    """A living worker that serves every queue and knows the task."""
    words = {"hostname": "here", "pid": 1, "processes": 1, "threads": 1, "coroutines": 1}
    return Worker.objects.create(id=uuid4(), backend="default", tasks={TASK: 1}, **words)


def codes(job_id):
    return [str(reason.code) for reason in why(job_id, using="default")]


def text(job_id):
    return " ".join(reason.text for reason in why(job_id, using="default"))


def test_a_job_that_is_next_waits_for_nothing():
    """It says so."""
    assert codes(add_job(run_after=at(-1))) == ["next"]


def test_what_is_before_it_is_counted_in_claim_order():
    """By priority, then moment, then id; not to the end of a long queue."""
    late, first = add_job(run_after=at(-5)), add_job(run_after=at(-60))
    urgent = add_job(run_after=at(-1), priority=9)
    assert (codes(urgent), codes(first), codes(late)) == (["next"], ["behind"], ["behind"])
    assert text(late).startswith("2 ready jobs")
    add_jobs(COUNT_CAP, run_after=at(-30))

    assert text(late).startswith(f"more than {COUNT_CAP} ready jobs")


@pytest.mark.parametrize(("decision", "code"), [(RETRY, "retry"), (SNOOZE, "snoozed"), (BURY, "over")])
def test_what_became_of_its_attempt_is_told(worker, decision, code):
    """A retry, a snooze, a death."""
    job_id = add_job()
    (job,) = worker.claim()
    assert codes(job_id) == ["running"]
    worker.settle(job.settled_as(decision))

    assert codes(job_id) == [code]


def test_a_job_for_later_says_when():
    """In seconds, by PostgreSQL's clock."""
    assert codes(add_job(status="WAITING", waiting_for="time", run_after=at(600))) == ["not_due"]


def test_a_pause_is_told_with_who_and_why():
    """Of its queue or its task, by name or prefix; one that is over is none."""
    job_id = add_job(queue_name="mail-eu", run_after=at(-1))
    operations.pause("mail-*", **SIGNED)
    operations.pause(task="shop.*", by="bob", reason="it is broken")
    operations.pause("mailing", **SIGNED)

    assert codes(job_id) == ["paused", "paused"]
    assert "queue mail-* is paused by ada: the provider is down" in text(job_id)


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"stopped_at": at(-1)}, "no_worker"),
        ({"last_seen_at": at(-3600)}, "no_worker"),
        ({"backend": "other"}, "no_worker"),
        ({"queues": ["reports", "mail-*"]}, "no_worker"),
        ({"queues": ["def*"]}, "next"),
        ({"queues": ["default"]}, "next"),
        ({"tasks": {}}, "unknown_task"),
        ({"tasks": {TASK: 2}}, "next"),
    ],
    ids=str,
)
def test_who_could_run_it_is_told(alive, columns, code):
    """A worker that lives, serves its queue, and knows its task in its version."""
    Worker.objects.filter(pk=alive.pk).update(**columns)

    assert codes(add_job(run_after=at(-1))) == [code]


@pytest.mark.parametrize(
    ("columns", "target"),
    [
        ({"concurrency_key": "tenant:5", "key_limit": 1}, ("key", "tenant:5")),
        ({"task_limit": 1}, ("task", TASK)),
        ({"queue_limit": 1}, ("queue", "default")),
    ],
    ids=["key", "task", "queue"],
)
def test_a_full_limit_is_told_with_who_fills_it(worker, columns, target):
    """With the number that holds: a person's stands for the declared one."""
    first, second, third = [add_job(status="WAITING", waiting_for="limit", **columns) for _ in range(3)]
    worker.admit()
    assert codes(second) == ["limit"]
    assert f"runs 1 at once, and 1 are (jobs {first})" in text(second)

    Limit.objects.create(kind=target[0], target=target[1], at_once=2, set_by="ada")
    assert codes(second) == ["next"]
    worker.admit()
    assert f"{target[1]} runs 2 at once, and 2 are (jobs {first}, {second})" in text(third)


def test_the_order_is_told_with_who_comes_first(worker):
    """Who has the turn, or is to have it first; a dead letter that blocks."""
    ids = [add_job(status="WAITING", waiting_for="order", order_key="a", order_blocks=True) for _ in range(3)]
    assert codes(ids[0]) == ["next"]
    assert f"job {ids[0]} " in text(ids[2])
    worker.admit()
    assert f"job {ids[0]} of its order key comes first" in text(ids[1])
    (job,) = worker.claim()
    worker.settle(job.settled_as(BURY))

    assert codes(ids[1]) == ["blocked"]
    assert codes(ids[2]) == ["blocked", "turn"]


def test_a_look_costs_few_queries_and_changes_nothing():
    """It reads under a time-out, and takes no lock."""
    job_id = add_job(concurrency_key="k", key_limit=1, order_key="o", status="WAITING", waiting_for="limit")
    before = row(job_id)
    with CaptureQueriesContext(connection) as queries:
        why(job_id, using="default")

    assert len(queries) < 20
    assert not [query for query in queries if " FOR " in query["sql"]]
    assert row(job_id) == before


def nodes(plan):
    yield plan
    for inner in plan.get("Plans", []):
        yield from nodes(inner)


@pytest.mark.parametrize(
    "columns",
    [
        {"status": "WAITING", "waiting_for": "order", "order_key": "a"},
        {"status": "WAITING", "waiting_for": "limit", "concurrency_key": "k", "key_limit": 1},
        {"status": "READY", "run_after": at(-1)},
    ],
    ids=["order", "limit", "ready"],
)
def test_a_look_walks_through_no_history(columns):
    """Each of its questions about jobs is led by an index to the few that matter, on a table without statistics too."""
    job_id = add_job(**columns)
    with CaptureQueriesContext(connection) as queries:
        why(job_id, using="default")

    asked = [query["sql"] for query in queries if 'FROM "django_jobqueue_job"' in query["sql"]]
    assert len(asked) >= 2
    for sql in asked:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(PLAN_GUARD)
            cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}")
            ((answer,),) = cursor.fetchall()
        (plan,) = answer if isinstance(answer, list) else json.loads(answer)
        scans = [node for node in nodes(plan["Plan"]) if node.get("Relation Name") == "django_jobqueue_job"]
        assert scans
        assert not [node for node in scans if "Index Cond" not in node], sql


def test_the_command_tells_it():
    """To a person in lines, and to a program."""
    job_id = add_job(status="WAITING", waiting_for="time", run_after=at(600))
    for arguments in ([], ["--json"]):
        out = StringIO()
        call_command("jobqueue", "jobs", "why", str(job_id), *arguments, stdout=out)
        answer = out.getvalue()
        if arguments:
            assert json.loads(answer)["reasons"][0]["code"] == "not_due"
        else:
            assert answer.startswith("not_due: it is due ")


def test_the_command_hides_secrets():
    """A reason is anybody's text; and of a job whose task is not known here no argument is told, in a key neither."""
    made = {"task_limit": 0, "concurrency_key": "account:4711-0815", "key_limit": 0, "kwargs": {"account": "4711-0815"}}
    job_id = add_job(status="WAITING", waiting_for="limit", **made)
    operations.pause("default", by="ada", reason="password=hunter2hunter2 leaked")
    for arguments in ([], ["--json"]):
        out = StringIO()
        call_command("jobqueue", "jobs", "why", str(job_id), *arguments, stdout=out)

        assert "leaked" in out.getvalue()
        assert "hunter2hunter2" not in out.getvalue()
        assert "4711-0815" not in out.getvalue()


def test_a_caller_may_know_the_workers_better(alive):
    """Whoever runs jobs by hand stands for a worker."""
    alive.delete()
    job_id = add_job(run_after=at(-1))
    mine = Worker(backend="default", queues=["def*"], tasks={TASK: 1})

    assert codes(job_id) == ["no_worker"]
    assert [reason.code for reason in why(job_id, using="default", workers=[mine])] == ["next"]
    assert [reason.code for reason in why(job_id, using="default", workers=[])] == ["no_worker"]


def test_a_job_that_there_is_not():
    """Is an error of the caller."""
    with pytest.raises(Job.DoesNotExist):
        why(1, using="default")


def test_what_its_tenant_has_of_a_shared_queue_is_told():
    """How many places, of how many that are taken, by how many tenants; and how many of its own are before it."""
    tenant = {"concurrency_key": "tenant:5", "share_weight": 1}
    add_jobs(2, **tenant)
    add_job(concurrency_key="other", share_weight=1)
    first, second = (add_job(status="WAITING", waiting_for="share", run_after=at(n), **tenant) for n in (-60, -30))

    assert codes(first) == ["share"]
    assert text(second) == (
        "tenant tenant:5 has 2 of the 3 places of the queue default that are taken, by 2 tenants; "
        "1 of its jobs are before this one"
    )


def test_when_the_next_token_comes_is_told(queues, worker):  # noqa: F811
    """By the declared rate, or the one that a person has set; nothing of it while there is a token."""
    queues({"mail": {"rate_limit": "6/m"}})
    rates = declared_rates({}, queue_options())
    first, second = add_jobs(2, queue_name="mail", rate_key="shop:5", run_after=at(-60))
    assert codes(first) == ["next"]
    assert [held.id for held in worker.claim_rated(5, rates)] == [first]

    assert codes(second) == ["rate"]
    assert text(second).startswith("the queue mail starts 6/m, and has done so; the next in ")
    operations.set_limit("mail", rate="1/h", **SIGNED)
    operations.set_limit(key="shop:5", rate="1/d", **SIGNED)
    assert codes(second) == ["rate"]
    assert "mail starts 1/h, and has done so; the next in 35" in text(second)


def test_a_job_under_a_rate_is_behind_those_of_its_own(worker):
    """Of its queue, task and key; others have nothing to do with its tokens."""
    add_jobs(2, rate_key="a", run_after=at(-90))
    add_jobs(3, run_after=at(-90))
    mine = add_job(rate_key="a", run_after=at(-60))

    assert text(mine).startswith("2 ready jobs")
