"""`manage.py runworker`: command lines that make no sense are refused before anything starts."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from django_jobqueue.management.commands.runworker import Command


def test_a_queue_that_is_asked_for_and_excluded_is_refused():
    """A worker of no queue would idle for ever without a word."""
    with pytest.raises(CommandError, match="both name mail;"):
        call_command("runworker", "--queue", "mail", "--queue", "web", "--exclude-queue", "mail")


def test_options_are_not_abbreviated():
    """--proc is unknown, so that it cannot come to mean another option."""
    with pytest.raises(CommandError, match="unrecognized arguments: --proc"):
        Command().create_parser("manage.py", "runworker").parse_args(["--proc", "2"])


@pytest.fixture
def missing_table(transactional_db):
    """Take a table of the queue away, for a while."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE django_jobqueue_attempt RENAME TO elsewhere")
    yield
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE elsewhere RENAME TO django_jobqueue_attempt")


def test_a_worker_without_tables_does_not_begin(missing_table):
    """Before the first migrate the command says what to do, and says nothing of a worker."""
    out = StringIO()
    with pytest.raises(CommandError, match=r"run manage\.py migrate --database default"):
        call_command("runworker", stdout=out)

    assert out.getvalue() == ""


def test_a_backend_that_does_not_exist_is_told():
    """--backend names an alias of TASKS; the error lists them."""
    with pytest.raises(CommandError, match=r"^--backend nope: use an alias of TASKS: default"):
        call_command("runworker", "--backend", "nope")
