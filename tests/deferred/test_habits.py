"""Where transactions come from in projects, and in jobs."""

from contextlib import suppress

import pytest
from asgiref.sync import async_to_sync
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import path

from django_jobqueue import idempotency, once, task
from django_jobqueue.exceptions import InvalidOptions
from django_jobqueue.models import Effect, Job
from django_jobqueue.testing import run_jobs
from tests import tasks as cast
from tests.deferred.looks import ids
from tests.stage.models import Trace
from tests.two_databases import BACKEND

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "queue", "spare"]),
    pytest.mark.urls(__name__),
]


class TestHabitsOfProjects:
    """Where a transaction comes from makes no difference."""

    def test_durable_blocks(self):
        """The commit of one is the commit."""
        with transaction.atomic(durable=True):
            cast.succeed.enqueue()
            assert not Job.objects.exists()

        assert Job.objects.count() == 1

    def test_by_hand(self):
        """With AUTOCOMMIT off nobody tells of a commit: the job is inserted at once."""
        connection.set_autocommit(False)
        try:
            cast.succeed.enqueue()
            with transaction.atomic():
                cast.succeed.enqueue()
            connection.rollback()
        finally:
            connection.set_autocommit(True)

        assert Job.objects.count() == 2

    @pytest.mark.parametrize(("keep", "count"), [("commit", 1), ("rollback", 0)])
    def test_by_hand_on_the_queue(self, queue, keep, count):
        """The INSERT follows the commit of the rows, and what is done by hand then decides on the job."""
        queue.set_autocommit(False)
        try:
            with transaction.atomic():
                Trace.objects.create(what="row")
                result = cast.succeed.enqueue()
            assert result.enqueued_at is not None
            assert not Job.objects.exists()
            getattr(queue, keep)()
        finally:
            queue.set_autocommit(True)

        assert (Trace.objects.count(), Job.objects.count()) == (1, count)

    @pytest.mark.parametrize(("address", "count"), [("/return/", 1), ("/raise/", 0)])
    def test_atomic_requests(self, address, count):
        """A view that raises leaves neither rows nor jobs."""
        connection.settings_dict["ATOMIC_REQUESTS"] = True
        try:
            Client(raise_request_exception=False).get(address)
        finally:
            connection.settings_dict["ATOMIC_REQUESTS"] = False

        assert (Trace.objects.count(), Job.objects.count()) == (count, count)

    def test_a_coroutine_that_a_transaction_waits_for(self):
        """It asks in the thread of the transaction, and so inside of it."""
        with transaction.atomic():
            result = async_to_sync(cast.succeed.aenqueue)()
            assert not Job.objects.exists()

        assert ids() == [result.id]

    def test_a_coroutine_of_its_own(self):
        """It has no transaction: the job is there at once."""
        result = async_to_sync(cast.succeed.aenqueue)()

        assert ids() == [result.id]

    def test_the_database_of_the_rows_has_to_exist(self, settings):
        """It is told before anything is written."""
        options = {"database": "queue", "transaction_database": "shop"}
        settings.TASKS = {"default": {"BACKEND": BACKEND, "QUEUES": [], "OPTIONS": options}}

        with pytest.raises(InvalidOptions, match=r"\['transaction_database'\] is 'shop', which is not in DATABASES"):
            cast.succeed.enqueue()

    def test_rows_that_are_beside_the_queue(self, settings):
        """A project names its alias, and is back where job and rows are one."""
        options = {"database": "queue", "transaction_database": "queue"}
        settings.TASKS = {"default": {"BACKEND": BACKEND, "QUEUES": [], "OPTIONS": options}}
        with transaction.atomic(), transaction.atomic(using="queue"):
            result = cast.succeed.enqueue()
            assert cast.succeed.get_result(result.id) == result

        assert ids() == [result.id]


class TestInsideOfJobs:
    """A task's own transaction and `once` are on the queue's alias."""

    @pytest.mark.parametrize(("name", "what_follows"), [("go_on", ["succeed"]), ("break_off", []), ("lose_rows", [])])
    def test_an_atomic_task_enqueues_with_its_success(self, name, what_follows):
        """A failed one enqueues nothing; rows that it rolls back take their job with them."""
        follow_atomically.enqueue(name)
        run_jobs()

        followers = Job.objects.exclude(task=follow_atomically.module_path).values_list("task", flat=True)
        assert [name.rpartition(".")[2] for name in followers] == what_follows

    @pytest.mark.parametrize("has_rows", [False, True])
    def test_once_enqueues_once(self, has_rows):
        """Record and job are committed together, also where the call has a transaction for its rows."""
        with suppress(ValueError):
            once("k", follow, has_rows, fails=True)
        assert (Effect.objects.count(), Job.objects.count()) == (0, 0)
        for _ in range(2):
            once("k", follow, has_rows)

        assert (Effect.objects.count(), Job.objects.count()) == (1, 1)

    def test_once_inside_a_transaction_of_the_rows_enqueues_with_it(self):
        """What `once` undoes enqueues nothing either."""
        with transaction.atomic():
            with suppress(ValueError):
                once("k", follow, False, fails=True)
            once("k", follow, False)
            assert not Job.objects.exists()

        assert (Effect.objects.count(), Job.objects.count()) == (1, 1)


@task(atomic=True, max_attempts=1)
def follow_atomically(how):
    """Ask for a job with rows, and go on, break off, or give the rows up."""
    with suppress(RuntimeError), transaction.atomic():
        Trace.objects.create(what="row")
        cast.succeed.enqueue()
        if how == "lose_rows":
            raise RuntimeError
    if how == "break_off":
        raise ValueError


def follow(has_rows, *, fails=False):
    """Ask for a job, in a transaction of its own rows or not."""
    if has_rows:
        with transaction.atomic():
            Trace.objects.create(what="row")
            cast.succeed.enqueue()
    else:
        cast.succeed.enqueue()
    if fails:
        raise ValueError


def view(request):
    """Write a row, ask for a job, and end as the address says."""
    Trace.objects.create(what="row")
    cast.succeed.enqueue()
    if request.path == "/raise/":
        raise RuntimeError
    return HttpResponse()


urlpatterns = [path("return/", view), path("raise/", view)]


def test_once_says_that_it_does_not_cover_the_rows(caplog, monkeypatch):
    """Its record is committed on the queue's database: rows elsewhere may be written twice. Said once a process."""
    monkeypatch.setattr(idempotency, "_warned", set())

    for key in ("one", "two"):
        once(key, len, [])

    (record,) = [record for record in caplog.records if "once" in record.getMessage()]
    assert record.levelname == "WARNING"
    assert "rows on 'default' are not undone with the record, which is on 'queue'" in record.getMessage()
