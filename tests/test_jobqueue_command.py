"""`manage.py jobqueue`: the queue in a terminal or a script."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from django_jobqueue.management.commands.jobqueue import Command
from django_jobqueue.management.jobqueue import jobs, many
from django_jobqueue.management.jobqueue.options import default_actor
from django_jobqueue.models import AuditEntry, DeadLetter, Job
from tests import tasks as cast
from tests.factories import add_attempt, make_dead_letter, make_job

pytestmark = pytest.mark.django_db


def jobqueue(*words, exit_code=0):
    """Run the command and return what it prints."""
    out, ended = StringIO(), 0
    try:
        call_command("jobqueue", *map(str, words), stdout=out, no_color=True)
    except SystemExit as end:
        ended = end.code
    assert ended == exit_code
    return out.getvalue()


def jobqueue_json(*words, exit_code=0):
    """Run the command with --json and return the document that it prints."""
    out = StringIO()
    try:
        call_command("jobqueue", *map(str, words), "--json", stdout=out)
        ended = 0
    except SystemExit as end:
        ended = end.code
    assert ended == exit_code
    return json.loads(out.getvalue())


def statuses(*letters):
    found = DeadLetter.objects.in_bulk()
    return [found[letter.pk].status for letter in letters]


def test_an_empty_queue_is_shown():
    """Each list works before the first job."""
    assert "total" in jobqueue("stats")
    assert jobqueue("dead", "list") == "no dead letters\n"
    assert jobqueue("jobs", "list") == "no jobs\n"
    assert jobqueue_json("stats")["queues"] == []
    assert jobqueue_json("dead", "list") == {"dead_letters": []}
    assert jobqueue_json("jobs", "list")["jobs"] == []


def test_stats_has_a_line_for_each_queue_and_a_total():
    """The four figures stand beside the counts, for each queue and for all."""
    make_job(queue_name="mail", due_in=-200)
    make_dead_letter(queue_name="billing")

    lines = [line.split() for line in jobqueue("stats").splitlines()]

    assert lines[0] == [
        "queue",
        "depth",
        "oldest",
        "running",
        "scheduled",
        "retrying",
        "snoozed",
        "unknown",
        "dead",
        "failed",
    ]
    assert lines[1] == ["billing", "0", "-", "0", "0", "0", "0", "0", "1", "100.0%", "of", "3"]
    assert lines[2] == ["mail", "1", "3m20s", "0", "0", "0", "0", "0", "0", "-"]
    assert lines[3] == ["total", "1", "3m20s", "0", "0", "0", "0", "0", "1", "100.0%", "of", "3"]


def test_stats_can_be_narrowed():
    """--queue keeps one queue, --by-task splits it."""
    make_job(queue_name="mail", task="send")
    make_job(queue_name="mail", task="bounce")
    make_job(queue_name="billing")

    document = jobqueue_json("stats", "--queue", "mail", "--by-task")

    assert [(row["task"], row["depth"]) for row in document["queues"]] == [("bounce", 1), ("send", 1)]
    assert document["total"]["depth"] == 2
    assert document["total"]["failure_rate"] is None


def test_dead_letters_are_listed_by_death():
    """The newest death comes first, with what it died of; other statuses and tasks are left out unless asked for."""
    old = make_dead_letter(died_in=-900)
    new = make_dead_letter(died_in=-10)
    make_dead_letter("DISCARDED")
    make_dead_letter(task="tasks.other")

    document = jobqueue_json("dead", "list", "--task", "tests.tasks.fail")

    assert [letter["id"] for letter in document["dead_letters"]] == [new.pk, old.pk]
    assert document["dead_letters"][0]["message"] == "it fails"
    assert "builtins.ValueError: it fails" in jobqueue("dead", "list")
    assert len(jobqueue_json("dead", "list", "--status", "all")["dead_letters"]) == 4


def test_a_long_list_goes_on():
    """--limit bounds a list, --before goes on below its last row, deaths of one moment included."""
    letters = [make_dead_letter(died_in=0) for _ in range(5)]
    DeadLetter.objects.update(last_died_at=letters[0].last_died_at)

    first = jobqueue_json("dead", "list", "--limit", "2")["dead_letters"]
    rest = jobqueue_json("dead", "list", "--before", first[-1]["id"])["dead_letters"]

    assert [letter["id"] for letter in first + rest] == [letter.pk for letter in reversed(letters)]


def test_a_dead_letter_tells_its_story():
    """Job, attempts, last traceback, and who did what are on one page."""
    letter = make_dead_letter(kwargs={"invoice": 42})
    jobqueue("dead", "replay", letter.pk, "--by", "ada", "--reason-text", "outage over")

    page = jobqueue("dead", "show", letter.pk)

    for words in ('{"invoice": 42}', "attempts_exhausted", "outage over", "ada", 'File "tasks.py", line 1, in fail'):
        assert words in page
    document = jobqueue_json("dead", "show", letter.pk)
    assert [attempt["number"] for attempt in document["attempts"]] == [3, 2, 1]
    assert document["audit"][0]["actor"] == "ada"
    assert document["job"]["kwargs"] == {"invoice": 42}


def test_named_letters_are_replayed():
    """The command signs as the user of the operating system unless told otherwise."""
    letter = make_dead_letter()

    line = jobqueue("dead", "replay", letter.pk)

    assert line == f"letter {letter.pk}: job {letter.job_id} tests.tasks.fail replayed\n"

    assert statuses(letter) == ["REPLAYED"]
    assert AuditEntry.objects.get().actor == default_actor()
    assert default_actor().startswith("cli:")


def test_a_filter_replays_the_open_letters_that_match():
    """Letters of another task, reason or status are left alone; --limit takes the oldest deaths."""
    newer, older = make_dead_letter(died_in=-10), make_dead_letter(died_in=-90)
    left = [make_dead_letter("DISCARDED"), make_dead_letter(task="tasks.other"), make_dead_letter(reason="expired")]
    words = ("dead", "replay", "--task", cast.fail.module_path, "--reason", "attempts_exhausted")

    jobqueue(*words, "--limit", "1")
    assert statuses(newer, older) == ["OPEN", "REPLAYED"]
    jobqueue(*words)
    assert jobqueue(*words).startswith("0 replayed\n")

    assert statuses(newer, *left) == ["REPLAYED", "DISCARDED", "OPEN", "OPEN"]


def test_a_letter_may_be_named_by_its_job():
    """The log of a worker names jobs: --job finds the letter of one, and the answer has both numbers."""
    make_job()  # so that the two numbers differ
    replayed, discarded, shown = make_dead_letter(), make_dead_letter(), make_dead_letter()

    document = jobqueue_json("dead", "replay", "--job", replayed.job_id)
    line = jobqueue("dead", "discard", "--job", discarded.job_id, "--reason-text", "done by hand")

    assert document["replayed"] == [str(replayed.pk)]
    assert document["details"] == [{"id": replayed.pk, "job_id": replayed.job_id, "task": "tests.tasks.fail"}]
    assert line == f"letter {discarded.pk}: job {discarded.job_id} tests.tasks.fail discarded\n"
    assert statuses(replayed, discarded, shown) == ["REPLAYED", "DISCARDED", "OPEN"]
    assert jobqueue_json("dead", "show", "--job", shown.job_id)["dead_letter"]["id"] == shown.pk


@pytest.mark.parametrize("job", [999, "9" * 30])
@pytest.mark.parametrize("verb", ["show", "replay", "discard"])
def test_a_job_without_a_letter_is_told(verb, job):
    """--job with a job that is well, or is none, changes nothing."""
    letter = make_dead_letter()
    words = ["--reason-text", "x"] if verb == "discard" else []
    ids = [letter.pk] if verb != "show" else []

    with pytest.raises(CommandError, match=f"there is no dead letter of job {job}"):
        jobqueue("dead", verb, *ids, "--job", job, *words)

    assert statuses(letter) == ["OPEN"]


@pytest.mark.parametrize("words", [[], ["1", "--job", "1"]])
def test_one_letter_is_shown(words):
    """A letter is named once: by its id or by its job."""
    assert jobqueue_json("dead", "show", *words, exit_code=2)["error"]["code"] == "usage"


def test_many_letters_are_told_in_short(monkeypatch):
    """Of a thousand letters a person sees the first lines and the number, a program all of them."""
    monkeypatch.setattr(many, "MAX_TOLD", 2)
    for _ in range(4):
        make_dead_letter()

    lines = jobqueue("dead", "replay", "--all", "--yes").splitlines()

    assert (len(lines), lines[2:]) == (4, ["… and 2 more", "4 replayed"])


@pytest.mark.parametrize(
    "words", [("dead", "list"), ("dead", "replay"), ("dead", "discard", "--reason-text", "x"), ("jobs", "list")]
)
def test_a_task_that_nobody_knows_is_told(words):
    """A short name finds nothing, and the answer says which was probably meant; a full one is no mistake."""
    acts = words[1] != "list"
    assert "no task is named hold_the_gil; did you mean tests.stage.tasks.hold_the_gil?" in jobqueue(
        *words, "--task", "hold_the_gil", exit_code=1 if acts else 0
    )
    assert "no task is named" not in jobqueue(*words, "--task", "tests.stage.tasks.hold_the_gil")


def test_a_status_is_read_in_any_case():
    """What a list prints in capitals can be typed so."""
    job = make_job("CANCELLED")

    assert [row["id"] for row in jobqueue_json("jobs", "list", "--status", "CANCELLED")["jobs"]] == [job.pk]
    assert jobqueue_json("dead", "list", "--status", "Resolved") == {"dead_letters": []}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "jobqueue: the following arguments are required: {stats,dead,jobs,queues,tasks,limits,breakers,prune}"),
        (["dead"], "jobqueue dead: the following arguments are required: {list,show,replay,discard}"),
        (["jobs"], "jobqueue jobs: the following arguments are required: {list,show,why,check,cancel}"),
        (["jobs", "list", "--limit", "x"], "jobqueue jobs list: argument --limit: takes a number from 1 to 1000"),
        (["stats", "--all"], "jobqueue stats: unrecognized arguments: --all"),
    ],
)
def test_a_mistyped_line_is_told_in_one(words, line, capsys):
    """What is wrong is said in one line, without a page of usage before it, and ends with 2."""
    with pytest.raises(SystemExit) as end:
        Command().run_from_argv(["manage.py", "jobqueue", *words])

    assert end.value.code == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith(f"manage.py {line}")


def test_what_is_refused_ends_with_one():
    """Each refusal is told with its code; the others are done; scripts see exit code 1."""
    open_letter, answered = make_dead_letter(), make_dead_letter("REPLAYED")

    document = jobqueue_json("dead", "replay", answered.pk, open_letter.pk, "nonsense", exit_code=1)

    assert document["replayed"] == [str(open_letter.pk)]
    assert [refusal["code"] for refusal in document["refused"]] == ["already_replayed", "not_found"]
    assert statuses(open_letter) == ["REPLAYED"]


def test_edited_arguments_are_given_as_json():
    """One letter can be replayed with other arguments."""
    letter = make_dead_letter(kwargs={"message": "rde"})

    jobqueue("dead", "replay", letter.pk, "--kwargs", '{"message": "red"}')

    assert Job.objects.get().kwargs == {"message": "red"}


@pytest.mark.parametrize("verb", ["replay", "discard"])
@pytest.mark.parametrize(
    "words", [[], ["--all"], ["--all", "--yes", "--queue", "mail"], ["1", "--queue", "mail"], ["1", "--all", "--yes"]]
)
def test_nothing_is_done_to_everything_by_accident(verb, words):
    """Without ids or a filter a command does nothing, and --all is to be meant."""
    letter = make_dead_letter(queue_name="mail")

    with pytest.raises(CommandError) as error:
        jobqueue("dead", verb, *words, "--reason-text", "x")

    assert error.value.returncode == 2
    assert statuses(letter) == ["OPEN"]


def test_all_means_all():
    """--all --yes takes every open letter."""
    letters = [make_dead_letter(), make_dead_letter()]

    assert jobqueue("dead", "discard", "--all", "--yes", "--reason-text", "a test run").endswith("2 discarded\n")

    assert statuses(*letters) == ["DISCARDED", "DISCARDED"]


def test_a_blank_reason_is_none():
    """A discard says why."""
    assert jobqueue_json("dead", "discard", "1", "--reason-text", " ", exit_code=2)["error"]["code"] == "usage"
    with pytest.raises(CommandError, match="reason-text"):
        jobqueue("dead", "discard", "1")


def test_a_replay_can_be_slow(monkeypatch):
    """--per-second spares the other side: it waits between two letters, not before the first."""
    waits = []
    monkeypatch.setattr(many.time, "sleep", waits.append)
    letters = [make_dead_letter() for _ in range(3)]

    jobqueue("dead", "replay", *[letter.pk for letter in letters], "--per-second", "4")

    assert waits == [0.25, 0.25]


def test_what_was_done_before_ctrl_c_is_told(monkeypatch):
    """An interrupted command says how far it came, and ends with 1."""
    letters = [make_dead_letter(), make_dead_letter()]

    def interrupted(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(many.time, "sleep", interrupted)

    document = jobqueue_json("dead", "replay", *[x.pk for x in letters], "--per-second", "4", exit_code=1)

    assert (document["replayed"], document["interrupted"]) == ([str(letters[0].pk)], True)


def test_jobs_are_listed():
    """Newest first; with a live status in the order in which they are due."""
    done = make_job("SUCCESSFUL")
    later, sooner = make_job("WAITING", due_in=900), make_job("WAITING", due_in=90)
    running = make_job("RUNNING", queue_name="mail")

    def ids(*words):
        return [job["id"] for job in jobqueue_json("jobs", "list", *words)["jobs"]]

    assert ids() == [running.pk, sooner.pk, later.pk, done.pk]
    assert ids("--before", running.pk, "--limit", 2) == [sooner.pk, later.pk]
    assert ids("--status", "waiting") == [sooner.pk, later.pk]
    assert ids("--status", "running") == [running.pk]
    assert ids("--queue", "mail") == [running.pk]
    assert "WAITING (time)" in jobqueue("jobs", "list")


def test_a_search_among_finished_jobs_is_bounded(monkeypatch):
    """A filtered list says how far down it has searched, and where to go on."""
    monkeypatch.setattr(jobs, "SEARCHED_IDS", 2)
    rare = make_job("CANCELLED")
    for _ in range(2):
        make_job("SUCCESSFUL")
    words = ("jobs", "list", "--status", "cancelled")

    first = jobqueue_json(*words)

    assert first == {"jobs": [], "searched_from": rare.pk + 1}
    assert f"go on with --before {rare.pk + 1}" in jobqueue(*words)
    assert jobqueue_json(*words, "--before", rare.pk + 1)["jobs"][0]["id"] == rare.pk


def test_a_job_without_a_letter_tells_its_story():
    """A job that is well has a page too."""
    job = make_job("SUCCESSFUL")

    assert f"Job {job.pk}" in jobqueue("jobs", "show", job.pk)
    assert jobqueue_json("jobs", "show", job.pk)["dead_letter"] is None


def test_jobs_are_cancelled_by_id_or_filter():
    """A cancel takes ids or a filter; a job that runs is asked to stop, and with --force it must."""
    named, ready, waiting, running = make_job(), make_job(), make_job("WAITING"), make_job("RUNNING")

    assert jobqueue("jobs", "cancel", named.pk) == f"job {named.pk} {named.task} cancelled\n"
    assert jobqueue("jobs", "cancel", "--status", "waiting").endswith("cancelled\n")
    assert jobqueue_json("jobs", "cancel", "--all", "--yes")["cancelled"] == [ready.pk]
    assert Job.objects.get(pk=running.pk).cancel_requested_at is None
    assert jobqueue("jobs", "cancel", running.pk) == f"job {running.pk} {running.task} is asked to stop\n"
    assert jobqueue_json("jobs", "cancel", running.pk, exit_code=1)["refused"][0]["code"] == "already_requested"
    (told,) = jobqueue_json("jobs", "cancel", running.pk, "--force")["details"]
    assert told == {"id": running.pk, "task": running.task, "status": "RUNNING"}
    assert Job.objects.get(pk=running.pk).cancel_forced

    found = Job.objects.in_bulk()
    assert [found[job.pk].status for job in (named, ready, waiting, running)] == ["CANCELLED"] * 3 + ["RUNNING"]


@pytest.mark.parametrize(
    "words", [("dead", "show", "999"), ("jobs", "show", "9" * 30), ("dead", "list", "--before", "9")]
)
def test_an_unknown_id_is_told(words):
    """One clear line for a person, a code for a program, and exit code 1 for both."""
    with pytest.raises(CommandError, match="there is no") as error:
        jobqueue(*words)

    assert error.value.returncode == 1
    assert jobqueue_json(*words, exit_code=1)["error"]["code"] == "not_found"


def test_hostile_words_do_not_reach_the_terminal():
    """Control characters, line breaks and right-to-left marks in a job's text are written out."""
    hostile = "\x1b[31mred\x07\r\n\u202egpj"
    letter = make_dead_letter(task=hostile, kwargs={"a": hostile}, owner=hostile, note=hostile)
    add_attempt(letter.job, "failed", message=hostile, exception_class=hostile, traceback=f"Trace\n{hostile}\n")

    pages = (
        jobqueue("dead", "list")
        + jobqueue("dead", "show", letter.pk)
        + jobqueue("jobs", "list")
        + jobqueue("stats", "--by-task")
    )

    assert not [character for character in pages if not character.isprintable() and character != "\n"]
    assert "\\x1b[31mred" in pages


def test_long_words_are_shortened():
    """An argument of 100,000 characters takes a line or so of the page, and all of the JSON."""
    job = make_job(kwargs={"text": "x" * 100_000})

    assert len(jobqueue("jobs", "show", job.pk)) < 2000
    assert len(jobqueue_json("jobs", "show", job.pk)["job"]["kwargs"]["text"]) == 100_000


def test_missing_tables_are_told_in_one_line():
    """Before the first migrate the command says what to do."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE django_jobqueue_job RENAME TO elsewhere")

    with pytest.raises(CommandError, match=r"manage\.py migrate"):
        jobqueue("stats")


def test_another_kind_of_database_is_told_in_one_line(settings, monkeypatch):
    """On a database that is not PostgreSQL the command says so."""
    monkeypatch.setattr(connection, "vendor", "sqlite")
    monkeypatch.setattr(connection, "display_name", "SQLite")

    with pytest.raises(CommandError, match="needs PostgreSQL, and the database 'default' is SQLite; make DATABASES"):
        jobqueue("stats")


def test_a_backend_that_does_not_exist_is_told():
    """--backend names an alias of TASKS."""
    assert jobqueue_json("stats", "--backend", "nope", exit_code=2)["error"]["code"] == "usage"
