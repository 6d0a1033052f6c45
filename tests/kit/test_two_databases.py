"""A queue on another alias, inside a TestCase: what waits for a commit that never comes is taken as committed."""

from contextlib import suppress

import pytest
from django.db import transaction
from django.test import TestCase, override_settings

from django_jobqueue import task
from django_jobqueue.models import Job
from django_jobqueue.testing import assert_enqueued, assert_not_enqueued, deliver_twice, run_jobs
from tests import tasks as cast
from tests.stage.models import Trace
from tests.two_databases import TASKS, two_queues


@task
def leave_and_hand_on():
    """Write a row, and ask for a job that belongs to it."""
    with transaction.atomic():
        Trace.objects.create(what="row")
        cast.succeed.enqueue()


def place_order(*, fails=False):
    """Do as a view does."""
    with suppress(RuntimeError), transaction.atomic():
        result = cast.give_back.enqueue("order")
        if fails:
            raise RuntimeError
        return result


@pytest.fixture(scope="module", autouse=True)
def more_databases(django_db_setup):
    """An alias has to be there before a class says that it uses it."""
    with two_queues():
        yield


@override_settings(TASKS=TASKS)
class TestInATestCase(TestCase):
    """Both databases are in a transaction that is rolled back after each test."""

    databases = ("default", "queue")

    def test_jobs_are_there_for_who_asks_the_kit(self):
        """And for nobody else: the table has no row before that."""
        result = place_order()
        assert not Job.objects.using("queue").exists()

        assert str(assert_enqueued(cast.give_back, "order").pk) == result.id
        assert [str(ran.job.pk) for ran in run_jobs()] == [result.id]

    def test_what_was_rolled_back_is_not_there(self):
        """As in production."""
        place_order(fails=True)

        assert_not_enqueued(cast.give_back)
        assert run_jobs() == []

    def test_what_jobs_ask_for_runs_too(self):
        """Each attempt is followed by the commit of what it has asked for."""
        leave_and_hand_on.enqueue()

        assert [ran.job.task.rpartition(".")[2] for ran in run_jobs()] == ["leave_and_hand_on", "succeed"]

    def test_a_block_that_is_open_in_the_test_is_waited_for(self):
        """What it rolls back leaves nothing."""
        with suppress(RuntimeError), transaction.atomic():
            place_order()
            assert_not_enqueued(cast.give_back)
            with pytest.raises(AssertionError, match="of this task; 1 waits for the commit of the transaction on 'def"):
                assert_enqueued(cast.give_back)
            raise RuntimeError

        assert_not_enqueued(cast.give_back)

    def test_callbacks_that_are_captured_insert_them_too(self):
        """Django's own way, for who looks at the table; nothing is inserted twice."""
        before = cast.give_back.enqueue("of the same fate")
        with self.captureOnCommitCallbacks(execute=True) as callbacks:
            inside = cast.give_back.enqueue("in no block of its own")
        after = cast.give_back.enqueue("after")

        assert len(callbacks) == 1
        there = Job.objects.using("queue").order_by("pk").values_list("pk", flat=True)
        assert [*map(str, there)] == [before.id, inside.id]
        assert [str(ran.job.pk) for ran in run_jobs()] == [before.id, inside.id, after.id]

    def test_callbacks_of_the_queue_keep_their_places(self):
        """What was left before the block is not captured by it."""
        called = []
        transaction.on_commit(lambda: called.append("before"), using="queue")
        with self.captureOnCommitCallbacks(using="queue", execute=True):
            place_order()
            transaction.on_commit(lambda: called.append("inside"), using="queue")

        assert called == ["inside"]


@pytest.mark.django_db(databases=["default"])
def test_the_drill_needs_commits_on_both(settings):
    """It says so where the rows of the test are never committed."""
    settings.TASKS = TASKS

    with pytest.raises(RuntimeError, match="use TransactionTestCase"):
        deliver_twice(cast.give_back, dict, dict)


@pytest.mark.django_db(transaction=True, databases=["default", "queue"])
def test_with_real_commits_nothing_is_to_be_done(settings):
    """As in a TransactionTestCase."""
    settings.TASKS = TASKS
    with transaction.atomic():
        place_order()
        assert_not_enqueued(cast.give_back)

    assert_enqueued(cast.give_back, "order")
