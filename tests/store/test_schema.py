"""What the migrations leave in the database, going up and down, here and on SQLite."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import IntegrityError, connection, models

from django_jobqueue.conf import MAX_JSON_BYTES
from django_jobqueue.models import Job
from tests.law import by_hand

ROOT = Path(__file__).resolve().parents[2]
MODELS = list(apps.get_app_config("django_jobqueue").get_models())


def columns(sql, *params):
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


@pytest.mark.django_db
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_keys_are_bigint(model):
    """No key of any table, and none that points to one, ends at two thousand million; workers are named by UUIDs."""
    keys = [f for f in model._meta.concrete_fields if f.primary_key or isinstance(f, models.ForeignKey)]
    types = dict(
        columns(
            "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = %s::regclass",
            model._meta.db_table,
        )
    )

    assert {types[key.column] for key in keys} <= {"bigint", "uuid"}
    assert all(types[key.column] == "bigint" for key in keys) or model.__name__ == "Worker"


@pytest.mark.django_db
def test_sequences_are_bigint():
    """Conflicts and rollbacks burn numbers: no sequence ends before its column does."""
    sequences = columns(
        "SELECT sequencename, data_type::text FROM pg_sequences WHERE sequencename LIKE 'django_jobqueue_%%'"
    )

    assert sequences
    assert {data_type for _, data_type in sequences} == {"bigint"}


@pytest.mark.django_db
def test_a_plain_job_enters_few_indexes():
    """In its whole life a job without keys is in at most six indexes, and when it has ended in one: the primary key."""
    indexes = dict(
        columns(
            "SELECT i.indexrelid::regclass::text, pg_get_expr(i.indpred, i.indrelid) FROM pg_index i"
            " WHERE i.indrelid = 'django_jobqueue_job'::regclass"
        )
    )
    job = Job.objects.create(task="plain")

    entered = {status: entered_indexes(indexes, job, status) for status in Job.Status.values}

    assert len(set().union(*entered.values())) <= 6
    for status in ("SUCCESSFUL", "FAILED", "CANCELLED"):
        assert entered[status] == {"django_jobqueue_job_pkey"}


def entered_indexes(indexes, job, status):
    with by_hand():
        Job.objects.filter(pk=job.pk).update(status=status, waiting_for="time" if status == "WAITING" else "")
    return {
        name
        for name, predicate in indexes.items()
        if predicate is None or columns(f"SELECT 1 FROM django_jobqueue_job WHERE id = %s AND ({predicate})", job.pk)
    }


@pytest.mark.django_db
def test_no_migration_is_missing():
    """The migrations say all that the models say."""
    call_command("makemigrations", "django_jobqueue", check=True, dry_run=True, verbosity=0)


WIDE = "[" + ",".join(["0"] * (MAX_JSON_BYTES // 2 - 1)) + "]"
"""What jsonb takes the most bytes for: PostgreSQL's form of it is six times as large."""


@pytest.mark.django_db
@pytest.mark.parametrize("column", ["args", "kwargs", "result"])
def test_whatever_python_accepts_fits_the_table(column):
    """The most that OPTIONS may allow, in the shape that jsonb is worst at, meets no constraint; twice of it does."""
    job = Job.objects.create(task="wide")
    sql = f"UPDATE django_jobqueue_job SET {column} = %s WHERE id = %s RETURNING pg_column_size(%s::jsonb)"

    ((size,),) = columns(sql, WIDE, job.pk, WIDE)

    assert len(WIDE) > MAX_JSON_BYTES - 4 < size / 5.9
    with pytest.raises(IntegrityError, match=r"jobqueue_job_(arguments|result)_size"):
        columns(sql, f"[{WIDE},{WIDE}]", job.pk, WIDE)


def manage(database_url, *arguments):
    """Run manage.py on a database, in a process of its own."""
    environment = {**os.environ, "DATABASE_URL": database_url, "DJANGO_SETTINGS_MODULE": "demo_project.settings"}
    return subprocess.run(
        [sys.executable, ROOT / "manage.py", *arguments], env=environment, cwd=ROOT, capture_output=True, text=True
    )


def test_migrations_run_on_sqlite(tmp_path):
    """A project on SQLite can install the app and migrate it, forwards and back."""
    database_url = f"sqlite:///{tmp_path / 'db.sqlite3'}"

    for arguments in (["migrate"], ["migrate", "django_jobqueue", "zero"], ["migrate", "--check", "contenttypes"]):
        done = manage(database_url, *arguments)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def empty_database(database_url):
    """A database beside the test database, with nothing in it."""
    name = f"{connection.settings_dict['NAME']}_schema"
    with connection.cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        cursor.execute(f'CREATE DATABASE "{name}"')
    yield database_url.replace(connection.settings_dict["NAME"], name, 1)
    with connection.cursor() as cursor:
        cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def test_migrations_run_backwards(empty_database):
    """On PostgreSQL the app can be taken out again: nothing of it is left, and it can be put back."""
    forwards = manage(empty_database, "migrate", "django_jobqueue")
    backwards = manage(empty_database, "migrate", "django_jobqueue", "zero")
    left = manage(empty_database, "inspectdb")
    again = manage(empty_database, "migrate", "django_jobqueue")

    assert (forwards.returncode, backwards.returncode, again.returncode) == (0, 0, 0), backwards.stderr
    assert left.returncode == 0, left.stderr
    assert "jobqueue" not in left.stdout
