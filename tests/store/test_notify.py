"""Wake-ups: sent after the commit, seldom, and never at anybody's cost."""

import psycopg
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from django_jobqueue.store import notify

USING = "default"


@pytest.fixture(autouse=True)
def _silence(monkeypatch):
    """Begin each test as a process that has notified nobody yet."""
    monkeypatch.setattr(notify, "_sent_at", {})


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that only the test moves."""

    class Clock:
        now = 1000.0

        def monotonic(self):
            return self.now

    moving = Clock()
    monkeypatch.setattr(notify, "time", moving)
    return moving


@pytest.fixture
def listener(transactional_db):
    """Return a session that listens on the channel."""
    parameters = connection.get_connection_params()
    wanted = ("dbname", "host", "port", "user", "password")
    parameters = {name: parameters[name] for name in wanted if name in parameters}
    with psycopg.connect(**parameters, autocommit=True) as session:
        session.execute(f"LISTEN {notify.CHANNEL}")
        yield session


def heard(session, seconds=5.0):
    """Wait for a notification; return all payloads that came."""
    return [message.payload for message in session.notifies(timeout=seconds, stop_after=1)]


def notifications(queries):
    """Count the NOTIFY statements among queries."""
    return sum("pg_notify" in query["sql"] for query in queries)


def test_a_listener_is_woken(listener):
    """Outside of a transaction the notification is sent at once, without a payload."""
    notify.announce(USING, ["mail"])

    assert heard(listener) == [""]


def test_a_transaction_wakes_when_it_commits(listener):
    """Nobody is woken for a job that cannot be seen yet."""
    with transaction.atomic():
        notify.announce(USING, ["mail"])
        assert heard(listener, 0.2) == []

    assert heard(listener) == [""]


def test_a_transaction_that_fails_wakes_nobody(listener):
    """A job that never was is not announced."""
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        notify.announce(USING, ["mail"])
        1 / 0  # noqa: B018

    assert heard(listener, 0.2) == []


@pytest.mark.django_db(transaction=True)
def test_a_burst_wakes_once(clock):
    """Within 50 ms one notification for a queue is enough."""
    with CaptureQueriesContext(connection) as queries:
        for _ in range(10):
            notify.announce(USING, ["mail"])
            clock.now += 0.001
        clock.now += notify.QUIET_SECONDS
        notify.announce(USING, ["mail"])

    assert notifications(queries) == 2


@pytest.mark.django_db(transaction=True)
def test_each_queue_wakes_by_itself(clock):
    """A busy queue does not keep quiet for another."""
    with CaptureQueriesContext(connection) as queries:
        notify.announce(USING, ["mail"])
        notify.announce(USING, ["mail", "billing"])
        notify.announce(USING, ["billing"])

    assert notifications(queries) == 2


@pytest.mark.django_db(transaction=True)
def test_nothing_to_announce_costs_nothing(django_assert_num_queries):
    """Jobs that wait for their time wake nobody."""
    with django_assert_num_queries(0):
        notify.announce(USING, [])


@pytest.mark.django_db(transaction=True)
def test_a_failing_notification_is_logged_and_forgotten(monkeypatch, caplog):
    """The caller is not told, its connection works on, and the job is found by polling."""
    monkeypatch.setattr(notify, "CHANNEL", "x" * 100)
    with caplog.at_level("DEBUG", logger=notify.__name__):
        notify.announce(USING, ["mail"])

    assert "Cannot notify workers" in caplog.text
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)


@pytest.mark.django_db
def test_a_failing_notification_spares_the_transaction_of_a_test(monkeypatch, django_capture_on_commit_callbacks):
    """Callbacks that a TestCase runs inside its transaction leave it whole."""
    monkeypatch.setattr(notify, "CHANNEL", "x" * 100)
    with django_capture_on_commit_callbacks(execute=True) as callbacks:
        notify.announce(USING, ["mail"])

    assert len(callbacks) == 1
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)


@pytest.mark.django_db(transaction=True)
def test_a_project_that_commits_by_hand_is_left_alone(django_assert_num_queries):
    """Without autocommit nobody knows when a job can be seen; workers find it when they poll."""
    transaction.set_autocommit(False)
    try:
        with django_assert_num_queries(0):
            notify.announce(USING, ["mail"])
    finally:
        transaction.rollback()
        transaction.set_autocommit(True)
