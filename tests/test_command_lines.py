"""What is typed: Django's options anywhere, queues that are none, and one exit code for nonsense."""

import socket
from contextlib import suppress
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from demo_project.management.commands.embedded_db import Command as EmbeddedDatabase
from demo_project.ports import free_port
from demo_project.shop.management.commands.demo import Command as Demo
from django_jobqueue import tasks
from django_jobqueue.conf import Options
from django_jobqueue.management.commands.jobqueue import Command as JobQueue
from django_jobqueue.management.worker_plan import queues_of_no_task
from django_jobqueue.registry import discover
from django_jobqueue.tasks import task
from django_jobqueue.worker.plan import WorkerPlan
from tests import tasks as cast
from tests.factories import make_dead_letter, make_job

BACKEND = "django_jobqueue.backend.JobQueueBackend"


@pytest.fixture
def mail_task(monkeypatch):
    """Declare a task of the queue `mail`, for one test."""
    monkeypatch.setattr(tasks, "_declared", dict(tasks._declared))
    return task(queue_name="mail", task_name="letter")(cast.succeed.func)


@pytest.mark.parametrize("words", [["stats"], ["dead", "list"], ["jobs", "show", "1"]])
def test_djangos_options_stand_anywhere(words):
    """--settings and its like are taken before a subcommand and behind it, by each level of them."""
    parser = JobQueue().create_parser("manage.py", "jobqueue")
    options = ["--settings", "mysite.prod", "-v", "2", "--traceback", "--no-color", "--pythonpath", "/srv"]

    for line in ([*words, *options], [*options, *words]):
        given = parser.parse_args(line)
        assert (given.settings, given.verbosity, given.pythonpath) == ("mysite.prod", 2, "/srv")
        assert (given.traceback, given.no_color) == (True, True)
    plain = parser.parse_args(words)
    assert (plain.settings, plain.verbosity, plain.traceback, plain.no_color) == (None, 1, False, False)


def test_they_do_in_the_demo_too():
    """A command with subcommands is no other there."""
    assert EmbeddedDatabase().create_parser("", "embedded_db").parse_args(["stop", "-v", "0"]).verbosity == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--por", "8001"], "unrecognized arguments: --por"),
        (["--port", "99999"], "argument --port: a number up to 65535, where 0 is any port; got '99999'"),
        (["--port", "-1"], "argument --port: "),
    ],
)
def test_a_mistyped_demo_is_told_in_one_line(words, said, capsys):
    """Nothing is abbreviated, and a port that there cannot be is refused before anything starts."""
    with pytest.raises(SystemExit) as end:
        Demo().run_from_argv(["manage.py", "demo", *words])

    assert end.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"manage.py demo: {said}")


def test_the_last_port_has_none_after_it():
    """Where it is taken, any other will do."""
    with socket.socket() as taken:
        with suppress(OSError):  # somebody else has it: as good
            taken.bind(("127.0.0.1", 65_535))
            taken.listen()

        assert 0 < free_port(65_535) < 65_535


@pytest.mark.parametrize("option", ["--queue", "--exclude-queue"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mail,default", "one queue each: type {0} mail {0} default; got 'mail,default'"),
        ("mail, ", "one queue each: type {0} mail; got 'mail, '"),
        ("ma*il", "an asterisk ends a prefix: type {0} 'ma*'; got 'ma*il'"),
        ("*mail", "an asterisk ends a prefix: type {0} '*'; got '*mail'"),
        (",", "the name of a queue, or a prefix"),
    ],
)
def test_what_is_no_queue_is_answered_with_what_to_type(option, name, words):
    """A worker of it would idle for ever without a word."""
    with pytest.raises(CommandError) as refused:
        call_command("runworker", "--until-idle", option, name)

    assert words.format(option) in str(refused.value)


@pytest.mark.parametrize("option", ["--queue", "--exclude-queue"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mial", "mial: is not in TASKS['default']['QUEUES']; did you mean 'mail'?"),
        ("x-*", "x-*: is not in TASKS['default']['QUEUES']; it has mail, mail-slow"),
    ],
)
def test_a_queue_that_is_not_allowed_is_refused(settings, option, name, words):
    """Where QUEUES is a list, a name or a prefix that matches none of it is a mistake, and ends with 2."""
    settings.TASKS = {"default": {"BACKEND": BACKEND, "QUEUES": ["mail", "mail-slow"]}}

    with pytest.raises(CommandError) as refused:
        call_command("runworker", "--until-idle", option, name)

    assert (str(refused.value), refused.value.returncode) == (f"{option} {words}", 2)


def test_a_queue_is_refused_where_django_allows_one(settings):
    """Without QUEUES there is `default` alone, and the error says what to add."""
    settings.TASKS = {"default": {"BACKEND": BACKEND}}

    with pytest.raises(CommandError, match=r"--queue mail: .* add \"QUEUES\": \[\] to TASKS\['default'\]"):
        call_command("runworker", "--until-idle", "--queue", "mail")


def test_a_queue_of_no_task_is_told_with_the_nearest(mail_task):
    """Where any name is allowed a typo looks like a queue that `using` fills: it is told, and served."""

    def told(*queues):
        return queues_of_no_task(WorkerPlan("default", Options(), queues=queues), discover())

    assert told("mail", "ma*", "default") == ""
    assert told() == ""
    assert told("mial", "mail", "zzz*") == "no task here is declared for queue 'mial' (did you mean 'mail'?), 'zzz*'"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "words", [["stats"], ["jobs", "list"], ["dead", "list"], ["dead", "replay"], ["jobs", "cancel"]]
)
def test_a_queue_of_which_there_is_nothing_is_told(words, mail_task):
    """A list that is empty for want of such a queue says so, with the nearest name; one that is known is only empty."""
    make_job(queue_name="default")

    def said(queue):
        out = StringIO()
        call_command("jobqueue", *words, "--queue", queue, stdout=out, no_color=True)
        return out.getvalue()

    assert "no task has the queue mial; did you mean mail?" in said("mial")
    assert "no task has the queue" not in said("mail")


@pytest.mark.django_db
def test_stats_knows_the_queues_of_jobs(mail_task):
    """Jobs that were put into a queue of no task make its name known."""
    make_dead_letter(queue_name="tenant-7")
    out = StringIO()

    call_command("jobqueue", "stats", "--queue", "tenant7", stdout=out, no_color=True)

    assert "did you mean tenant-7?" in out.getvalue()


@pytest.mark.parametrize(
    "words",
    [
        ["runworker", "--until-idle", "--backend", "nope"],
        ["jobqueue", "stats", "--backend", "nope"],
        ["runworker", "--until-idle", "--threads", "100000"],
        ["runworker", "--until-idle", "--queue", "mail", "--exclude-queue", "mail"],
    ],
)
def test_a_line_that_makes_no_sense_ends_with_two(words):
    """Whichever command it is: a script can tell its own mistakes from those of the set-up."""
    with pytest.raises(CommandError) as refused:
        call_command(*words)

    assert refused.value.returncode == 2
    if "nope" in words:
        assert str(refused.value) == "--backend nope: use an alias of TASKS: default"
