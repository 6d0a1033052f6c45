"""Concurrency limits and order from the door: what a task and OPTIONS `queues` declare, and what workers make of it."""

import pytest
from django.core.checks import run_checks
from django.test import override_settings

from django_jobqueue import task
from django_jobqueue.compat import task_backends
from django_jobqueue.conf import Options
from django_jobqueue.exceptions import InvalidOptions, InvalidPayload
from django_jobqueue.models import Job
from django_jobqueue.testing import run_jobs

pytestmark = pytest.mark.django_db

ran = []


@pytest.fixture(autouse=True)
def nothing_ran():
    """Forget what ran before."""
    ran.clear()


@task(concurrency_key="tenant:{tenant_id}", concurrency_limit=2)
def sync(tenant_id, number=0):
    ran.append((tenant_id, number))


@task(concurrency_limit=3)
def report(number): ...


def account_of(account, amount):
    """Put what has an account in the order of it."""
    return f"account:{account}" if isinstance(account, str) and account else account or None


@task(order_key=account_of, after_death="block", max_attempts=1)
def book(account, amount):
    if amount < 0:
        raise ValueError("nothing is booked back")
    ran.append((account, amount))


@pytest.fixture
def queues(settings):
    """Set the rules of queues of the default alias."""

    def set_rules(rules):
        default = settings.TASKS["default"]
        settings.TASKS = {"default": default | {"OPTIONS": default["OPTIONS"] | {"queues": rules}}}

    return set_rules


def row(result):
    return Job.objects.get(pk=int(result.id))


def gates(job):
    return {
        name: value
        for name in ("concurrency_key", "key_limit", "task_limit", "queue_limit", "order_key", "order_blocks")
        if (value := getattr(job, name)) not in (None, False)
    }


def test_a_job_carries_what_its_task_and_queue_declare(queues):
    """In its row, where a person sees them, and where they stay when the code changes."""
    queues({"mail": {"max_running": 4}})

    assert gates(row(sync.enqueue(tenant_id=5))) == {"concurrency_key": "tenant:5", "key_limit": 2}
    assert gates(row(report.using(queue_name="mail").enqueue(1))) == {"task_limit": 3, "queue_limit": 4}
    assert gates(row(book.enqueue("a", 1))) == {"order_key": "account:a", "order_blocks": True}
    assert gates(row(book.enqueue("", 1))) == {}
    states = Job.objects.order_by("pk").values_list("status", "waiting_for")
    assert [*states] == [("WAITING", "limit"), ("WAITING", "limit"), ("WAITING", "order"), ("READY", "")]


def test_many_at_once_carry_theirs():
    """Those that have gates and those that have none, in one statement."""
    calls = [(sync, (5,), {}), (book, ("", 1), {}), (report, (1,), {}), (book, ("b}\"'\\,{", 1), {})]
    jobs = [row(result) for result in task_backends["default"].enqueue_many(calls)]

    assert [gates(job) for job in jobs] == [
        {"concurrency_key": "tenant:5", "key_limit": 2},
        {},
        {"task_limit": 3},
        {"order_key": "account:b}\"'\\,{", "order_blocks": True},
    ]


@task(concurrency_key=lambda tenant: tenant and f"tenant:{tenant}")
def convert(tenant):
    ran.append((tenant, 0))


def test_a_job_in_a_shared_queue_carries_the_weight_of_its_tenant(queues):
    """One where none is named; a key alone, in another queue, is no gate."""
    queues({"imports": {"fair_share": True, "weights": {"tenant:7": 3, "": 2}}})
    shared = convert.using(queue_name="imports")
    jobs = [row(shared.enqueue(tenant)) for tenant in (7, 8, None)] + [row(convert.enqueue(7))]

    assert [(job.concurrency_key, job.share_weight) for job in jobs] == [
        ("tenant:7", 3),
        ("tenant:8", 1),
        (None, 2),
        ("tenant:7", None),
    ]
    assert [job.waiting_for for job in jobs] == ["share", "share", "share", ""]
    run_jobs()
    assert len(ran) == 4


def test_run_jobs_gives_slots_and_turns():
    """In a test of a project, all of them run in the end, ordered ones in their order."""
    for number in range(5):
        sync.enqueue(1, number)
    for amount in (1, 2, 3):
        book.enqueue("a", amount)
    run_jobs()

    assert [entry for entry in ran if entry[0] == "a"] == [("a", 1), ("a", 2), ("a", 3)]
    assert len(ran) == 8


def test_a_death_blocks_its_successors_where_that_is_declared():
    """They wait until its letter is closed."""
    book.enqueue("a", -1)
    later = book.enqueue("a", 5)
    run_jobs()

    assert row(later).waiting_for == "order"
    assert ran == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"concurrency_key": "{stranger}", "concurrency_limit": 1}, "concurrency_key names {stranger}"),
        ({"concurrency_limit": 0}, "whole number from 1"),
        ({"concurrency_limit": True}, "whole number from 1"),
        ({"order_key": ""}, "is a template"),
        ({"order_key": "{stranger}"}, "order_key names {stranger}"),
        ({"after_death": "stop"}, '"pass" or "block"'),
        ({"after_death": "block"}, "it has none without order_key"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_told_at_the_declaration(options, words):
    """With what to type instead."""

    def declare():
        def work(tenant_id): ...

        work.__qualname__ = "work"
        return task(**options)(work)

    with pytest.raises(InvalidOptions) as error:
        declare()

    assert words in str(error.value)


def test_a_key_that_is_no_text_is_refused_at_the_call():
    """As a unique key is; nothing is written."""
    with pytest.raises(InvalidPayload, match="order_key: is of type int; it is a text"):
        book.enqueue(7, 1)

    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (["mail"], "is a dict of queue names"),
        ({"mail*": {}}, "write the whole name of a queue"),
        ({"mail": 4}, "is a dict of rules"),
        ({"mail": {"max_runing": 4}}, "'max_runing'; known are"),
        ({"mail": {"max_running": 0}}, "whole number from 1"),
        ({"mail": {"fair_share": 1}}, "is True or False"),
        ({"mail": {"fair_share": True, "weights": {"a": 0}}}, "whole numbers from 1 to 1000"),
        ({"mail": {"fair_share": True, "weights": ["a"]}}, "is a dict of keys"),
        ({"mail": {"weights": {"a": 2}}}, 'say "fair_share": True'),
    ],
    ids=str,
)
def test_rules_of_queues_that_make_no_sense_are_told(rules, words):
    """By the option itself, and by the system checks."""
    with pytest.raises(InvalidOptions) as error:
        Options(queues=rules)
    assert words in str(error.value)

    backend = {"BACKEND": "django_jobqueue.backend.JobQueueBackend", "OPTIONS": {"queues": rules}}
    with override_settings(TASKS={"default": backend}):
        assert words in str(run_checks())
