"""What comes between the commit of the rows and the INSERT."""

import logging
from contextlib import suppress

import pytest
from django.db import DataError, OperationalError, connection, connections, transaction
from django.db.utils import ProgrammingError
from django.test.utils import CaptureQueriesContext
from psycopg.errors import UndefinedTable

from django_jobqueue.compat import task_enqueued
from django_jobqueue.models import Job
from django_jobqueue.store import reserved
from django_jobqueue.store.enqueue import NewJob
from tests import tasks as cast
from tests.deferred.looks import ids, inserts
from tests.stage.models import Trace

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "queue", "spare"])


class TestWhatIsLost:
    """Between the commit of the rows and the INSERT there is nobody who knows."""

    def test_an_insert_that_fails_is_raised_to_the_caller_of_the_commit(self, broken_queue, caplog):
        """The rows are committed; the log names every job that is lost, and no argument of any."""
        with pytest.raises(ProgrammingError) as raised, transaction.atomic():
            Trace.objects.create(what="row")
            first = cast.give_back.enqueue("top secret")
            with transaction.atomic():
                second = cast.give_back.enqueue("top secret")
            with suppress(RuntimeError), transaction.atomic():
                dropped = cast.give_back.enqueue("top secret")
                raise RuntimeError
            third = cast.succeed.enqueue()
            broken_queue()

        assert isinstance(raised.value.__cause__, UndefinedTable)
        assert Trace.objects.count() == 1
        lines = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
        said = "a transaction on 'default' is committed, and the jobs of tests.tasks.{} that it asked for are not "
        assert lines == [
            said.format("give_back") + f"inserted: ProgrammingError. Ids: {first.id}, {second.id}",
            said.format("succeed") + f"inserted: ProgrammingError. Ids: {third.id}",
        ]
        assert dropped.id not in "".join(lines)
        assert "top secret" not in caplog.text

    def test_a_connection_that_has_died_meanwhile_is_replaced(self, queue):
        """It was idle while the transaction took its time."""
        with transaction.atomic():
            result = cast.succeed.enqueue()
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [queue.connection.info.backend_pid])

        assert ids() == [result.id]

    def test_a_connection_that_lives_is_kept(self, queue):
        """A refused statement is an OperationalError too: the session keeps its settings, and does not wait again."""
        with queue.cursor() as cursor:
            cursor.execute("SET lock_timeout = '20ms'")
        session = queue.connection
        with (
            transaction.atomic(using="spare"),
            connections["spare"].cursor() as cursor,
            CaptureQueriesContext(queue) as queries,
            pytest.raises(OperationalError, match="lock timeout"),
        ):
            # Whoever waits without a limit is not left to wait for ever.
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '3s'")
            cursor.execute(f"LOCK TABLE {Job._meta.db_table} IN EXCLUSIVE MODE")
            with transaction.atomic():
                cast.succeed.enqueue()

        assert inserts(queries) == 1
        assert queue.connection is session
        queue.close()

    def test_what_met_others_is_tried_again_in_the_same_session(self, queue, unlucky_insert):
        """Nothing of it is there, as after a deadlock, and nothing is wrong with the connection."""
        with transaction.atomic():
            result = cast.succeed.enqueue()
            session = queue.connection

        assert ids() == [result.id]
        assert queue.connection is session

    def test_inside_a_transaction_of_the_queue_none_is_replaced(self, queue):
        """What that transaction has done is lost with it."""
        with (
            pytest.raises(OperationalError, match="terminating"),
            transaction.atomic(using="queue"),
            transaction.atomic(),
        ):
            cast.succeed.enqueue()
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [queue.connection.info.backend_pid])

        assert not Job.objects.exists()

    def test_a_batch_of_several_statements_is_inserted_as_a_whole(self):
        """Or not at all."""
        numbers = reserved.reserve(1500, using="queue")
        jobs = {number: NewJob("tests.tasks.succeed") for number in numbers}
        with pytest.raises(DataError):
            reserved.enqueue_reserved(
                jobs | {numbers[-1]: NewJob("tests.tasks.succeed", args="no JSON")}, using="queue"
            )

        assert not Job.objects.exists()

    def test_to_insert_again_what_is_there_makes_no_second_job(self):
        """The answer to an INSERT may be lost: the ids tell that it was done."""
        number, keyed = reserved.reserve(2, using="queue")
        jobs = {number: NewJob("tests.tasks.succeed"), keyed: NewJob("tests.tasks.bill", unique_key="invoice:7")}

        assert reserved.enqueue_reserved(jobs, using="queue") == reserved.enqueue_reserved(jobs, using="queue")
        assert ids() == [str(number), str(keyed)]


class TestCallbacksOfTheProject:
    """Django calls nobody after a callback that has raised."""

    def test_one_that_raises_at_the_commit_of_the_queue_drops_no_job(self):
        """That commit was made, and so is the one of the rows."""
        with transaction.atomic():
            Trace.objects.create(what="row")
            with pytest.raises(ZeroDivisionError), transaction.atomic(using="queue"):
                transaction.on_commit(lambda: 1 / 0, using="queue")
                result = cast.succeed.enqueue()

        assert Trace.objects.count() == 1
        assert ids() == [result.id]

    def test_what_they_do_finds_the_jobs_of_that_commit(self):
        """A transaction on the rows that ends in one has its job."""
        rows = transaction.atomic()
        rows.__enter__()
        with transaction.atomic(using="queue"):
            transaction.on_commit(lambda: rows.__exit__(None, None, None), using="queue")
            result = cast.succeed.enqueue()

        assert ids() == [result.id]

    def test_a_block_of_the_queue_leaves_one_callback(self, queue):
        """However many jobs are asked for inside of it."""
        with transaction.atomic(), transaction.atomic(using="queue"):
            for _ in range(3):
                cast.succeed.enqueue()
            with transaction.atomic(using="queue"):
                cast.succeed.enqueue()

            assert len(queue.run_on_commit) == 2


class TestReceivers:
    """The job is there when task_enqueued is sent: whatever a receiver does, it is not lost, nor are others."""

    @pytest.fixture
    def leave(self):
        """A receiver that ends the process at each job."""

        def receiver(**_):
            raise SystemExit

        task_enqueued.connect(receiver)
        yield
        task_enqueued.disconnect(receiver)

    def test_one_that_leaves_costs_no_job(self, leave, caplog):
        """The jobs of every savepoint are inserted, and nothing says otherwise."""
        with pytest.raises(SystemExit), transaction.atomic():
            results = [cast.give_back.enqueue(1)]
            for number in range(2, 4):
                with transaction.atomic():
                    results.append(cast.give_back.enqueue(number))
            with suppress(RuntimeError), transaction.atomic():
                cast.give_back.enqueue("dropped")
                raise RuntimeError

        assert ids() == [result.id for result in results]
        assert all(result.enqueued_at for result in results)
        assert "not inserted" not in caplog.text

    def test_what_is_lost_behind_it_is_told(self, broken_queue, caplog):
        """The jobs that are there are not named."""

        def break_and_leave(**_):
            broken_queue()
            raise SystemExit

        task_enqueued.connect(break_and_leave)
        try:
            with pytest.raises(SystemExit), transaction.atomic():
                first = cast.give_back.enqueue(1)
                with transaction.atomic():
                    second = cast.give_back.enqueue(2)
        finally:
            task_enqueued.disconnect(break_and_leave)

        (line,) = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
        assert line.endswith(f"Ids: {second.id}")
        assert first.id not in line
