"""Rates from the door: what a task and OPTIONS `queues` declare, what a person sets, and what is told of it."""

import pytest

from django_jobqueue import task
from django_jobqueue.compat import task_backends
from django_jobqueue.conf import Options
from django_jobqueue.exceptions import InvalidOptions, Refused
from django_jobqueue.models import AuditEntry, Job, Limit
from django_jobqueue.operations import set_limit
from django_jobqueue.testing import run_jobs
from tests.test_limits import queues  # noqa: F401 - a fixture

pytestmark = pytest.mark.django_db

ran = []


@task(concurrency_key="shop:{shop}", rate_limit="1/h burst 2")
def push(shop):
    ran.append(shop)


@task(rate_limit="1/hour")
def look_up(company):
    ran.append(company)


@task
def send(): ...


def shop_of(shop):
    """Make a key for every shop but the empty one."""
    return f"shop:{shop}" if shop else None


@task(concurrency_key=shop_of, rate_limit="1/h", concurrency_limit=3)
def pull(shop): ...


def row(result):
    return Job.objects.get(pk=int(result.id))


def marks(result):
    return row(result).rate_key, row(result).status


def test_a_job_carries_by_what_it_is_under_a_rate(queues):  # noqa: F811
    """By its key, or by its queue or task alone; what is under none is not marked."""
    queues({"mail": {"rate_limit": "100/m"}})

    assert marks(push.enqueue(5)) == ("shop:5", "READY")
    assert marks(look_up.enqueue("a")) == ("", "READY")
    assert marks(pull.enqueue("x")) == ("shop:x", "WAITING")
    assert marks(pull.enqueue("")) == (None, "READY")
    assert marks(pull.using(queue_name="mail").enqueue("")) == ("", "READY")
    assert marks(send.enqueue()) == (None, "READY")
    assert marks(send.using(queue_name="mail").enqueue()) == ("", "READY")


def test_a_rate_reads_as_it_is_written():
    """In one form, whatever the words."""
    assert look_up.rate_limit == "1/h"
    assert push.rate_limit == "1/h burst 2"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rate_limit": "100"}, "rate_limit is a number of starts and s, m, h or d, as in \"100/m\".*got '100'"),
        ({"rate_limit": 100}, "got 100"),
    ],
    ids=str,
)
def test_a_wrong_rate_of_a_task_is_told_with_what_to_type(options, words):
    """When the module is imported, not when a job waits."""
    with pytest.raises(InvalidOptions, match=words):
        task(**options)(shop_of)


def test_a_wrong_rate_of_a_queue_is_told_with_what_to_type():
    """By its place in OPTIONS."""
    with pytest.raises(InvalidOptions, match=r"queues\['mail'\]\['rate_limit'\] is a number of starts.*got '5 per s'"):
        Options.from_mapping({"queues": {"mail": {"rate_limit": "5 per s"}}})


def test_a_rate_in_options_is_read():
    """And none is none."""
    options = Options.from_mapping({"queues": {"mail": {"rate_limit": "5/s"}, "calls": {"rate_limit": None}}})

    assert str(options.queue("mail").rate) == "5/s"
    assert options.queue("calls").rate is None
    assert options.queue("other").rate is None


def test_a_test_waits_for_no_token():
    """`run_jobs` runs whatever is due, as if the buckets were full."""
    ran.clear()
    task_backends["default"].enqueue_many([(push, (5,), {}) for _ in range(5)])

    assert [attempt.outcome for attempt in run_jobs()] == ["succeeded"] * 5
    assert ran == [5] * 5


SIGNED = {"by": "ada", "reason": "the provider throttles us"}


def test_who_set_a_rate_and_why_is_on_record():
    """Beside a limit of how many at once: each is set and taken back by itself."""
    set_limit("mail", rate="10/min", **SIGNED)
    set_limit("mail", at_once=4, **SIGNED)
    assert str(Limit.objects.get()) == "queue mail: 4 at once, 10/m"
    assert set_limit("mail", rate=None, **SIGNED).at_once == 4
    assert set_limit("mail", at_once=None, **SIGNED) is None

    assert not Limit.objects.exists()
    assert [*AuditEntry.objects.order_by("id").values_list("before", "after")] == [
        ({"rate": None}, {"rate": "10/m"}),
        ({"at_once": None}, {"at_once": 4}),
        ({"rate": "10/m"}, {"rate": None}),
        ({"at_once": 4}, {"at_once": None}),
    ]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({}, "limit_required"),
        ({"rate": "1/s", "at_once": 1}, "limit_required"),
        ({"rate": "0/s"}, "limit_out_of_range"),
        ({"rate": 5}, "limit_out_of_range"),
        ({"rate": ""}, "limit_out_of_range"),
        ({"rate": None}, "not_set"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(words, code):
    """With a code, and what to type; a limit of another kind stays."""
    set_limit("mail", at_once=4, **SIGNED)
    with pytest.raises(Refused) as refused:
        set_limit("mail", **words, **SIGNED)

    assert refused.value.code == code
    assert Limit.objects.get().at_once == 4
