"""The listener: hears notifications on a line of its own, and does not trust that line for ever."""

import pytest
from django.db import connection

from django_jobqueue.store import session
from django_jobqueue.store.notify import LOOK, STOP
from django_jobqueue.worker import clock, listener
from django_jobqueue.worker.listener import Listener
from django_jobqueue.worker.wakeup import Wakeup
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True, available_apps=["django_jobqueue"])


@pytest.fixture
def hearing():
    """A listener, with what it has heard and a way to let it work."""

    class Hearing:
        def __init__(self):
            self.heard = []
            self.wakeup = Wakeup()
            self.listener = Listener("default", self.wakeup, self.heard.append)

        def turn(self):
            self.wakeup.wait(0.01)
            self.listener.turn(clock.now())
            return self.heard

        def until(self, fact):
            return wait_until(lambda: self.turn() and fact())

        def backend(self):
            """Return the server's process at the other end."""
            return self.listener._ear and self.listener._ear._connection.info.backend_pid

    hearing = Hearing()
    yield hearing
    hearing.listener.close()
    hearing.wakeup.close()


def notify(payload):
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify('django_jobqueue', %s)", [payload])


def test_what_was_announced_before_is_asked_for(hearing):
    """Once the line is up everything may have been said already, so everything counts as heard."""
    hearing.until(lambda: hearing.heard == [{LOOK, STOP}])


def test_a_notification_is_heard(hearing):
    """What producers and people notify arrives."""
    hearing.until(hearing.backend)
    hearing.heard.clear()

    notify(STOP)

    hearing.until(lambda: hearing.heard == [{STOP}])


def test_a_line_that_may_be_dead_is_replaced(hearing):
    """When the database could not be used, the listener hangs up, and listens anew when it can."""
    first = hearing.until(hearing.backend)

    hearing.listener.doubt()
    assert hearing.backend() is None

    hearing.listener.listen_now()
    assert hearing.until(hearing.backend) != first


def test_a_server_that_accepts_and_never_answers_does_not_make_it_deaf_for_ever(hearing, monkeypatch):
    """A line that does not come about is cut, and another is tried."""
    monkeypatch.setattr(listener, "RETRY_SECONDS", 0.05)
    monkeypatch.setattr(hearing.listener._link, "_call_seconds", 0.3)
    hearing.until(hearing.backend)
    hearing.listener.doubt()
    hangs = [True]

    def is_pooled(line):
        if hangs:
            hangs.pop()
            line.execute("SELECT pg_sleep(2)")
        return False

    monkeypatch.setattr(session, "is_pooled", is_pooled)

    hearing.listener.listen_now()

    hearing.until(hearing.backend)
    assert not hangs
