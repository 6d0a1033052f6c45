"""The contract of a Django Tasks backend, kept by ours."""

import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from asgiref.sync import async_to_sync
from django.core.exceptions import SynchronousOnlyOperation
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from django_jobqueue import tasks
from django_jobqueue.backend import JobQueueBackend
from django_jobqueue.compat import (
    PACKAGE,
    InvalidTask,
    TaskResultDoesNotExist,
    TaskResultMismatch,
    TaskResultStatus,
    task_backends,
    task_enqueued,
)
from django_jobqueue.compat import Task as DjangoTask
from django_jobqueue.exceptions import InvalidOptions, InvalidPayload, UnsupportedDatabase
from django_jobqueue.models import Job
from tests import tasks as cast
from tests.law import by_hand
from tests.payload import shapes

BACKEND = "django_jobqueue.backend.JobQueueBackend"
FUTURE = datetime(2999, 1, 1, tzinfo=UTC)
PAST = datetime(1999, 1, 1, tzinfo=UTC)

pytestmark = pytest.mark.django_db


def plain_function(value=None):
    """Be the function of Django's own kind of task."""
    return value


def without_context(value):
    """Take no context."""


@pytest.fixture
def backend():
    """Return the default backend."""
    return task_backends["default"]


@pytest.fixture
def configure(settings):
    """Return a function that configures the default alias anew, and answers with its backend."""

    def configure(queues=(), **options):
        settings.TASKS = {
            "default": {"BACKEND": BACKEND, "QUEUES": list(queues), "OPTIONS": options},
            "other": {"BACKEND": BACKEND, "QUEUES": [], "OPTIONS": options},
        }
        return task_backends["default"]

    return configure


@pytest.fixture
def receivers():
    """Return a function that connects receivers of task_enqueued for the length of a test."""
    connected = []

    def connect(receiver):
        task_enqueued.connect(receiver, weak=False)
        connected.append(receiver)

    yield connect
    for receiver in connected:
        task_enqueued.disconnect(receiver)


def plain_task(**changes):
    """Make a task with Django's own class."""
    options = {
        "func": plain_function,
        "priority": 0,
        "queue_name": "default",
        "backend": "default",
        "run_after": None,
        "takes_context": False,
    }
    return DjangoTask(**(options | changes))


def test_get_backend(backend):
    """A task finds its backend, and the backend knows its alias."""
    assert cast.succeed.get_backend() is backend
    assert isinstance(backend, JobQueueBackend)
    assert backend.alias == "default"


def test_supports_everything(backend):
    """Deferring, coroutines, results and priorities are all supported."""
    assert backend.supports_defer
    assert backend.supports_async_task
    assert backend.supports_get_result
    assert backend.supports_priority
    assert backend.task_class is tasks.Task


def test_enqueue_makes_a_job():
    """The result's id is the job's, and the job carries what was asked."""
    result = cast.take.using(priority=7, queue_name="mail").enqueue("a", value={"b": 1})
    job = Job.objects.get(pk=result.id)

    assert (job.task, job.backend, job.queue_name) == ("tests.tasks.take", "default", "mail")
    assert (job.args, job.kwargs) == (["a"], {"value": {"b": 1}})
    assert (job.priority, job.status, job.max_attempts) == (7, "READY", 3)
    assert result.status == TaskResultStatus.READY
    assert result.enqueued_at == job.enqueued_at
    assert result.created
    assert not result.is_finished
    assert result.attempts == 0


def test_enqueue_is_one_statement(configure):
    """A job costs its INSERT, and nothing before or after it."""
    configure(notify=False)
    with CaptureQueriesContext(connection) as queries:
        cast.succeed.enqueue()

    assert [query["sql"].split("(")[0].strip() for query in queries] == [f'INSERT INTO "{Job._meta.db_table}"']


def test_enqueue_is_part_of_the_callers_transaction():
    """A job vanishes with the transaction that asked for it."""
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        cast.succeed.enqueue()
        1 / 0  # noqa: B018

    assert not Job.objects.exists()


def test_max_attempts_is_fixed_at_enqueue(configure):
    """The task's max_attempts goes into the row, or else the backend's."""
    configure(max_attempts=7)

    assert Job.objects.get(pk=cast.fail_then_succeed.enqueue().id).max_attempts == 5
    assert Job.objects.get(pk=cast.succeed.enqueue().id).max_attempts == 7


def test_attempts_are_finite_by_default():
    """A task that says nothing about retries has three attempts."""
    assert Job.objects.get(pk=cast.fail.enqueue().id).max_attempts == 3


def test_a_later_time_waits():
    """A job with run_after ahead is WAITING for time; Django calls it READY."""
    result = cast.succeed.using(run_after=FUTURE).enqueue()
    job = Job.objects.get(pk=result.id)

    assert (job.status, job.waiting_for, job.run_after) == ("WAITING", "time", FUTURE)
    assert result.status == TaskResultStatus.READY
    assert result.task.run_after == FUTURE


def test_a_past_time_is_now():
    """A run_after in the past makes a job ready, but lets it jump no queue."""
    job = Job.objects.get(pk=cast.succeed.using(run_after=PAST).enqueue().id)

    assert job.status == "READY"
    assert job.run_after == job.enqueued_at


def test_a_time_in_another_zone_is_the_same_moment():
    """run_after keeps its moment, whatever its time zone."""
    moment = FUTURE.astimezone(tz=None).replace(microsecond=123456)

    assert Job.objects.get(pk=cast.succeed.using(run_after=moment).enqueue().id).run_after == moment


@pytest.mark.parametrize("hours", [20, -23])
def test_a_time_far_from_utc_leaves_the_transaction_whole(hours):
    """PostgreSQL reads no offset of 16 hours or more; it is given UTC."""
    moment = FUTURE.astimezone(timezone(timedelta(hours=hours)))
    with transaction.atomic():
        result = cast.succeed.using(run_after=moment).enqueue()
        assert Job.objects.get(pk=result.id).run_after == FUTURE


@pytest.mark.parametrize(
    "moment",
    [
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
        datetime.max.replace(tzinfo=UTC),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=12))),
        datetime.min.replace(tzinfo=UTC),
    ],
    ids=str,
)
def test_a_time_that_not_every_zone_can_show_is_refused(moment):
    """Taken, it could be read by nobody: neither the job nor a list that it is in."""
    with pytest.raises(InvalidTask, match="run_after is outside of the years 1 to 9999"):
        cast.succeed.using(run_after=moment).enqueue()

    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ((cast.take, None, {}), r"^jobs\[0\]\.args: is a NoneType, not a list of arguments"),
        ((cast.take, "ab", {}), r"^jobs\[0\]\.args: is a str, not a list of arguments"),
        ((cast.take, {"first": 1}, {}), r"^jobs\[0\]\.args: is a dict, not a list of arguments"),
        ((cast.take, (1,), None), r"^jobs\[0\]\.kwargs: is a NoneType, not a dict of arguments"),
        ((cast.take, (1,), {1: 2}), r"^jobs\[0\]\.kwargs: has a name of type int; names are text"),
        ((cast.take, (1,)), r"^jobs\[0\]: is no \(task, args, kwargs\)"),
    ],
)
def test_enqueue_many_names_a_call_that_is_none(backend, call, words):
    """What could be read as arguments by mistake is refused, with its place in the list."""
    with pytest.raises(InvalidPayload, match=words):
        backend.enqueue_many([call])

    assert not Job.objects.exists()


def test_what_would_arrive_as_something_else_leaves_no_job():
    """An amount that its class doubles whenever it is read is found out at the call."""
    with pytest.raises(InvalidPayload, match=r"args\[0\]\.amount: would arrive as another value"):
        cast.take_gross.enqueue(shapes.Gross(Decimal(1)))

    assert not Job.objects.exists()


def test_the_name_of_the_context_is_no_argument():
    """A task that takes any name is given that one by the worker."""
    with pytest.raises(InvalidPayload, match=r"kwargs\['context'\]: is the context, which the worker gives"):
        cast.take_any_name.enqueue(context=1)


def test_arguments_are_copied():
    """What the caller does with its lists later changes neither job nor result."""
    rows = [1]
    result = cast.give_back.enqueue(rows)
    rows.append(2)

    assert result.args == [[1]]
    assert Job.objects.get(pk=result.id).args == [[1]]


def test_a_tuple_arrives_as_a_list():
    """As in Django's own backends, tuples are lists to the task."""
    assert cast.give_back.enqueue((1, 2)).args == [[1, 2]]


@pytest.mark.parametrize("value", [object(), {1: 2}, {1}, float("nan"), "a\0", b"\xff", FUTURE])
def test_what_cannot_be_stored_leaves_no_job(value):
    """Arguments that would change are refused before anything is written."""
    with pytest.raises(InvalidPayload, match=r"args\[1\]\['a'\]"):
        cast.take.enqueue(0, {"a": value})
    with pytest.raises(TypeError):
        cast.give_back.enqueue(value=value)

    assert not Job.objects.exists()


def test_what_the_task_does_not_take_leaves_no_job(backend):
    """A call that the function would refuse is refused at the enqueue, with the place, and the caller goes on."""
    with transaction.atomic():
        with pytest.raises(
            InvalidPayload, match=r"kwargs\['valeu'\]: is no argument of take\(\); did you mean 'value'\?"
        ):
            cast.take.enqueue(1, valeu=2)
        with pytest.raises(InvalidPayload, match=r"jobs\[1\]\.args and kwargs: take\(\) needs first"):
            backend.enqueue_many([(cast.take, (1,), {}), (cast.take, (), {})])
        cast.take.enqueue(1)

    assert Job.objects.count() == 1


def test_what_a_worker_could_not_read_leaves_no_job(backend):
    """A type that does not read what it writes is told at the call, not by a dead letter, and nothing is written."""
    with pytest.raises(InvalidPayload, match=r"args\[0\]: is no OneWay: in: missing"):
        cast.meet.enqueue(shapes.OneWay(**{"in": "Ada"}))

    assert not Job.objects.exists()


def test_the_context_is_no_argument(backend):
    """The first parameter of a task that takes its context is the worker's to give."""
    cast.fail_then_succeed.enqueue(2)
    cast.fail_then_succeed.enqueue(failures=2)

    with pytest.raises(InvalidPayload, match="is the context, which the worker gives"):
        cast.fail_then_succeed.enqueue(context=1)


def test_too_large_a_payload_is_refused(configure):
    """OPTIONS max_payload_bytes bounds the arguments; the error has both figures."""
    configure(max_payload_bytes=1024)

    with pytest.raises(InvalidPayload, match="2006 bytes as JSON, at most 1024"):
        cast.give_back.enqueue("é" * 1000)
    assert not Job.objects.exists()


@pytest.mark.parametrize("size", [7_900, 9_000, 200_000])
def test_large_arguments_need_no_notification_of_their_size(size):
    """Arguments beyond what NOTIFY can carry are enqueued like any other."""
    result = cast.give_back.enqueue("é" * (size // 2))

    assert cast.give_back.get_result(result.id).args == result.args


def test_using_another_backend(configure):
    """A job belongs to the backend that took it, which alone answers for it."""
    configure()
    result = cast.succeed.using(backend="other").enqueue()

    assert Job.objects.get(pk=result.id).backend == "other"
    assert result.backend == "other"
    assert task_backends["other"].get_result(result.id) == result
    with pytest.raises(TaskResultDoesNotExist):
        task_backends["default"].get_result(result.id)


def test_a_plain_task_is_taken(backend):
    """Django's own Task is enqueued like ours, with the defaults."""
    result = plain_task(priority=5).enqueue(1)
    job = Job.objects.get(pk=result.id)

    assert (job.task, job.priority, job.max_attempts) == ("tests.test_backend.plain_function", 5, 3)
    assert type(result.task) is DjangoTask


def test_a_stored_name_is_stored(monkeypatch):
    """A task with a task_name is stored under it, and found again by it."""
    monkeypatch.setattr(tasks, "_declared", dict(tasks._declared))
    named = tasks.task(task_name="billing.charge")(plain_function)
    result = named.enqueue()

    assert Job.objects.get(pk=result.id).task == "billing.charge"
    assert named.get_result(result.id) == result


@pytest.mark.parametrize("priority", [-100, 0, 100, 5.0])
def test_priorities_within_bounds(priority):
    """A whole number from -100 to 100 is a priority."""
    result = cast.succeed.using(priority=priority).enqueue()

    assert Job.objects.get(pk=result.id).priority == priority


@pytest.mark.parametrize("priority", [float("nan"), float("inf"), -101, 101, 3.1, True, "5"])
def test_other_priorities_are_refused(priority):
    """A priority out of bounds, broken, or no number is refused."""
    with pytest.raises(InvalidTask, match="priority"):
        cast.succeed.using(priority=priority)


@pytest.mark.parametrize("queue_name", ["", "x" * 129, "a\0b", "two\nlines", "\ud800", 5, "mail*", "ma*il"])
def test_a_queue_name_that_cannot_be_stored_or_served_is_refused(queue_name):
    """A queue's name is 1 to 128 printable characters, without the asterisk that is a prefix to a worker."""
    with pytest.raises(InvalidTask, match="queue_name"):
        cast.succeed.using(queue_name=queue_name)


def test_queues_may_be_limited(configure):
    """With QUEUES only those names are allowed; without any, every name is."""
    configure(queues=["default", "mail"])

    cast.succeed.using(queue_name="mail").enqueue()
    with pytest.raises(InvalidTask, match="spam"):
        cast.succeed.using(queue_name="spam")


def test_a_queue_name_without_queues_is_told(settings):
    """Django allows one queue name where QUEUES is missing; the error says what to add."""
    settings.TASKS = {"default": {"BACKEND": BACKEND}}
    with pytest.raises(InvalidTask, match=r"""add "QUEUES": \[\] to TASKS\['default'\]"""):
        cast.succeed.using(queue_name="billing")


def test_context_needs_its_argument():
    """A task that takes the context must name it as its first argument."""
    with pytest.raises(InvalidTask, match="context"):
        tasks.task(takes_context=True)(without_context)


@pytest.mark.parametrize("run_after", [timedelta(seconds=1), "tomorrow", 5])
def test_run_after_is_a_datetime(run_after):
    """Anything but a datetime is refused as run_after."""
    with pytest.raises(InvalidTask, match=r"run_after is a datetime, as in timezone.now\(\) \+ timedelta"):
        cast.succeed.using(run_after=run_after)


def test_run_after_needs_a_time_zone():
    """With USE_TZ a naive run_after is refused."""
    with pytest.raises(InvalidTask, match="aware"):
        cast.succeed.using(run_after=datetime(2999, 1, 1))


@pytest.mark.parametrize("method", ["enqueue", "validate_task"])
def test_an_unstable_function_is_refused_at_enqueue_too(backend, method):
    """A Task of Django's that was made for another backend is judged when it is enqueued here."""
    lame = object.__new__(DjangoTask)
    for name, value in {
        "func": lambda: 0,
        "priority": 0,
        "queue_name": "default",
        "backend": "default",
        "run_after": None,
        "takes_context": False,
    }.items():
        object.__setattr__(lame, name, value)

    with pytest.raises(InvalidTask, match="lambda"):
        getattr(backend, method)(lame, *([(), {}] if method == "enqueue" else []))


def test_get_result_is_what_enqueue_said(backend):
    """A result read back equals the one that enqueue returned."""
    result = cast.take.using(priority=3, queue_name="mail").enqueue([1, -0.0, 1e22], value="é")

    assert backend.get_result(result.id) == result
    assert cast.take.get_result(result.id) == result


def test_get_result_in_a_coroutine():
    """Results can be awaited."""

    async def view():
        result = await cast.succeed.aenqueue()
        return result, await cast.succeed.aget_result(result.id)

    enqueued, read = async_to_sync(view)()
    assert enqueued == read


@pytest.mark.parametrize(
    "result_id",
    [
        "abc",
        "",
        "0",
        "-1",
        "1.0",
        "1e3",
        "007",
        " 1",
        "1 ",
        "\u0661",
        "9" * 19,
        "9" * 400,
        None,
        "1\0",
    ],
)
def test_an_id_that_is_none_does_not_exist(backend, result_id):
    """Whatever is no id of a job is answered as a job that does not exist."""
    with pytest.raises(TaskResultDoesNotExist):
        backend.get_result(result_id)


def test_another_tasks_result_is_a_mismatch():
    """A task refuses the result of another."""
    result = cast.succeed.enqueue()

    with pytest.raises(TaskResultMismatch):
        cast.fail.get_result(result.id)


def test_refresh_reads_the_job_again():
    """A result that is refreshed says what became of its job."""
    result = cast.give_back.enqueue(1)
    with by_hand():
        Job.objects.filter(pk=result.id).update(status="SUCCESSFUL", result=1)
    result.refresh()

    assert result.status == TaskResultStatus.SUCCESSFUL
    assert result.is_finished
    assert result.return_value == 1


def test_a_removed_task_has_a_result(backend):
    """The result of a job whose task is gone can still be read; it stands under its stored name."""
    result = cast.succeed.enqueue()
    Job.objects.filter(pk=result.id).update(task="gone.tasks.vanished")
    read = backend.get_result(result.id)

    assert read.status == TaskResultStatus.READY
    assert read.task.module_path == "gone.tasks.vanished"
    with pytest.raises(LookupError, match=r"gone\.tasks\.vanished"):
        read.task.call()
    with pytest.raises(InvalidTask, match="nothing to run"):
        read.task.enqueue()


def test_enqueue_many_keeps_the_order(backend):
    """Each call has its result, in the order in which they were given."""
    results = backend.enqueue_many([(cast.take, (n,), {"value": n}) for n in range(5)])

    assert [result.args for result in results] == [[n] for n in range(5)]
    assert sorted(int(result.id) for result in results) == [int(r.id) for r in results]
    assert [job.args for job in Job.objects.order_by("pk")] == [[n] for n in range(5)]


def test_enqueue_many_is_a_statement_a_thousand(configure):
    """Thousands of jobs are inserted by a few statements in one transaction."""
    backend = configure(notify=False)
    with CaptureQueriesContext(connection) as queries:
        results = backend.enqueue_many((cast.succeed, (), {}) for _ in range(2001))

    assert len(results) == Job.objects.count() == 2001
    inserts = [query for query in queries if query["sql"].startswith("INSERT")]
    assert len(inserts) == 3
    assert len(queries) == 5  # and a savepoint of this test's transaction around them


def test_enqueue_many_is_all_or_nothing(backend):
    """One call that is refused keeps all of them out, and the error says which it was."""
    calls = [(cast.give_back, (n,), {}) for n in range(3)]

    with pytest.raises(InvalidPayload) as refused:
        backend.enqueue_many([*calls, (cast.give_back, (), {"value": {1}})])
    assert refused.value.path == "jobs[3].kwargs['value']"
    assert not Job.objects.exists()


def test_enqueue_many_names_an_invalid_task(configure):
    """A task that its backend refuses is named by its place."""
    elsewhere = cast.succeed.using(queue_name="spam")
    backend = configure(queues=["default"])

    with pytest.raises(InvalidTask, match=r"jobs\[1\]: queue_name 'spam'"):
        backend.enqueue_many([(cast.succeed, (), {}), (elsewhere, (), {})])
    assert not Job.objects.exists()


def test_enqueue_many_of_nothing(backend):
    """No calls make no jobs."""
    assert backend.enqueue_many([]) == []


def test_enqueue_in_a_coroutine(backend):
    """In an event loop, the awaitable enqueue makes the job."""

    async def view():
        one = await cast.give_back_async.aenqueue(1)
        many = await backend.aenqueue_many([(cast.succeed, (), {})] * 2)
        return [one, *many]

    ids = [int(result.id) for result in async_to_sync(view)()]
    assert list(Job.objects.order_by("pk").values_list("pk", flat=True)) == ids


def test_plain_enqueue_in_a_coroutine_is_refused():
    """In an event loop, the blocking enqueue raises Django's clear error, and makes no job."""

    async def view():
        cast.succeed.enqueue()

    with pytest.raises(SynchronousOnlyOperation):
        async_to_sync(view)()
    assert not Job.objects.exists()


def test_task_enqueued_is_sent(receivers):
    """Receivers get the result of every job, after it was inserted."""
    seen = []
    receivers(lambda sender, task_result, **kwargs: seen.append((sender, task_result)))
    result = cast.succeed.enqueue()

    assert seen == [(JobQueueBackend, result)]


def test_a_receiver_that_fails_does_not_harm(receivers):
    """A job that was inserted is reported as such, whatever a receiver does."""

    def explode(**kwargs):
        raise RuntimeError("receiver")

    receivers(explode)

    assert Job.objects.filter(pk=cast.succeed.enqueue().id).exists()


def test_enqueuing_is_logged(caplog):
    """Django's own log says which task was enqueued."""
    with caplog.at_level("DEBUG", logger=PACKAGE):
        result = cast.succeed.enqueue()

    assert f"id={result.id} path=tests.tasks.succeed enqueued" in caplog.text


def test_wrong_options_are_told_at_enqueue(configure):
    """Building a backend with wrong OPTIONS raises nothing; enqueue says what is wrong."""
    backend = configure(lease_secs=3)

    with pytest.raises(InvalidOptions, match=r"TASKS\['default'\].*did you mean 'lease_seconds'"):
        cast.succeed.enqueue()
    with pytest.raises(InvalidOptions):
        _ = backend.database


def test_an_unknown_database_is_told_at_enqueue(configure):
    """An alias that is not in DATABASES is named, with those that are."""
    configure(database="queue")

    with pytest.raises(InvalidOptions, match="'queue', which is not in DATABASES; use one of"):
        cast.succeed.enqueue()


def test_another_database_than_postgresql_is_refused(configure, monkeypatch):
    """On SQLite enqueue refuses, and says what to do in tests."""
    configure()
    monkeypatch.setattr(connection, "vendor", "sqlite")
    monkeypatch.setattr(connection, "display_name", "SQLite")

    with pytest.raises(UnsupportedDatabase, match=r"is SQLite; .*ImmediateBackend"):
        cast.succeed.enqueue()
    with pytest.raises(UnsupportedDatabase):
        task_backends["default"].get_result("1")


def test_building_a_backend_asks_nothing(django_assert_num_queries):
    """A backend is built in every thread: it costs no query and raises nothing."""
    with django_assert_num_queries(0):
        built = JobQueueBackend("default", {"OPTIONS": "nonsense"})

    assert built.alias == "default"


def test_enqueue_works_in_a_test_case(django_capture_on_commit_callbacks):
    """In a TestCase jobs are there at once, and the wake-up runs with the other callbacks."""
    with django_capture_on_commit_callbacks(execute=True):
        cast.succeed.enqueue()

    assert Job.objects.count() == 1
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def test_arguments_are_stored_as_json():
    """What is in the row can be read by anyone as JSON."""
    result = cast.give_back.enqueue({"é": [None, True, 1.5]})
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT args::text FROM {Job._meta.db_table} WHERE id = %s", [result.id])
        (text,) = cursor.fetchone()

    assert json.loads(text) == [{"é": [None, True, 1.5]}]
