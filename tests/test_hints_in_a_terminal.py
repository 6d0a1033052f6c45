"""What somebody new to it types, and what the command line answers: the word that was meant, and what to type."""

import json
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from django_jobqueue.exceptions import MissingTables
from django_jobqueue.management.commands.jobqueue import Command as JobQueue
from django_jobqueue.management.commands.runworker import Command as RunWorker
from django_jobqueue.management.jobqueue.terminal import duration
from django_jobqueue.models import Job
from django_jobqueue.watch import stored_arguments
from tests import tasks as cast
from tests.factories import add_attempt, at, make_dead_letter, make_job

TAKE = cast.take.module_path


def jobqueue(*words):
    """Run the command and return what it prints, and its exit code."""
    out, code = StringIO(), 0
    try:
        call_command("jobqueue", *map(str, words), stdout=out, no_color=True)
    except SystemExit as end:
        code = end.code
    return out.getvalue(), code


# --- A mistyped line


@pytest.mark.parametrize(
    ("command", "words", "said"),
    [
        (RunWorker, ["--queues", "mail"], "runworker: unrecognized arguments: --queues mail; did you mean --queue?"),
        (RunWorker, ["--process", "2"], "runworker: unrecognized arguments: --process 2; did you mean --processes?"),
        (RunWorker, ["--process=2"], "runworker: unrecognized arguments: --process=2; did you mean --processes?"),
        (JobQueue, ["stats", "--quee", "x"], "jobqueue stats: unrecognized arguments: --quee x; did you mean --queue?"),
        (JobQueue, ["stats", "--zzz"], "jobqueue stats: unrecognized arguments: --zzz; "),
        (JobQueue, ["dead", "list", "--tsk", "x"], "jobqueue dead list: unrecognized arguments: --tsk x; did you mean"),
    ],
)
def test_an_option_that_is_none_is_answered_with_the_nearest(command, words, said, capsys):
    """The line names the option that was meant, and the help of the very subcommand."""
    name = "runworker" if command is RunWorker else "jobqueue"
    with pytest.raises(SystemExit) as end:
        command().run_from_argv(["manage.py", name, *words])

    assert end.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"manage.py {said}")
    assert line.endswith(f"manage.py {said.partition(':')[0]} --help tells more")


@pytest.mark.django_db
@pytest.mark.parametrize("words", [["dead", "replay"], ["dead", "discard", "--reason-text", "x"], ["jobs", "cancel"]])
def test_to_act_on_a_task_that_is_none_ends_with_one(words):
    """A script that has mistyped a task hears of it; one that finds nothing to do under a known name has done well."""
    said, code = jobqueue(*words, "--task", "tests.tasks.succed")

    assert code == 1
    assert said.splitlines()[-1] == "no task is named tests.tasks.succed; did you mean tests.tasks.succeed?"
    assert jobqueue(*words, "--task", "tests.tasks.succeed")[1] == 0
    document = json.loads(jobqueue(*words, "--task", "tests.tasks.succed", "--json")[0])
    assert document["hints"] == [said.splitlines()[-1]]


# --- What is missing


@pytest.mark.django_db
def test_missing_tables_name_the_database():
    """The line is the worker's: it says where to migrate, which matters where the queue is on another alias."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE django_jobqueue_job RENAME TO elsewhere")

    with pytest.raises(CommandError) as refused:
        jobqueue("stats")

    assert str(refused.value) == str(MissingTables("default"))


# --- Arguments


@pytest.mark.django_db
def test_keywords_that_are_given_by_place_already_say_how_to_leave_those_out():
    """A job that was enqueued by position keeps its args where only --kwargs is edited: what to type is said."""
    letter = make_dead_letter(task=TAKE, args=[1])

    with pytest.raises(CommandError) as refused:
        jobqueue("dead", "replay", letter.pk, "--kwargs", '{"first": 2}')

    assert str(refused.value) == (
        "kwargs['first']: it is args[0] of the stored job too: also pass --args '[]' to leave those out"
    )
    with pytest.raises(CommandError, match="is given twice"):
        jobqueue("dead", "replay", letter.pk, "--args", "[1]", "--kwargs", '{"first": 2}')
    assert jobqueue("dead", "replay", letter.pk, "--args", "[]", "--kwargs", '{"first": 2}')[1] == 0
    assert (Job.objects.get().args, Job.objects.get().kwargs) == ([], {"first": 2})


@pytest.mark.django_db
def test_another_fault_of_edited_arguments_stays_as_it_is():
    """The hint is for the one mistake that it mends."""
    letter = make_dead_letter(task=TAKE, args=[1])

    with pytest.raises(CommandError, match=r"kwargs\['secund'\]: is no argument of take\(\)"):
        jobqueue("dead", "replay", letter.pk, "--kwargs", '{"secund": 2}')


@pytest.mark.django_db
def test_problems_of_stored_arguments_are_told_whole(monkeypatch):
    """Below the table each problem has a line, whole, with how many jobs have it and a few of their ids."""
    monkeypatch.setattr(stored_arguments, "MAX_EXAMPLES", 2)
    long = "x" * 200
    one = make_job(task=TAKE, kwargs={"first": 1, long: 2})
    others = [make_job(task=TAKE, args=[1, 2, 3, 4, number]) for number in range(3)]

    said, code = jobqueue("jobs", "check")

    lines = said.splitlines()
    assert (code, lines[0].split()) == (1, ["task", "version", "jobs", "unfit"])
    assert f"{TAKE} v1, 1 job ({one.pk}): kwargs['{long[:40]}" in said
    (of_many,) = [line for line in lines if f"3 jobs ({others[0].pk}, {others[1].pk}, …): " in line]
    assert of_many.startswith(f"{TAKE} v1, ")


@pytest.mark.django_db
def test_problems_of_stored_arguments_are_bounded(monkeypatch):
    """Of many kinds the first are told, and how many jobs have others."""
    monkeypatch.setattr(stored_arguments, "MAX_PROBLEMS", 2)
    for number in range(5):
        make_job(task=TAKE, kwargs={"first": 1, f"strange{number}": 2})

    said, _code = jobqueue("jobs", "check")
    (row,) = json.loads(jobqueue("jobs", "check", "--json")[0])["tasks"]

    assert f"{TAKE} v1, 3 jobs: problems of other kinds" in said.splitlines()
    assert (row["unfit"], row["other_problems"], len(row["problems"])) == (5, 3, 2)


# --- Figures


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.14, "140ms"), (0.9999, "999ms"), (1, "1s"), (59, "59s"), (200, "3m20s"), (7500, "2h05m"), (367200, "4d06h")],
)
def test_durations_read_as_people_say_them(seconds, words):
    """The two largest units are enough; what is over within a second is told in milliseconds."""
    assert duration(seconds) == words


@pytest.mark.django_db
def test_an_attempt_of_a_moment_says_how_long_it_took():
    """An attempt of 140 ms did not take 0 s."""
    job = make_job("SUCCESSFUL", attempts=0)
    add_attempt(job, "succeeded", started_at=at(-10.14), ended_in=-10)

    assert "140ms" in jobqueue("jobs", "show", job.pk)[0]


# --- What to do about a letter


@pytest.mark.django_db
def test_a_letter_shows_the_runbook_of_its_task(monkeypatch):
    """`dead show` has all of it, line by line, with nothing in it that moves the cursor."""
    runbook = "Look at https://wiki.example/charge\nthen ask \x1b[31mAda " + "x" * 700
    known = replace(cast.fail, runbook=runbook)
    monkeypatch.setattr("django_jobqueue.registry.find", lambda name: known)
    letter = make_dead_letter()

    said = jobqueue("dead", "show", letter.pk)[0]
    document = json.loads(jobqueue("dead", "show", letter.pk, "--json")[0])

    assert "Look at https://wiki.example/charge\nthen ask \\x1b[31mAda " + "x" * 700 in said
    assert document["dead_letter"]["runbook"] == runbook
    monkeypatch.setattr("django_jobqueue.registry.find", lambda name: cast.fail)
    assert "Runbook" not in jobqueue("dead", "show", letter.pk)[0]
