"""A worker's own connection: one transaction, one round trip, and nothing left behind."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.db import connection

from django_jobqueue.models import Job
from django_jobqueue.store.session import Session, connect
from tests.store.hands import COMMITS, TASK, Ask, add_job
from tests.waiting import wait_until

pytestmark = COMMITS

INSERT = "INSERT INTO django_jobqueue_job (task) VALUES (%s) RETURNING id"


@pytest.fixture
def session(db):
    """A session on the test database."""
    session = Session("default")
    yield session
    session.close()


@pytest.fixture
def database_setting(db):
    """Set what every new connection to the test database starts with; taken back in the end."""
    names = []

    def set_default(name, value):
        names.append(name)
        with connection.cursor() as cursor:
            cursor.execute(
                f"ALTER DATABASE {connection.ops.quote_name(cursor.db.settings_dict['NAME'])} SET {name} TO {value}"
            )

    yield set_default
    for name in names:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER DATABASE {connection.ops.quote_name(cursor.db.settings_dict['NAME'])} RESET {name}")


SETTING = "SELECT current_setting(%s)"


def setting(name):
    return Ask(SETTING, [name])


def test_statements_take_one_round_trip(session, tmp_path):
    """However many statements a call has, the server is asked to answer once."""
    session.run()
    with (tmp_path / "trace").open("w+") as trace:
        session._connection.pgconn.trace(trace.fileno())
        session.run(*[Ask("SELECT 1")] * 5, statement_timeout_ms=1000)
        session._connection.pgconn.untrace()
        messages = [line.split("\t") for line in trace.seek(0) or trace.readlines()]

    sent = [fields[3].strip() for fields in messages if fields[1] == "F"]
    assert sent.count("Execute") >= 5
    assert sent.count("Sync") == 1


def test_statements_share_one_transaction(session):
    """What one statement writes, the next one sees, and they commit together."""
    first, second = session.run(*[Ask("SELECT pg_current_xact_id()::text")] * 2)

    assert first == second


def test_answers_come_in_the_order_of_the_questions(session):
    """Each statement's answer is found at its own place."""
    answers = session.run(Ask("SELECT 1"), Ask("SELECT 2 WHERE false"), Ask("SELECT 3"))

    assert answers == [[(1,)], [], [(3,)]]


@pytest.mark.parametrize("isolation", ["'repeatable read'", "'serializable'"])
def test_transactions_are_read_committed_whatever_the_project_prefers(session, database_setting, isolation):
    """A default_transaction_isolation of the database does not reach the queue's transactions."""
    database_setting("default_transaction_isolation", isolation)

    assert session.run(setting("transaction_isolation")) == [[("read committed",)]]


def test_transactions_can_write_where_reading_is_the_default(session, database_setting):
    """A default_transaction_read_only of the database does not reach the queue's transactions."""
    database_setting("default_transaction_read_only", "on")

    assert session.run(Ask(INSERT, [TASK]))[0][0][0] > 0


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("enable_seqscan", "off"),
        ("enable_bitmapscan", "off"),
        ("enable_sort", "off"),
        ("enable_hashjoin", "off"),
        ("enable_mergejoin", "off"),
        ("jit", "off"),
        ("idle_in_transaction_session_timeout", "5s"),
        ("statement_timeout", "700ms"),
    ],
)
def test_settings_end_with_the_transaction(session, name, inside):
    """The plan guard and the time-outs hold inside a call, and are gone after it, as a pooler needs it."""
    with connect("default") as fresh:
        ((untouched,),) = fresh.execute(SETTING, [name])

    assert session.run(setting(name), statement_timeout_ms=700) == [[(inside,)]]
    assert session._connection.execute(SETTING, [name]).fetchall() == [(untouched,)]


def test_no_prepared_statement_is_left(session):
    """A statement that is run many times is not prepared in the session."""
    for _ in range(20):
        session.run(Ask("SELECT %s::int", [1]))

    assert session.run(Ask("SELECT count(*) FROM pg_prepared_statements")) == [[(0,)]]


def test_a_statement_that_takes_too_long_is_cancelled(session):
    """statement_timeout_ms ends a statement and rolls its call back."""
    with pytest.raises(psycopg.errors.QueryCanceled):
        session.run(Ask(INSERT, [TASK]), Ask("SELECT pg_sleep(60)"), statement_timeout_ms=50)

    assert not Job.objects.exists()


@pytest.mark.parametrize(
    "bad",
    [
        Ask("SELECT 1 / 0"),
        Ask("SELECT FROM nowhere"),
        Ask("SELECT %s::jsonb", ["{"]),
        Ask("SELECT %s::text", ["a NUL: \0"]),
        Ask("SELECT %s::text", ["half a surrogate pair: \ud800"]),
        Ask("SELECT %s::text", [object()]),
    ],
    ids=["division", "no table", "no JSON", "NUL", "lone surrogate", "no adapter"],
)
def test_an_error_rolls_everything_back_and_the_session_goes_on(session, bad):
    """Whatever a statement stumbles over, on the server or on its way there, nothing of its call is written."""
    with pytest.raises((psycopg.Error, UnicodeError)):
        session.run(Ask(INSERT, ["before"]), bad, Ask(INSERT, ["after"]))
    session.run(Ask(INSERT, ["next call"]))

    assert list(Job.objects.values_list("task", flat=True)) == ["next call"]


def test_an_error_is_told_once(session, caplog):
    """An error that arrives while more is sent is raised, and psycopg's log has nothing to add."""
    with pytest.raises(psycopg.errors.UndefinedTable):
        session.run(Ask("SELECT FROM nowhere"), *[Ask("SELECT 1")] * 1000)

    assert [record.getMessage() for record in caplog.records] == []


def test_an_error_keeps_the_connection(session):
    """A refused statement costs no new connection."""
    (before,) = session.run(Ask("SELECT pg_backend_pid()"))
    with pytest.raises(psycopg.errors.DivisionByZero):
        session.run(Ask("SELECT 1 / 0"))

    assert session.run(Ask("SELECT pg_backend_pid()")) == [before]


def test_a_server_that_only_reads_by_now_is_left(session):
    """A demoted server keeps its connections; who connects anew may be led to the one that leads now."""
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        session.run(Ask("SET TRANSACTION READ ONLY"), Ask(INSERT, [TASK]))

    assert not session.is_open


def test_a_line_that_dies_without_a_word_is_noticed(session):
    """Workers' connections ask now and then whether the other side is there, unless the project says how often."""
    listening = session.listen("test")
    parameters = listening.info.get_parameters()
    listening.close()

    assert (parameters["keepalives_idle"], parameters["keepalives_count"]) == ("30", "3")


def test_the_projects_own_parameters_win(session, settings):
    """What DATABASES says of a connection holds for the workers' too."""
    options = settings.DATABASES["default"]["OPTIONS"]
    connection.settings_dict["OPTIONS"] = options | {"connect_timeout": 7, "keepalives_idle": 11}
    try:
        with connect("default") as line:
            parameters = line.info.get_parameters()
    finally:
        connection.settings_dict["OPTIONS"] = options

    assert (parameters["connect_timeout"], parameters["keepalives_idle"]) == ("7", "11")


def test_a_session_opens_its_connection_when_it_is_needed(session):
    """A session that was never asked anything holds no connection."""
    assert not session.is_open
    session.run()
    assert session.is_open


def test_abandon_ends_a_call_that_hangs(session):
    """A call that the server does not answer raises OperationalError once another thread has cut its line."""
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(session.run, Ask("SELECT 'a call that hangs', pg_sleep(600)"))
        wait_until(lambda: sleeping_backends("a call that hangs"))
        session.abandon()
        error = call.exception(timeout=10)

    assert isinstance(error, psycopg.OperationalError)
    assert not session.is_open
    terminate(sleeping_backends("a call that hangs"))


def test_a_session_comes_back_after_abandon(session):
    """The next call after a cut line opens a new connection."""
    session.run()
    session.abandon()
    with pytest.raises(psycopg.OperationalError):
        session.run(Ask("SELECT 1"))

    assert session.run(Ask("SELECT 1")) == [[(1,)]]


def test_abandon_needs_no_connection(session):
    """To cut a line that was never opened, or is closed, does nothing."""
    session.abandon()
    session.run()
    session.close()
    session.abandon()

    assert session.run(Ask("SELECT 1")) == [[(1,)]]


def test_a_session_reconnects_after_its_backend_is_gone(session):
    """A terminated backend costs one call; the next one opens a new connection."""
    ((pid,),) = session.run(Ask("SELECT pg_backend_pid()"))[0]
    terminate([pid])
    with pytest.raises(psycopg.OperationalError):
        session.run(Ask("SELECT 1"))

    assert not session.is_open
    assert session.run(Ask("SELECT pg_backend_pid()"))[0] != [(pid,)]


def test_work_of_a_backend_that_dies_is_rolled_back(session):
    """What a call had written when its backend was terminated is not there, and the session can be used again."""
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(session.run, Ask(INSERT, [TASK]), Ask("SELECT 'dies in its sleep', pg_sleep(600)"))
        terminate(wait_until(lambda: sleeping_backends("dies in its sleep")))
        error = call.exception(timeout=10)
    session.run(Ask("SELECT 1"))

    assert isinstance(error, psycopg.OperationalError)
    assert not Job.objects.exists()


def test_a_frozen_worker_holds_no_lock(session):
    """The server ends a transaction whose client stopped in the middle of a call, and with it its locks."""
    job_id = add_job()
    frozen = connect("default")
    quick = Session("default", idle_timeout_ms=100)
    frozen.execute("BEGIN")
    frozen.execute(quick._own_settings)
    frozen.execute("SELECT FROM django_jobqueue_job WHERE id = %s FOR UPDATE", [job_id])

    question = Ask("SELECT id FROM django_jobqueue_job WHERE id = %s FOR UPDATE SKIP LOCKED", [job_id])
    assert wait_until(lambda: session.run(question)[0]) == [(job_id,)]
    frozen.close()


def test_listen_hears_what_is_notified(session):
    """A second connection hears the channel, and is the caller's own."""
    ear = session.listen("a channel")
    try:
        session.run(Ask("SELECT pg_notify('a channel', 'look')"))

        assert next(ear.notifies(timeout=10)).payload == "look"
    finally:
        ear.close()


@pytest.mark.filterwarnings("ignore:using 'notifies")
def test_what_others_hear_is_not_kept(session):
    """A session that a pooler has lent to a listener before is sent notifications; the worker does not collect them."""
    session.run(Ask("SELECT 1"))
    session._connection.execute('LISTEN "a channel"')
    session.run(Ask("SELECT pg_notify('a channel', 'look')"))
    session.run(Ask("SELECT 1"))

    assert list(session._connection.notifies(timeout=0)) == []


def test_a_session_is_not_the_connection_of_django(session):
    """Nothing that a task does to Django's connection reaches the session."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        ours = cursor.fetchall()

    assert session.run(Ask("SELECT pg_backend_pid()")) != [ours]


def sleeping_backends(mark):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND state = 'active' AND wait_event = 'PgSleep' AND query LIKE %s",
            [f"%{mark}%"],
        )
        return [pid for (pid,) in cursor.fetchall()]


def terminate(pids):
    with connection.cursor() as cursor:
        for pid in pids:
            cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
