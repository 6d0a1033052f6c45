"""A job comes to be with the rows that it is about, or not at all."""

from contextlib import suppress

import pytest
from django.db import IntegrityError, connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from django_jobqueue.compat import TaskResultDoesNotExist, task_backends, task_enqueued
from django_jobqueue.exceptions import InvalidPayload, MissingGrant
from django_jobqueue.models import Job
from tests import tasks as cast
from tests.deferred.looks import ids, inserts
from tests.stage.models import Trace

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "queue", "spare"])


class TestTheCommitDecides:
    """A job comes to be with the rows that it is about, or not at all."""

    def test_the_id_is_known_at_once_and_the_job_is_there_after_the_commit(self):
        """Its arguments are those of the call, whatever becomes of the caller's own lists."""
        given = ["x"]
        with transaction.atomic():
            result = cast.give_back.enqueue(given)
            given.append("y")
            assert (result.status, result.enqueued_at, result.created) == ("READY", None, True)
            assert not Job.objects.exists()

        job = Job.objects.get()
        assert (str(job.pk), job.args, job.status) == (result.id, [["x"]], "READY")
        assert result.enqueued_at == job.enqueued_at
        assert cast.give_back.get_result(result.id) == result

    def test_a_rollback_drops_it(self):
        """The id is nobody's then."""
        with suppress(ZeroDivisionError), transaction.atomic():
            result = cast.succeed.enqueue()
            1 / 0  # noqa: B018
        cast.succeed.enqueue()

        assert result.id not in ids()
        assert Job.objects.count() == 1

    def test_a_savepoint_that_is_rolled_back_drops_its_own(self):
        """And those only."""
        with transaction.atomic():
            before = cast.succeed.enqueue()
            with transaction.atomic():
                inside = cast.succeed.enqueue()
            with suppress(RuntimeError), transaction.atomic():
                with transaction.atomic():
                    cast.succeed.enqueue()
                cast.succeed.enqueue()
                raise RuntimeError
            after = cast.succeed.enqueue()

        assert ids() == [before.id, inside.id, after.id]

    def test_without_a_transaction_it_is_there_at_once(self):
        """As everywhere."""
        result = cast.succeed.enqueue()

        assert ids() == [result.id]
        assert result.enqueued_at is not None

    def test_what_is_wrong_is_told_at_the_call(self):
        """It does not wait for the commit, and the rest goes on."""
        with transaction.atomic():
            with pytest.raises(InvalidPayload):
                cast.give_back.enqueue(object())
            good = cast.give_back.enqueue(1)

        assert ids() == [good.id]

    def test_a_queue_that_cannot_be_reached_is_told_at_the_call(self, broken_queue):
        """The ids come from there, so the caller hears of it before anything is committed."""
        broken_queue()
        with pytest.raises(Exception, match="migrate"), transaction.atomic():
            Trace.objects.create(what="row")
            cast.succeed.enqueue()

        assert not Trace.objects.exists()

    def test_ids_take_a_grant_of_their_own(self, narrow_role):
        """An INSERT alone needs none on the sequence. The error says what to type, and nothing is committed."""
        cast.succeed.enqueue()
        with pytest.raises(MissingGrant, match="GRANT USAGE ON SEQUENCE") as refused, transaction.atomic():
            Trace.objects.create(what="row")
            cast.succeed.enqueue()
        assert not Trace.objects.exists()

        with connection.cursor() as cursor:
            sequence = str(refused.value).partition("SEQUENCE ")[2].partition(" ")[0]
            cursor.execute(f"GRANT USAGE ON SEQUENCE {sequence} TO {narrow_role}")
        with transaction.atomic():
            cast.succeed.enqueue()
        assert Job.objects.count() == 2

    def test_jobs_of_one_fate_are_one_statement(self, queue):
        """Single calls and batches, in the order of their ids; workers are told behind it."""
        give_back = cast.give_back.using(queue_name="nobody was told of this one")
        with transaction.atomic():
            first = give_back.enqueue(1)
            many = task_backends["default"].enqueue_many([(give_back, (n,), {}) for n in (2, 3)])
            last = give_back.enqueue(4)
            queries = CaptureQueriesContext(queue)
            queries.__enter__()
        queries.__exit__(None, None, None)

        assert [query["sql"].split("(")[0].strip() for query in queries] == [
            f'INSERT INTO "{Job._meta.db_table}"',
            "SELECT pg_notify",
        ]
        assert [job.args for job in Job.objects.order_by("pk")] == [[1], [2], [3], [4]]
        assert ids() == [first.id, *[result.id for result in many], last.id]

    def test_many_jobs_come_all_or_none(self, refuse_an_invoice):
        """More than one statement carries too, without keys and with."""
        calls = [(cast.bill, (number,), {}) for number in range(700)]
        calls += [(cast.give_back, (number,), {}) for number in range(700)]
        with transaction.atomic():
            results = task_backends["default"].enqueue_many(calls)
        assert ids() == [result.id for result in results]
        Job.objects.all().delete()

        refuse_an_invoice()
        with pytest.raises(IntegrityError), transaction.atomic():
            Trace.objects.create(what="row")
            task_backends["default"].enqueue_many(calls)
        assert Trace.objects.exists()
        assert not Job.objects.exists()

    def test_each_alias_in_tasks_has_its_own(self, queue):
        """Two of them may ask in one transaction."""
        spare = connections["spare"]
        with CaptureQueriesContext(queue) as here, CaptureQueriesContext(spare) as there, transaction.atomic():
            for _ in range(2):
                cast.succeed.enqueue()
                cast.succeed.using(backend="other").enqueue()

        assert (inserts(here), inserts(there)) == (1, 1)
        assert [*Job.objects.order_by("pk").values_list("backend", flat=True)] == ["default", "other"] * 2

    def test_receivers_hear_of_it_when_it_is_there(self):
        """task_enqueued is sent after the INSERT, and not for what was rolled back."""
        heard = []
        receiver = lambda task_result, **_: heard.append((task_result.id, Job.objects.exists()))  # noqa: E731
        task_enqueued.connect(receiver)
        try:
            with transaction.atomic():
                result = cast.succeed.enqueue()
                with suppress(RuntimeError), transaction.atomic():
                    cast.succeed.enqueue()
                    raise RuntimeError
                assert heard == []
        finally:
            task_enqueued.disconnect(receiver)

        assert heard == [(result.id, True)]

    def test_until_then_there_is_no_job_to_read(self):
        """Django's own error says so, with the reason; after the commit it is read like any other."""
        with transaction.atomic():
            result = cast.succeed.enqueue()
            with pytest.raises(TaskResultDoesNotExist, match=r"is inserted when the transaction on 'default' is comm"):
                result.refresh()
            with pytest.raises(TaskResultDoesNotExist, match=r"^999999$"):
                cast.succeed.get_result("999999")
        result.refresh()

        assert result.status == "READY"


class TestTransactionsOfTheQueue:
    """A transaction on the queue's own alias, with and without one of the rows."""

    def test_alone_it_decides(self):
        """The job is inserted at once, in it."""
        with suppress(RuntimeError), transaction.atomic(using="queue"):
            result = cast.succeed.enqueue()
            assert cast.succeed.get_result(result.id) == result
            raise RuntimeError

        assert not Job.objects.exists()

    @pytest.mark.parametrize("loser", ["queue", "default", None])
    @pytest.mark.parametrize(("outer", "inner"), [("queue", "default"), ("default", "queue")])
    def test_of_two_both_must_be_committed(self, outer, inner, loser):
        """Whichever is around the other."""
        with suppress(RuntimeError), transaction.atomic(using=outer):
            with suppress(RuntimeError), transaction.atomic(using=inner):
                cast.succeed.enqueue()
                if loser == inner:
                    raise RuntimeError
            if loser == outer:
                raise RuntimeError

        assert Job.objects.exists() is (loser is None)

    @pytest.mark.parametrize(("outer", "inner"), [("queue", "default"), ("default", "queue")])
    def test_what_a_savepoint_of_it_rolled_back_is_dropped(self, outer, inner):
        """And those before and behind it are not."""
        with transaction.atomic(using=outer), transaction.atomic(using=inner):
            before = cast.succeed.enqueue()
            with suppress(RuntimeError), transaction.atomic(using="queue"):
                cast.succeed.enqueue()
                raise RuntimeError
            with transaction.atomic(using="queue"):
                behind = cast.succeed.enqueue()

        assert ids() == [before.id, behind.id]

    def test_what_it_rolled_back_holds_no_key(self):
        """The next call is a job of its own."""
        with transaction.atomic():
            with suppress(RuntimeError), transaction.atomic(using="queue"):
                cast.bill.enqueue(7)
                raise RuntimeError
            second = cast.bill.enqueue(7)

        assert second.created
        assert ids() == [second.id]
