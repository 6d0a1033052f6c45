"""The slate: nothing of one job is left for the next one in the same slot."""

import asyncio
import json
import logging
import socket

import pytest
from django.db import connection
from django.utils import timezone, translation

from django_jobqueue.models import Job
from django_jobqueue.policy.outcomes import Failed, Succeeded
from django_jobqueue.registry import Registry
from django_jobqueue.worker import slate
from django_jobqueue.worker.frames import FrameReader
from django_jobqueue.worker.runner import RunnerPlan, _Runner
from tests.tasks import give_back_async
from tests.worker import cast
from tests.worker.orders import BOUNDS, order, run

pytestmark = pytest.mark.django_db(transaction=True, available_apps=["django_jobqueue"])

UNTIDY = {
    cast.leave_atomic_open: True,
    cast.leave_autocommit_off: True,
    cast.leave_raw_begin: True,
    cast.leave_aborted: True,
    cast.leave_atomic_open_and_close: True,
    cast.swallow_an_error_in_atomic: False,
    cast.terminate_own_connection: False,
}


@pytest.mark.parametrize("task", UNTIDY, ids=lambda task: task.name)
def test_the_next_job_starts_clean(task):
    """Whatever transaction a job leaves behind, the next job in the slot writes and commits as if it were the first."""
    run(task)

    assert run(cast.write) == Succeeded("1")
    assert connection.get_autocommit()
    assert not connection.in_atomic_block
    assert traces_seen_by_others() == 1


@pytest.mark.parametrize(
    "task", [task for task, is_reported in UNTIDY.items() if is_reported], ids=lambda task: task.name
)
def test_what_was_left_open_is_rolled_back_and_reported(task, caplog):
    """A job's outcome stands, its uncommitted work does not, and the log names the task."""
    with caplog.at_level(logging.WARNING, "django_jobqueue.worker"):
        outcome = run(task)

    assert isinstance(outcome, Succeeded)
    assert traces_seen_by_others() == 0
    assert f"{task.module_path} left a transaction open on 'default'" in caplog.text


@pytest.mark.parametrize("task", [cast.swallow_an_error_in_atomic, cast.terminate_own_connection], ids=lambda t: t.name)
def test_an_error_of_the_database_is_the_job_s_own(task):
    """An aborted atomic block or a lost connection fails the job that has it."""
    assert isinstance(run(task), Failed)


@pytest.fixture
def lasting(monkeypatch):
    """Have the connection outlive the job that opened it."""
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", None)
    connection.close()
    yield
    connection.close()


@pytest.mark.parametrize("rested", [True, False], ids=["after_a_rest", "at_once"])
def test_a_connection_that_ended_unseen_is_replaced_before_the_next_job(lasting, rested):
    """Nobody used it since, so nobody had an error: a look at its socket tells."""
    run(cast.write)
    run(cast.hang_up_unseen)

    assert run(cast.write, rested=rested) == Succeeded("2")


def test_a_tidy_job_keeps_its_connection(lasting, caplog):
    """A job that leaves nothing behind costs no new connection, and no line in the log."""
    run(cast.write)
    before = connection.connection
    assert before is not None

    assert run(cast.write) == Succeeded("2")
    assert connection.connection is before
    assert [record for record in caplog.records if record.name.startswith("django_jobqueue")] == []


def test_a_shared_connection_that_is_dead_is_dropped():
    """Nothing comes of it any more for anybody, whoever is in the middle of something: it is replaced."""
    run(cast.write)
    connection.ensure_connection()
    cast.hang_up_unseen.func()

    assert slate.mend() is False
    assert connection.connection is None


def test_a_shared_connection_that_works_is_left_as_it_is():
    """Neither its age nor a transaction, broken or not, is a reason to close it under somebody; the latter is told."""
    connection.ensure_connection()
    before, connection.close_at = connection.connection, 0
    assert slate.mend() is False
    assert connection.close_at == 0

    cast.leave_raw_begin.func()
    assert slate.mend() is True
    cast.leave_aborted.func()
    assert slate.mend() is True

    assert connection.connection is before
    slate.after("a task")


def test_a_shared_transaction_says_nothing_where_the_project_has_no_autocommit(monkeypatch):
    """There each query opens one; it is left to whoever commits it."""
    monkeypatch.setitem(connection.settings_dict, "AUTOCOMMIT", False)
    connection.set_autocommit(False)
    cast.count_traces()
    before = connection.connection

    assert slate.mend() is False
    assert connection.connection is before
    connection.close()


def test_a_shared_connection_that_cannot_be_mended_fails_nobody(monkeypatch, caplog):
    """It is dropped, and said."""
    connection.ensure_connection()
    with monkeypatch.context() as patch:
        patch.setattr(connection, "close_if_unusable_or_obsolete", lambda: 1 / 0)
        assert slate.mend() is False

    assert connection.connection is None
    assert "cannot be mended" in caplog.text


def test_a_callback_that_was_never_due_is_not_called():
    """What a job meant to do on a commit that never came is not done by the next one's commit."""
    called = []

    connection.set_autocommit(False)
    connection.run_on_commit = [(set(), lambda: called.append("late"), False)]
    slate.after("a task")
    run(cast.write)

    assert called == []


def test_a_connection_past_its_age_is_closed(settings):
    """Connections get the life cycle that they have around a request: one that is too old is not used again."""
    run(cast.write)
    connection.close_at = 0

    run(cast.give)

    assert connection.connection is None
    assert run(cast.write) == Succeeded("2")


def test_a_broken_connection_is_not_kept_for_the_next_job():
    """A connection whose server went away is seen when it has made an error, and replaced."""
    run(cast.terminate_own_connection)

    assert run(cast.write) == Succeeded("1")


def test_the_query_log_is_left_empty(settings):
    """With DEBUG on, a job finds no query of the one before it, also when it follows without a pause."""
    settings.DEBUG = True
    for _ in range(5):
        run(cast.write)

        assert not connection.queries_log


def test_language_time_zone_and_context_variables_do_not_leak():
    """A job sees the project's defaults, whatever the one before it has set."""
    changed = json.loads(run(cast.change_the_mood).result)

    assert changed == ["ar", "Asia/Kathmandu", "mallory"]
    assert json.loads(run(cast.tell_mood).result) == ["en-us", "UTC", "nobody"]


def test_the_mood_of_the_slot_does_not_reach_a_job():
    """A job runs in a fresh context, not in a copy of the thread's."""
    with translation.override("de"), timezone.override("Europe/Berlin"):
        cast.tenant.set("somebody")
        told = json.loads(run(cast.tell_mood).result)

    assert told == ["en-us", "UTC", "nobody"]


def traces_seen_by_others():
    """Count the traces that another connection can see."""
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {Job._meta.db_table} WHERE task = 'a trace'")
            return cursor.fetchone()[0]
    finally:
        other.close()


def break_the_mending(monkeypatch):
    """Have the look at a connection that follows a job raise what no database would."""

    def refuse():
        raise RuntimeError("a driver of its own")

    def break_it():
        monkeypatch.setattr(connection, "close_if_unusable_or_obsolete", refuse)

    monkeypatch.setattr(cast, "count_traces", break_it)


def test_a_connection_that_cannot_be_mended_overrules_no_success(monkeypatch, caplog):
    """What a job left behind is dropped, and said: the job has succeeded, and the next one starts clean."""
    with monkeypatch.context() as patch:
        break_the_mending(patch)
        assert run(cast.write) == Succeeded("null")
        assert connection.connection is None

    assert "a driver of its own" in caplog.text
    assert run(cast.write) == Succeeded("2")


def test_cleaning_up_after_a_coroutine_overrules_no_success(monkeypatch):
    """Whatever goes wrong behind a coroutine, the keeper hears what became of it."""
    monkeypatch.setattr(slate, "after", lambda _task: 1 / 0)
    keeper, own = socket.socketpair()
    task = give_back_async
    one = _Runner(own, Registry({task.module_path: task}), RunnerPlan(threads=0, bounds=BOUNDS))

    asyncio.run(one._run_coroutine(order(task), task))

    (told,) = map(json.loads, FrameReader().feed(keeper.recv(4096)))
    assert (told[0], told[3][0]) == ("done", "succeeded")
    keeper.close()
    own.close()
