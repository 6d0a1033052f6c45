"""Outage: tries that are further and further apart, and one line for each change."""

import logging

import psycopg
import pytest
from django.db import connection

from django_jobqueue.worker import clock
from django_jobqueue.worker.outage import FIRST_SECONDS, MAX_SECONDS, Outage

GONE = psycopg.OperationalError("the connection is gone\n")


@pytest.fixture
def outage(caplog):
    """A line that has not failed yet."""
    caplog.set_level(logging.DEBUG, "django_jobqueue.worker")
    return Outage()


def test_at_first_there_is_none(outage):
    """A worker that starts may call at once."""
    assert not outage.is_on
    assert outage.may_try(clock.now())


def test_a_failed_call_is_not_repeated_at_once(outage):
    """After a failure the next try is a little later."""
    now = clock.now()
    outage.failed(GONE)

    assert outage.is_on
    assert not outage.may_try(now)
    assert outage.may_try(outage.retry_at)


def test_tries_are_further_and_further_apart(outage):
    """Each wait is twice as long at most, with jitter, and never longer than a second."""
    waits = []
    for _ in range(40):
        outage.failed(GONE)
        waits.append(outage.retry_at - clock.now())

    bounds = [min(MAX_SECONDS, FIRST_SECONDS * 2**tries) for tries in range(40)]
    assert all(bound / 2 - 0.05 <= wait <= bound for wait, bound in zip(waits, bounds, strict=True))
    assert len({round(wait, 4) for wait in waits[10:]}) > 10


def test_a_try_that_took_long_is_waiting_enough(outage):
    """Where nobody answers a try takes seconds: then the next one is made almost at once, and a quick one is not."""
    waits = []
    for seconds in [0.0] * 10 + [2.0, 0.0]:
        outage.failed(GONE, seconds)
        waits.append(outage.retry_at - clock.now())

    assert 0 < waits[10] <= FIRST_SECONDS
    assert waits[11] >= MAX_SECONDS / 2 - 0.05


def test_an_outage_is_two_lines(outage, caplog):
    """However long it lasts, the log tells once that the database is gone and once that it is back."""
    for _ in range(20):
        outage.failed(GONE)
    outage.ended()
    outage.ended()

    first, last = [record.getMessage() for record in caplog.records]
    assert first == "the database cannot be used: the connection is gone; it is tried again, about once a second"
    assert last.startswith("the database is back after")


def test_when_it_is_over_calls_are_made_at_once(outage):
    """After a success nothing is held back, and the next outage begins with a short wait."""
    for _ in range(10):
        outage.failed(GONE)
    outage.ended()
    assert not outage.is_on
    assert outage.may_try(clock.now())

    outage.failed(GONE)
    assert outage.retry_at - clock.now() <= FIRST_SECONDS


@pytest.fixture
def refusals():
    """What PostgreSQL says to a database, and to a user, that does not exist."""
    parameters = connection.get_connection_params()
    ours = {key: parameters[key] for key in ("host", "port", "user", "password", "dbname") if key in parameters}
    errors = []
    for wrong in ({"dbname": "no_such_database"}, {"user": "no_such_user"}):
        with pytest.raises(psycopg.OperationalError) as refused:
            psycopg.connect(**ours | wrong)
        errors.append(refused.value)
    return errors


@pytest.mark.django_db
def test_what_no_waiting_cures_is_told_to_a_person(refusals, caplog):
    """A worker that starts with the name of a database or a user that there is not says so, and still tries on."""
    for refusal in refusals:
        outage = Outage()
        outage.failed(refusal)

        assert "; no waiting cures that: mend DATABASES" in caplog.records[-1].getMessage()
        assert outage.is_on


@pytest.mark.django_db
def test_what_was_there_once_may_come_back(refusals, outage, caplog):
    """Of a database that was reached before the same words are an outage: a server may be on the move."""
    outage.ended()
    outage.failed(refusals[0])

    assert caplog.records[-1].getMessage().endswith("it is tried again, about once a second")


def test_an_error_without_words_is_named(outage, caplog):
    """An error that says nothing is told by its class."""
    outage.failed(psycopg.OperationalError())

    assert "OperationalError" in caplog.text
