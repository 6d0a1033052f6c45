"""A queue on another alias than the rows: the id is known at the call, and the commit of the rows decides."""

import logging
import os
import sys
from contextlib import suppress
from dataclasses import replace

import pytest
from asgiref.sync import async_to_sync
from django.db import DataError, IntegrityError, OperationalError, connection, connections, transaction
from django.db.utils import ProgrammingError
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import path

from django_jobqueue import deferred, once, producer, task
from django_jobqueue.compat import TaskResultDoesNotExist, task_backends, task_enqueued
from django_jobqueue.exceptions import InvalidOptions, InvalidPayload, MissingGrant
from django_jobqueue.models import Effect, Job
from django_jobqueue.store import reserved
from django_jobqueue.store.enqueue import NewJob
from django_jobqueue.testing import run_jobs
from tests import tasks as cast
from tests.races import race
from tests.stage.models import Trace
from tests.two_databases import BACKEND, TASKS, two_queues

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "queue", "spare"]),
    pytest.mark.urls(__name__),
]


@pytest.fixture(scope="module", autouse=True)
def more_databases(django_db_setup):
    """An alias has to be there before a test says that it uses it."""
    with two_queues():
        yield


@pytest.fixture(autouse=True)
def queue(settings, db):
    """The connection of the queue. `Job.objects` looks on that of the rows, and sees what is committed."""
    settings.TASKS = TASKS
    yield connections["queue"]
    Trace.objects.all().delete()


@pytest.fixture
def other_person():
    """Somebody who enqueues at once, in a transaction of nobody's."""
    yield lambda task, *args: race(lambda: task.enqueue(*args).id)[0]


@pytest.fixture
def broken_queue():
    """Return a function after which nothing can be inserted."""
    yield lambda: rename("django_jobqueue_job", "elsewhere")
    with suppress(ProgrammingError):
        rename("elsewhere", "django_jobqueue_job")


@pytest.fixture
def refuse_an_invoice():
    """Return a function after which a job of the second statement cannot be inserted."""
    table = Job._meta.db_table

    def refuse():
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT refused CHECK (unique_key <> 'invoice:699')")

    yield refuse
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS refused")


@pytest.fixture
def narrow_role(queue):
    """Let the session of the queue do what is granted on the tables, and no more. Answers with the name of the role."""
    role = f"narrow_{os.getpid()}"
    table = Job._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {role}; GRANT SELECT, INSERT ON {table} TO {role}")
    with queue.cursor() as cursor:
        cursor.execute(f"SET ROLE {role}")
    yield role
    queue.close()
    with connection.cursor() as cursor:
        cursor.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


@pytest.fixture
def unlucky_insert():
    """Have the first INSERT of a job refused, as one that has met other transactions."""
    with connection.cursor() as cursor:
        cursor.execute("""
            CREATE SEQUENCE luck;
            CREATE FUNCTION need_luck() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF nextval('luck') = 1 THEN RAISE 'not now' USING ERRCODE = 'serialization_failure'; END IF;
                RETURN NULL;
            END $$;
            """)
        cursor.execute(
            f"CREATE TRIGGER luck AFTER INSERT ON {Job._meta.db_table} FOR EACH STATEMENT EXECUTE FUNCTION need_luck()"
        )
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION need_luck() CASCADE; DROP SEQUENCE luck;")


def rename(old, new):
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {old} RENAME TO {new}")


def inserts(queries):
    return sum("INSERT INTO" in query["sql"] for query in queries)


def ids():
    return [*map(str, Job.objects.order_by("pk").values_list("pk", flat=True))]


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


class TestWhatIsLost:
    """Between the commit of the rows and the INSERT there is nobody who knows."""

    def test_an_insert_that_fails_is_raised_to_the_caller_of_the_commit(self, broken_queue, caplog):
        """The rows are committed; the log names every job that is lost, and no argument of any."""
        with pytest.raises(ProgrammingError), transaction.atomic():
            Trace.objects.create(what="row")
            first = cast.give_back.enqueue("top secret")
            with transaction.atomic():
                second = cast.give_back.enqueue("top secret")
            with suppress(RuntimeError), transaction.atomic():
                dropped = cast.give_back.enqueue("top secret")
                raise RuntimeError
            third = cast.succeed.enqueue()
            broken_queue()

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


class TestTheWork:
    """What many jobs of one transaction cost."""

    def test_many_calls_in_both_transactions(self):
        """With and without keys, beside callbacks of the project's."""

        def ask(count):
            with transaction.atomic(using="queue"), transaction.atomic():
                for number in range(count):
                    cast.bill.enqueue(number)
                    cast.bill.enqueue(number)
                    cast.succeed.enqueue()
                    transaction.on_commit(dict)

        assert_grows_evenly(ask)

    def test_many_savepoints(self):
        """Of both, inside of one transaction."""

        def ask(count):
            with transaction.atomic(using="queue"), transaction.atomic():
                for number in range(count):
                    with transaction.atomic(using="queue"), transaction.atomic():
                        cast.bill.enqueue(number)
                    cast.bill.enqueue(number)

        assert_grows_evenly(ask)


def assert_grows_evenly(ask):
    """The last jobs take as many steps as those before them."""
    first, second, third = (steps_of(ask, count) for count in (20, 40, 60))
    assert third - second == pytest.approx(second - first, rel=0.02)


def steps_of(ask, count):
    """Count the bytecodes that Python runs for it in the modules that keep the account of what waits."""
    steps = 0

    def trace(frame, event, arg):
        nonlocal steps
        if frame.f_code.co_filename not in {deferred.__file__, producer.__file__}:
            return None
        frame.f_trace_opcodes = True
        steps += event == "opcode"
        return trace

    Job.objects.all().delete()
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        ask(count)
    finally:
        sys.settrace(before)
    return steps


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
