"""Unique jobs that wait for a commit."""

import logging
from contextlib import suppress
from dataclasses import replace

import pytest
from django.db import transaction

from django_jobqueue.compat import task_backends
from django_jobqueue.models import Job
from tests import tasks as cast
from tests.deferred.looks import ids

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "queue", "spare"])


class TestUniqueKeys:
    """What can be seen at the call is told at the call; the INSERT judges."""

    def test_a_job_that_lives_answers_at_the_call(self):
        """As where rows and queue are in one database."""
        first = cast.bill.enqueue(7, note="first")
        with transaction.atomic():
            second = cast.bill.enqueue(7)

        assert (second.id, second.created, second.kwargs) == (first.id, False, {"note": "first"})
        assert Job.objects.count() == 1

    def test_so_does_what_the_transaction_has_asked_for(self):
        """In the same call, in another one, and inside a savepoint."""
        with transaction.atomic():
            first, again = task_backends["default"].enqueue_many([(cast.bill, (7,), {})] * 2)
            cast.bill.enqueue(8)
            with transaction.atomic():
                inside = cast.bill.enqueue(7)

        assert (again.id, again.created) == (inside.id, inside.created) == (first.id, False)
        assert first.created
        assert Job.objects.count() == 2

    def test_what_was_rolled_back_holds_no_key(self):
        """A savepoint that ends so leaves it free."""
        with transaction.atomic():
            with suppress(RuntimeError), transaction.atomic():
                cast.bill.enqueue(7)
                raise RuntimeError
            second = cast.bill.enqueue(7)
            with transaction.atomic():
                third = cast.bill.enqueue(8)
            fourth = cast.bill.enqueue(8)

        assert second.created
        assert (fourth.id, fourth.created) == (third.id, False)
        assert ids() == [second.id, third.id]

    def test_a_twin_that_comes_first_stands_for_both(self, other_person, caplog):
        """It is told in one line, without the key, and the others of the transaction are inserted."""
        caplog.set_level(logging.INFO, "django_jobqueue")
        with transaction.atomic():
            late, plain = cast.bill.enqueue(7), cast.succeed.enqueue()
            assert late.created
            number = late.id
            twin = other_person(cast.bill, 7)

        assert sorted(ids()) == sorted([twin, plain.id])
        assert late.created is False
        (line,) = [record.getMessage() for record in caplog.records if record.name == "django_jobqueue"]
        assert line == (
            f"job {number} of tests.tasks.bill is not inserted at the commit: a live job holds its unique key by then"
        )

    def test_an_answer_for_a_twin_is_told_what_came_of_it(self):
        """As the first one is: in the same call, and in another."""
        with transaction.atomic():
            first, again = task_backends["default"].enqueue_many([(cast.bill, (7,), {})] * 2)
            later = cast.bill.enqueue(7)

        job = Job.objects.get()
        assert [result.enqueued_at for result in (first, again, later)] == [job.enqueued_at] * 3
        assert [result.created for result in (first, again, later)] == [True, False, False]

    def test_who_stands_for_them_is_named_to_all(self, other_person):
        """After the commit each answer is that job, as if it had been there at the call."""
        with transaction.atomic():
            late, later = cast.bill.enqueue(7), cast.bill.enqueue(7)
            twin = other_person(cast.bill, 7)

        assert late == later == replace(cast.bill.get_result(twin), created=False)
