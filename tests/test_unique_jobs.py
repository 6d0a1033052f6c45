"""Unique jobs: one live job for each key, whoever asks, however often, and nobody's transaction is harmed."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError, connection, connections, transaction
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from django_jobqueue.compat import task_backends, task_enqueued
from django_jobqueue.exceptions import UniqueKeyContended
from django_jobqueue.models import Job
from django_jobqueue.store import enqueue as enqueue_room
from django_jobqueue.store import notify
from tests import tasks as cast
from tests.law import by_hand
from tests.races import race
from tests.store.hands import Hand
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def worker():
    """Somebody who claims."""
    worker = Hand()
    yield worker
    worker.session.close()


def set_status(job_id, status):
    with by_hand():
        Job.objects.filter(pk=job_id).update(status=status, waiting_for="retry" if status == "WAITING" else "")


def test_a_second_call_answers_with_the_job_that_is_there():
    """Its id, its arguments and its state; `created` says so, and there is one job."""
    first = cast.bill.enqueue(7, note="first")
    second = cast.bill.enqueue(7, note="second")

    assert (first.created, second.created) == (True, False)
    assert (second.id, second.kwargs, second.status) == (first.id, {"note": "first"}, first.status)
    assert Job.objects.get().unique_key == "invoice:7"


def test_another_key_or_another_task_is_another_job():
    """A key belongs to its backend and task."""
    made = [cast.bill.enqueue(7), cast.bill.enqueue(8), cast.remind.enqueue(7)]

    assert all(result.created for result in made)
    assert Job.objects.count() == 3


@pytest.mark.parametrize(
    ("status", "holds"),
    [
        ("WAITING", True),
        ("READY", True),
        ("RUNNING", True),
        ("SUCCESSFUL", False),
        ("FAILED", False),
        ("CANCELLED", False),
    ],
)
def test_a_key_is_held_until_the_job_is_over(status, holds):
    """Waiting for a retry included; a job that is over holds nothing."""
    first = cast.bill.enqueue(7)
    set_status(first.id, status)

    assert cast.bill.enqueue(7).created is not holds


def test_a_key_may_be_given_up_at_the_start(worker):
    """With unique_until="started" what is asked for while the job runs is another job; a retry takes no key back."""
    first = cast.remind.enqueue(7)
    assert not cast.remind.enqueue(7).created

    worker.claim(tasks=(cast.remind.module_path,))

    assert Job.objects.get(pk=first.id).status == "RUNNING"
    assert cast.remind.enqueue(7).created
    assert Job.objects.get(pk=first.id).unique_key is None


def test_a_key_may_be_given_for_one_call():
    """`using(unique_key=…)` makes it, for a task that has none too."""
    keyed = cast.take.using(unique_key="only {first}")

    assert keyed.enqueue("one").created
    assert not keyed.enqueue("one", 2).created
    assert keyed.enqueue("two").created
    assert cast.take.enqueue("one").created
    assert set(Job.objects.values_list("unique_key", flat=True)) == {"only one", "only two", None}


def test_a_batch_may_hold_a_key_twice():
    """The first of a kind is the job of all; jobs without a key are untouched, and the answers are in order."""
    earlier = cast.bill.enqueue(3)
    numbers = [5, 3, 5, 4, 5]

    results = task_backends["default"].enqueue_many(
        [*[(cast.bill, (number,), {}) for number in numbers], (cast.take, (1,), {}), (cast.take, (2,), {})]
    )

    assert [result.args for result in results] == [[5], [3], [5], [4], [5], [1], [2]]
    assert [result.created for result in results] == [True, False, False, True, False, True, True]
    assert results[1].id == earlier.id
    assert results[0].id == results[2].id == results[4].id
    assert Job.objects.count() == 5


def test_a_large_batch_meets_its_own_twins():
    """Also those that another statement of the same call has inserted."""
    results = task_backends["default"].enqueue_many([(cast.bill, (number % 1500,), {}) for number in range(3000)])

    assert sum(result.created for result in results) == Job.objects.count() == 1500
    assert [result.args[0] for result in results] == [number % 1500 for number in range(3000)]


def test_many_duplicates_are_read_at_once():
    """A nightly sweep that finds its jobs alive costs as many questions for fifty as for five."""
    backend = task_backends["default"]

    def questions(count):
        calls = [(cast.bill, (number,), {}) for number in range(count)]
        backend.enqueue_many(calls)
        with CaptureQueriesContext(connection) as asked:
            assert not any(result.created for result in backend.enqueue_many(calls))
        return len(asked)

    assert questions(5) == questions(50)


def test_only_a_new_job_is_announced():
    """Receivers of task_enqueued hear of each job once."""
    heard = []
    receiver = lambda task_result, **_: heard.append(task_result.id)  # noqa: E731
    task_enqueued.connect(receiver)
    try:
        first = cast.bill.enqueue(7)
        cast.bill.enqueue(7)
    finally:
        task_enqueued.disconnect(receiver)

    assert heard == [first.id]


def test_only_a_new_job_wakes_a_worker(monkeypatch):
    """A flood of duplicates costs no notifications."""
    woken = []
    monkeypatch.setattr(notify, "announce", lambda using, names: woken.append(set(names)))
    cast.bill.enqueue(7)
    cast.bill.enqueue(7)

    assert woken == [{"default"}, set()]


def test_the_callers_transaction_goes_on():
    """A duplicate raises nothing in PostgreSQL, and a savepoint that is rolled back leaves the key free."""
    with transaction.atomic():
        assert cast.take.enqueue("before").created
        with pytest.raises(RuntimeError), transaction.atomic():
            assert cast.bill.enqueue(7).created
            raise RuntimeError
        assert cast.bill.enqueue(7).created
        assert not cast.bill.enqueue(7).created
        assert cast.take.enqueue("after").created

    assert Job.objects.count() == 3


def test_the_holder_is_not_locked():
    """Who asks for a key that is held keeps nobody from claiming, renewing or settling its holder."""
    holder = cast.bill.enqueue(7)

    def lock():
        with transaction.atomic(), connections["default"].cursor() as cursor:
            cursor.execute("SELECT 1 FROM django_jobqueue_job WHERE id = %s FOR UPDATE NOWAIT", [holder.id])
            return cursor.fetchone()

    with transaction.atomic():
        assert not cast.bill.enqueue(7).created
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(in_a_thread(lock)).result() == (1,)


def in_a_thread(call):
    def called():
        try:
            return call()
        finally:
            connections.close_all()

    return called


@pytest.mark.parametrize("commits", [True, False], ids=["committed", "rolled_back"])
def test_a_twin_that_is_not_committed_yet_is_waited_for(commits):
    """Then it is the job, if it was committed; else there is a new one."""
    with ThreadPoolExecutor(1) as pool:
        transaction.set_autocommit(False)
        try:
            first = cast.bill.enqueue(7)
            waiting = pool.submit(in_a_thread(lambda: cast.bill.enqueue(7)))
            wait_until(somebody_waits_for_us)
            assert not waiting.done()
            (transaction.commit if commits else transaction.rollback)()
        finally:
            transaction.rollback()
            transaction.set_autocommit(True)
        second = waiting.result(timeout=30)

    assert second.created is not commits
    assert (second.id == first.id) is commits
    assert Job.objects.count() == 1


def somebody_waits_for_us():
    with connection.cursor() as cursor:
        # Not pg_stat_activity, which stays as a transaction has seen it first.
        cursor.execute("SELECT count(*) FROM pg_locks WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))")
        return cursor.fetchone()[0]


def test_of_many_who_ask_at_once_one_makes_the_job():
    """The others are told of it."""
    results = race(*[lambda: cast.bill.enqueue(7)] * 8)

    assert sorted(result.created for result in results) == [*[False] * 7, True]
    assert {result.id for result in results} == {str(Job.objects.get().pk)}


@pytest.mark.parametrize("count", [900, 2500], ids=["one_statement", "several"])
def test_crossed_batches_do_not_wait_in_a_circle(count):
    """However the calls are ordered, keys are taken in one order."""
    numbers = list(range(count))
    results = race(
        *[
            lambda ns=ns: task_backends["default"].enqueue_many([(cast.bill, (n,), {}) for n in ns])
            for ns in (numbers, numbers[::-1])
        ]
    )

    assert sum(result.created for batch in results for result in batch) == Job.objects.count() == count


def in_between(monkeypatch, before, after=lambda: None):
    """Let something happen each time before, and after, the holder of a key that was found taken is looked for."""
    run_on = enqueue_room.run_on

    def run(connection, statement):
        if statement.name != "unique_holders":
            return run_on(connection, statement)
        before()
        answer = run_on(connection, statement)
        after()
        return answer

    monkeypatch.setattr(enqueue_room, "run_on", run)


def test_a_holder_that_ends_in_between_leaves_the_key_free(monkeypatch):
    """The caller has the next job then: a duplicate is never reported for a job that is over."""
    holder = cast.bill.enqueue(7)
    in_between(monkeypatch, lambda: set_status(holder.id, "SUCCESSFUL"))

    assert cast.bill.enqueue(7).created


@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
def test_a_key_that_changes_hands_too_fast_is_told(monkeypatch, many):
    """After three rounds the caller is told to ask again; nothing of the batch is written, its transaction goes on."""
    holder = cast.bill.enqueue(7)
    # It is over when it is looked for, and another one (its double) is there when the key is asked for again.
    in_between(monkeypatch, lambda: set_status(holder.id, "SUCCESSFUL"), lambda: set_status(holder.id, "READY"))
    with transaction.atomic():
        with pytest.raises(UniqueKeyContended, match=r"the unique key 'invoice:7' of tests\.tasks\.bill changes hands"):
            if many:
                task_backends["default"].enqueue_many([(cast.bill, (8,), {}), (cast.bill, (7,), {})])
            else:
                cast.bill.enqueue(7)
        assert cast.take.enqueue("after").created

    assert {job.kwargs.get("first", job.args[0]) for job in Job.objects.all()} == {7, "after"}


@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
def test_a_holder_that_is_gone_before_it_is_read_leaves_the_key_free(many):
    """As when it is pruned at that moment: the call makes the next job."""
    holder = cast.bill.enqueue(7)

    def prune(execute, sql, params, many, context):
        if sql.startswith("SELECT") and '"args"' in sql:
            race(lambda: Job.objects.filter(pk=holder.id).delete())
        return execute(sql, params, many, context)

    calls = [(cast.bill, (8,), {}), *[(cast.bill, (7,), {})] * 2]
    with connection.execute_wrapper(prune):
        results = task_backends["default"].enqueue_many(calls) if many else [cast.bill.enqueue(7)]

    assert [result.created for result in results] == ([True, True, False] if many else [True])
    assert {result.id for result in results} == {str(job.pk) for job in Job.objects.all()}


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_under_a_snapshot_a_holder_that_has_changed_since_is_a_serialization_error(level):
    """It held the key long before; where it is as it was, it is the answer."""
    held, changed = cast.bill.enqueue(1), cast.bill.enqueue(2)
    with pytest.raises(OperationalError, match="could not serialize"), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
        assert Job.objects.count() == 2
        race(lambda: Job.objects.filter(pk=changed.id).update(cancel_requested_at=Now()))

        assert cast.bill.enqueue(1).id == held.id
        cast.bill.enqueue(2)
