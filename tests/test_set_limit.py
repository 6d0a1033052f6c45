"""Limits that are changed while the queue runs: they hold from the moment on that says so."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from django_jobqueue.exceptions import Refused
from django_jobqueue.models import AuditEntry, Job, Limit
from django_jobqueue.operations import set_limit
from django_jobqueue.store.admit import admit_limited, admit_lock
from django_jobqueue.store.statement import run_on
from tests.store.conftest import make_worker, worker  # noqa: F401 - fixtures
from tests.store.hands import COMMITS, FINISH, RELEASE, TASK, add_job, at
from tests.test_pause import in_a_thread, someone_waits
from tests.waiting import wait_until

pytestmark = COMMITS

SIGNED = {"by": "ada", "reason": "the provider is slow"}
COLUMNS = {"concurrency_key": "k", "key_limit": 4, "task_limit": 4, "queue_limit": 4}
TARGETS = [{"key": "k"}, {"task": TASK}, {"queue_name": "default"}]


def waiting(count, **columns):
    return [
        add_job(status="WAITING", waiting_for="limit", run_after=at(-60 + n), **(columns or COLUMNS))
        for n in range(count)
    ]


def states():
    return [*Job.objects.order_by("pk").values_list("status", flat=True)]


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_nothing_starts_until_the_running_are_fewer(worker, target):  # noqa: F811
    """What is ready goes back to waiting, and comes again in claim order when there is room."""
    waiting(6)
    worker.admit()
    held = worker.claim(3)
    assert states() == ["RUNNING"] * 3 + ["READY"] + ["WAITING"] * 2

    set_limit(**target, at_once=2, **SIGNED)
    assert states() == ["RUNNING"] * 3 + ["WAITING"] * 3
    assert (worker.admit(), worker.claim(5)) == (0, [])
    worker.settle(held[0].settled_as(FINISH))
    assert worker.admit() == 0
    worker.settle(held[1].settled_as(FINISH))
    assert worker.admit() == 1
    assert [job.id for job in worker.claim(5)] == [Job.objects.order_by("pk")[3].pk]


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_none_gives_the_word_back_to_the_code(worker, target):  # noqa: F811
    """And 0 is none at all."""
    waiting(6)
    set_limit(**target, at_once=0, **SIGNED)
    assert worker.admit() == 0
    assert set_limit(**target, at_once=None, **SIGNED) is None

    assert worker.admit() == 4
    assert not Limit.objects.exists()


def test_it_waits_for_who_admits_and_keeps_the_next_ones_from_it(worker):  # noqa: F811
    """When it has returned, nobody can have counted by the old limit and commit later."""
    waiting(4)
    with ThreadPoolExecutor() as pool:
        with transaction.atomic():
            run_on(connection, admit_lock())
            assert len(run_on(connection, admit_limited()).queues) == 4
            changing = pool.submit(in_a_thread, lambda: set_limit(key="k", at_once=1, **SIGNED))
            wait_until(someone_waits)
            assert worker.admit() == 0
        changing.result(timeout=30)

    assert states() == ["WAITING"] * 4
    assert worker.admit() == 1


def test_who_changed_it_and_why_is_on_record():
    """Each change has one audit entry with both values."""
    set_limit("mail", at_once=3, **SIGNED)
    set_limit("mail", at_once=5, by="bob", reason="")
    set_limit("mail", at_once=None, by="bob", reason="")

    entries = AuditEntry.objects.order_by("id").values_list("actor", "action", "object", "before", "after")
    assert [*entries] == [
        ("ada", "set_limit", "queue:mail", {"at_once": None}, {"at_once": 3}),
        ("bob", "set_limit", "queue:mail", {"at_once": 3}, {"at_once": 5}),
        ("bob", "set_limit", "queue:mail", {"at_once": 5}, {"at_once": None}),
    ]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"at_once": 1}, "target_required"),
        ({"queue_name": "mail", "key": "k", "at_once": 1}, "target_required"),
        ({"key": "k" * 256, "at_once": 1}, "target_required"),
        ({"queue_name": "mail", "at_once": -1}, "limit_out_of_range"),
        ({"queue_name": "mail", "at_once": 1.5}, "limit_out_of_range"),
        ({"queue_name": "mail", "at_once": True}, "limit_out_of_range"),
        ({"queue_name": "mail", "at_once": None}, "not_set"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(words, code):
    """With a code and what to type; nothing is changed."""
    with pytest.raises(Refused) as refused:
        set_limit(**words, **SIGNED)

    assert refused.value.code == code
    assert not Limit.objects.exists()


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("way", ["interrupted", "given back"])
def test_a_job_that_is_put_back_needs_a_slot_again(worker, target, way):  # noqa: F811
    """While the running are not fewer than the new limit it does not start again, though it had begun before."""
    waiting(4)
    worker.admit()
    held = worker.claim(4)
    set_limit(**target, at_once=2, **SIGNED)
    if way == "interrupted":
        worker.settle(held[0].settled_as(RELEASE))
    else:
        worker.give_back(held[0])

    assert (worker.claim(5), worker.admit(), worker.claim(5)) == ([], 0, [])
    worker.settle(held[1].settled_as(FINISH), held[2].settled_as(FINISH))
    assert worker.admit() == 1
    assert [job.id for job in worker.claim(5)] == [held[0].id]
