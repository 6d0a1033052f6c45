"""A queue whose tables live on another alias than the project's own."""

import subprocess
import sys
import textwrap

import pytest
from django.db import connection

from django_jobqueue.compat import PACKAGE
from django_jobqueue.models import Job

ROUTER = "django_jobqueue.routers.JobQueueRouter"

PROGRAM = """
import django
from django.conf import settings
settings.configure(
    DATABASES={{
        "default": {{"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        "queue": {{"ENGINE": "django.db.backends.postgresql", "NAME": {name!r}, "OPTIONS": {options!r}}},
    }},
    INSTALLED_APPS={apps!r},
    TASKS={{
        "default": {{
            "BACKEND": "django_jobqueue.backend.JobQueueBackend",
            "OPTIONS": {{"database": {database!r}}} | {more!r},
        }},
    }},
    DATABASE_ROUTERS={routers!r},
    USE_TZ={use_tz!r},
    TIME_ZONE="Asia/Tokyo",
)
django.setup()
from tests import tasks
"""


@pytest.fixture
def project(transactional_db):
    """Return a function that runs a program in a project on SQLite, with the queue on PostgreSQL."""

    def run(program, *, database="queue", use_tz=True, without_app=False, apps=(), routers=(ROUTER,), **more):
        parameters = connection.get_connection_params()
        settings = {
            "name": parameters["dbname"],
            "options": {n: parameters[n] for n in ("host", "port", "user", "password") if n in parameters},
            "apps": [
                *apps,
                *([] if without_app else ["django_jobqueue"]),
                *(["django_tasks"] if PACKAGE == "django_tasks" else []),
            ],
            "database": database,
            "use_tz": use_tz,
            "routers": list(routers),
            "more": more,
        }
        source = PROGRAM.format(**settings) + textwrap.dedent(program)
        return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)

    return run


def test_jobs_go_where_the_options_say(project):
    """Enqueue, read and check use the alias in OPTIONS; the default database is never asked."""
    result = project(
        """
        from django.core.management import call_command
        one = tasks.give_back.enqueue("é")
        assert tasks.give_back.get_result(one.id) == one
        many = tasks.succeed.get_backend().enqueue_many([(tasks.succeed, (), {})] * 1001)
        assert len(many) == 1001
        call_command("check", databases=["default", "queue"])
        """
    )

    assert result.returncode == 0, result.stderr
    assert "no issues" in result.stdout
    assert Job.objects.count() == 1002


def test_jobs_wait_for_the_commit_of_the_rows(project):
    """The transaction is SQLite's, the queue is PostgreSQL: the id is known at the call, a rollback drops the job."""
    result = project(
        """
        from django.db import transaction
        from django_jobqueue.models import Job
        with transaction.atomic():
            kept = tasks.give_back.enqueue("é")
            try:
                with transaction.atomic():
                    tasks.succeed.enqueue()
                    raise ValueError
            except ValueError:
                pass
            assert not Job.objects.exists()
        print(Job.objects.get().pk == int(kept.id), tasks.give_back.get_result(kept.id) == kept)
        """
    )

    assert result.stdout == "True True\n", result.stderr


def test_local_time_is_understood(project):
    """Without USE_TZ, run_after is a time of the project's own zone, and comes back as such."""
    result = project(
        """
        from datetime import datetime
        moment = datetime(2999, 1, 1, 12)
        one = tasks.succeed.using(run_after=moment).enqueue()
        assert tasks.succeed.get_result(one.id) == one
        assert one.task.run_after == moment
        """,
        use_tz=False,
    )

    assert result.returncode == 0, result.stderr
    assert Job.objects.get().run_after.isoformat() == "2999-01-01T03:00:00+00:00"


def test_sqlite_is_migrated_and_refused(project):
    """On SQLite the app's migrations apply, and enqueue says what to do instead."""
    result = project(
        """
        from django.core.management import call_command
        call_command("migrate", verbosity=0)
        tasks.succeed.enqueue()
        """,
        database="default",
    )

    assert (
        "UnsupportedDatabase: the job queue needs PostgreSQL, and DATABASES['default'] is SQLite; "
        "make DATABASES['default'] PostgreSQL, or"
    ) in result.stderr
    assert "(jobs are then inserted after the commit of your data)" in result.stderr
    assert "ImmediateBackend" in result.stderr


@pytest.mark.parametrize(
    "call",
    [
        "tasks.succeed.enqueue()",
        "tasks.succeed.get_backend().enqueue_many([(tasks.succeed, (), {})])",
        "tasks.succeed.get_result('1')",
    ],
)
def test_a_project_without_the_app_is_told(project, call):
    """Where the app is not in INSTALLED_APPS the error says so, not that a model lacks an app_label."""
    result = project(call, without_app=True)

    assert result.stderr.endswith(
        "InvalidOptions: TASKS['default'] uses the job queue; add 'django_jobqueue' to INSTALLED_APPS\n"
    )


def test_people_act_where_the_jobs_are(project):
    """Replay, discard, cancel, figures and the command line use the same alias, by id and by object."""
    result = project(
        """
        from django.core.management import call_command
        from django_jobqueue import operations
        from django_jobqueue.models import AuditEntry
        from tests.factories import make_dead_letter, make_job

        who = {"by": "ada", "reason": "because"}
        letters = [make_dead_letter(using="queue") for _ in range(4)]
        print(operations.replay(letters[0], **who).status, operations.replay(letters[1].pk, **who).status)
        print(operations.discard(letters[2], **who).status)
        print(operations.cancel(make_job(using="queue"), **who).status)
        call_command("jobqueue", "dead", "replay", str(letters[3].pk))
        call_command("jobqueue", "stats", "--json")
        print(AuditEntry.objects.using("queue").count())
        """
    )

    assert result.stderr == ""
    first, *lines, last = result.stdout.splitlines()
    assert [first, *lines[:2], last] == ["READY READY", "DISCARDED", "CANCELLED", "5"]
    assert lines[2].endswith("tests.tasks.fail replayed")
    assert '"depth": 3' in "".join(lines)


CHECK = """
from django.core.management import call_command
call_command("check")
"""


def test_a_project_without_a_router_is_told(project):
    """Its `Job.objects`, and `migrate`, would go to another database than the queue does."""
    result = project(CHECK, routers=[])

    assert "(django_jobqueue.E007) TASKS['default']['OPTIONS']['database'] is 'queue', and DATABASE_ROUTERS say " in (
        result.stderr
    )
    assert "another: Job.objects writes to 'default'." in result.stderr
    assert f'HINT: Put "{ROUTER}" first in DATABASE_ROUTERS.' in result.stderr


def test_a_router_that_makes_no_tables_is_told(project):
    """What may not be migrated is not there."""
    result = project(CHECK, routers=["tests.test_other_database.NoTables", ROUTER])

    assert "another: migrate makes no tables of the queue there." in result.stderr


class NoTables:
    """A router of a project that migrates its default database only."""

    def allow_migrate(self, db, app_label, **hints):
        return db == "default"


def test_the_transaction_database_has_to_exist(project):
    """As `database` has to."""
    result = project(CHECK, transaction_database="shop")

    assert "(django_jobqueue.E002) TASKS['default']['OPTIONS']['transaction_database'] is 'shop', which is not in" in (
        result.stderr
    )


@pytest.mark.parametrize(("alias", "is_told"), [("default", False), ("spare", True)])
def test_the_transaction_database_has_rows(project, alias, is_told):
    """A database that no model is written to has no transactions to wait for."""
    result = project(
        """
        from django.core.management import call_command
        from django.db import connections
        connections.settings["spare"] = connections.settings["default"]
        call_command("check")
        """,
        apps=["django.contrib.contenttypes"],
        transaction_database=alias,
    )

    assert result.returncode == 0, result.stderr
    assert ("(django_jobqueue.W007) TASKS['default']['OPTIONS']['transaction_database'] is" in result.stderr) is is_told
    assert ("rows that jobs are about: default." in result.stderr) is is_told


def test_the_router_keeps_the_tables_of_the_queue_together(project):
    """They are made in the queue's database and nowhere else, and `Job.objects` goes there; no other model does."""
    result = project(
        """
        from django.contrib.contenttypes.models import ContentType
        from django.core.management import call_command
        from django.db import connections, router
        from django_jobqueue.models import Job
        call_command("migrate", verbosity=0)
        print(connections["default"].introspection.table_names())
        tasks.succeed.enqueue()
        print(Job.objects.count(), Job.objects.first()._state.db, router.db_for_write(ContentType))
        """,
        apps=["django.contrib.contenttypes"],
    )

    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["['django_content_type', 'django_migrations']", "1 queue default"]


def test_the_router_follows_a_row(project):
    """Where two backends have a database each, what belongs to a job of the second is read there."""
    result = project(
        """
        from django.conf import settings
        from django.db import router
        from django_jobqueue.compat import task_backends
        from django_jobqueue.models import Attempt, Job
        backend = settings.TASKS["default"]
        task_backends.settings["other"] = backend | {"OPTIONS": {"database": "default"}}
        job = Job()
        print(router.db_for_read(Attempt))
        job._state.db = "default"
        print(router.db_for_read(Attempt, instance=job))
        job._state.db = "elsewhere"
        print(router.db_for_write(Attempt, instance=job))
        print([router.allow_migrate(db, "django_jobqueue") for db in ("default", "queue", "spare")])
        """
    )

    assert result.stdout.splitlines() == ["queue", "default", "queue", "[True, True, False]"], result.stderr


def test_the_router_is_silent_where_there_is_no_queue(project):
    """As in a project whose tests run its tasks at once."""
    result = project(
        f"""
        from django.db import router
        from django_jobqueue.compat import task_backends
        from django_jobqueue.models import Job
        del task_backends["default"]
        task_backends.settings["default"] = {{"BACKEND": "{PACKAGE}.backends.immediate.ImmediateBackend"}}
        print(router.db_for_write(Job), router.allow_migrate("default", "django_jobqueue"))
        """
    )

    assert result.stdout == "default True\n", result.stderr
