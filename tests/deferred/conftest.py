"""Rows on `default`, queues on other aliases, and what may happen to those."""

import os
from contextlib import suppress

import pytest
from django.db import connection, connections
from django.db.utils import ProgrammingError

from django_jobqueue.models import Job
from tests.races import race
from tests.stage.models import Trace
from tests.two_databases import TASKS, two_queues


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
