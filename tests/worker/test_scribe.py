"""The scribe: whoever takes the log slowly, or not at all, holds up no worker."""

import logging
import threading

import pytest

from django_jobqueue.worker.scribe import MAX_LINES, Scribe
from tests.waiting import wait_until

logger = logging.getLogger("django_jobqueue.worker")


class Slow(logging.Handler):
    """Takes the first line when it is told to, and the others as they come."""

    def __init__(self):
        super().__init__()
        self.may_go_on = threading.Event()
        self.lines, self.threads = [], set()

    def emit(self, record):
        self.may_go_on.wait(30)
        self.lines.append(record.getMessage())
        self.threads.add(threading.current_thread().name)


@pytest.fixture
def slow():
    """A handler of the keeper's log that does not go on until it is let."""
    handler = Slow()
    logger.addHandler(handler)
    yield handler
    handler.may_go_on.set()
    logger.removeHandler(handler)


@pytest.fixture
def scribe():
    """A scribe that is at work."""
    scribe = Scribe()
    scribe.open()
    yield scribe
    scribe.close()


def test_who_logs_does_not_wait_for_who_reads(scribe, slow):
    """Lines are written by another thread, in their order, as soon as somebody takes them."""
    for number in range(3):
        logger.warning("line %d", number)
    assert slow.lines == []
    slow.may_go_on.set()

    wait_until(lambda: slow.lines == ["line 0", "line 1", "line 2"])
    assert slow.threads == {"jobqueue-scribe"}


def test_what_nobody_takes_is_bounded_and_counted(scribe, slow):
    """Of a flood into a log that nobody reads a bounded part is kept; then it is told how much is missing."""
    for _ in range(MAX_LINES + 500):
        logger.warning("flood")
    slow.may_go_on.set()

    wait_until(lambda: slow.lines and "lines were dropped" in slow.lines[-1])
    assert len(slow.lines) <= MAX_LINES + 2


def test_a_log_that_nobody_takes_does_not_keep_the_worker(slow):
    """At the end a scribe waits for a moment only, and says that something is still stuck."""
    scribe = Scribe()
    scribe.open()
    logger.warning("never taken")
    scribe.close()

    assert scribe.is_stuck


def test_a_handler_that_fails_is_no_reason_to_fall_silent(scribe, caplog, capsys, monkeypatch):
    """The lines after one that a handler of the project failed at are written."""
    failing = logging.Handler()
    failing.emit = lambda record: 1 / 0
    logger.addHandler(failing)
    logger.warning("bad luck")
    wait_until(lambda: "ZeroDivisionError" in capsys.readouterr().err)
    logger.removeHandler(failing)
    logger.warning("better luck")

    wait_until(lambda: "better luck" in caplog.text)


def test_afterwards_loggers_are_as_before(caplog):
    """A process that runs a worker and goes on logs as it did."""
    scribe = Scribe()
    scribe.open()
    scribe.close()
    logger.warning("as before")

    assert not scribe.is_stuck
    assert caplog.records[-1].threadName == threading.current_thread().name
    assert logger.filters == []
