"""A queue whose tables live on another alias than the project's own."""

import subprocess
import sys
import textwrap

import pytest
from django.db import connection

from django_jobqueue.compat import PACKAGE
from django_jobqueue.models import Job

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
            "OPTIONS": {{"database": {database!r}}},
        }},
    }},
    USE_TZ={use_tz!r},
    TIME_ZONE="Asia/Tokyo",
)
django.setup()
from tests import tasks
"""


@pytest.fixture
def project(transactional_db):
    """Return a function that runs a program in a project on SQLite, with the queue on PostgreSQL."""

    def run(program, *, database="queue", use_tz=True, without_app=False):
        parameters = connection.get_connection_params()
        settings = {
            "name": parameters["dbname"],
            "options": {n: parameters[n] for n in ("host", "port", "user", "password") if n in parameters},
            "apps": [
                *([] if without_app else ["django_jobqueue"]),
                *(["django_tasks"] if PACKAGE == "django_tasks" else []),
            ],
            "database": database,
            "use_tz": use_tz,
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
    assert "(enqueue is then not in the transaction of your data)" in result.stderr
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
