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


@pytest.mark.parametrize("option", ["--queue", "--exclude-queue"])
def test_a_queue_without_a_name_is_refused(option):
    """It is mostly a variable that is not set, and a worker of it would idle for ever without a word."""
    with pytest.raises(CommandError, match="the name of a queue"):
        call_command("runworker", option, "")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("option", "value", "bounds"),
    [
        ("--threads", "100000", "threads is a whole number from 1 to 1024; got 100000"),
        ("--processes", "1000000000", "processes is a whole number from 1 to 1024"),
        ("--coroutines", "9" * 400, "coroutines is a whole number from 0 to 10000"),
        ("--grace", "1e300", "grace_seconds is a number of seconds from 0 to 86400"),
    ],
)
def test_a_command_line_has_the_bounds_of_options(option, value, bounds):
    """What OPTIONS would not take is refused on the command line, in the same words."""
    with pytest.raises(CommandError, match=bounds):
        call_command("runworker", option, value)


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
