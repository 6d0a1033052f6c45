"""`jobqueue queues` and `jobqueue tasks`: what is paused, pausing and resuming it in a terminal or a script."""

from datetime import datetime, timedelta

import pytest
from django.core.management import CommandError
from django.utils import timezone

from django_jobqueue import operations, tasks, until_when
from django_jobqueue.management.jobqueue.options import default_actor
from django_jobqueue.models import AuditEntry, Pause
from django_jobqueue.tasks import task
from tests.factories import make_job
from tests.test_jobqueue_command import jobqueue, jobqueue_json

pytestmark = pytest.mark.django_db

WHY = ("--reason-text", "the provider is down")
SIGNED = {"by": "ada", "reason": "the provider is down"}


def write_a_letter():
    """What a task of these tests would do."""


@pytest.fixture
def mail_task(monkeypatch):
    """Declare a task of the queue `mail`, under two names, for one test."""
    monkeypatch.setattr(tasks, "_declared", dict(tasks._declared))
    return task(queue_name="mail", task_name="shop.letter", aliases=("old.letter",))(write_a_letter)


def test_a_queue_is_paused_and_resumed(mail_task):
    """Each says what it did, and signs with the login name unless told otherwise."""
    said = jobqueue("queues", "pause", "mail", *WHY)
    assert said == "queue mail is paused until somebody resumes it; what runs runs on\n"
    assert Pause.objects.get().paused_by == default_actor()

    said = jobqueue("queues", "resume", "mail", "--by", "bob")

    assert said == f"queue mail is resumed; {default_actor()} had paused it: the provider is down\n"
    assert not Pause.objects.exists()
    assert list(AuditEntry.objects.order_by("id").values_list("action", "object", "actor")) == [
        ("pause", "queue:mail", default_actor()),
        ("resume", "queue:mail", "bob"),
    ]


def test_a_pause_is_answered_in_json(mail_task):
    """Scripts read what is paused, by whom and until when; and what was."""
    document = jobqueue_json("queues", "pause", "ma*", "--until", "2h", "--by", "ada", *WHY)

    paused = Pause.objects.get()
    assert document["hints"] == []
    assert {**document["paused"], "paused_at": 0, "until": 0} == {
        "kind": "queue", "target": "ma*", "reason": "the provider is down", "paused_by": "ada", "paused_at": 0,
        "until": 0,
    }  # fmt: skip
    assert paused.until - paused.paused_at == timedelta(hours=2)
    assert jobqueue_json("queues", "resume", "ma*")["resumed"] == document["paused"]


def test_a_task_is_paused_by_its_stored_name(mail_task):
    """Its other names are those of jobs too, and the answer says that they are not paused."""
    said = jobqueue("tasks", "pause", "shop.letter", *WHY)

    assert (Pause.objects.get().kind, Pause.objects.get().target) == ("task", "shop.letter")
    assert "shop.letter is also named old.letter: jobs that are stored so are not paused" in said


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("queues", "pause", "mial"), "no task has the queue mial; did you mean mail?"),
        (("queues", "pause", "zzz-*"), "no task has the queue zzz-*"),
        (("tasks", "pause", "letter"), "no task is named letter; did you mean old.letter or shop.letter?"),
    ],
)
def test_a_name_that_nothing_has_is_paused_and_told(mail_task, words, hint):
    """A queue may be paused before its first job; a typo must not look like a pause."""
    assert hint in jobqueue(*words, *WHY)
    assert jobqueue_json(*words, *WHY)["hints"] == [hint]
    assert Pause.objects.get().target == words[-1]


@pytest.mark.parametrize("name", ["mail", "ma*", "*", "tenant-7", "ten*"])
def test_a_name_that_tasks_or_jobs_have_is_no_typo(mail_task, name):
    """Names of tasks' queues, and of queues that jobs are in, are known."""
    make_job(queue_name="tenant-7")

    assert "no task has" not in jobqueue("queues", "pause", name, *WHY)


def test_queues_are_listed_with_their_pauses(mail_task):
    """Depth and age of each, the pauses that cover it, and below who paused what, until when and why."""
    make_job(queue_name="mail", due_in=-200)
    make_job(queue_name="reports", due_in=-5)
    operations.pause("mail", **SIGNED)
    operations.pause("m*", until=timedelta(hours=1), by="bob", reason="a move")
    operations.pause(task="shop.letter", **SIGNED)

    lines = [line.split() for line in jobqueue("queues", "list").splitlines()]
    document = jobqueue_json("queues", "list")

    assert lines[0] == ["queue", "depth", "oldest", "running", "paused"]
    assert lines[1] == ["mail", "1", "3m20s", "0", "m*,", "mail"]
    assert lines[2][0::4] == ["reports", "-"]
    assert lines[4] == ["paused", "by", "since", "until", "because"]
    assert [line[:3] for line in lines[5:]] == [["queue", "m*", "bob"], ["queue", "mail", "ada"]]
    assert [(row["queue_name"], row["paused_by"]) for row in document["queues"]] == [
        ("mail", ["m*", "mail"]),
        ("reports", []),
    ]
    assert [row["target"] for row in document["pauses"]] == ["m*", "mail"]


def test_tasks_are_listed_with_their_pauses():
    """The same by task."""
    make_job(task="shop.letter", queue_name="a")
    make_job(task="shop.letter", queue_name="b")
    operations.pause(task="shop.*", **SIGNED)

    (row,) = jobqueue_json("tasks", "list")["tasks"]

    assert (row["task"], row["depth"], row["paused_by"]) == ("shop.letter", 2, ["shop.*"])


def test_an_empty_list_is_shown():
    """Before the first job there are no queues; what is paused is told all the same."""
    assert jobqueue("queues", "list") == "no queues\n"
    operations.pause("mail", **SIGNED)

    assert "queue mail" in jobqueue("queues", "list")


def test_stats_tells_what_is_paused():
    """Somebody who wonders why a queue is deep finds the answer beside the figure."""
    make_job(queue_name="mail", task="shop.letter")
    assert "paused" not in jobqueue("stats")
    operations.pause(task="shop.letter", **SIGNED)

    assert "task shop.letter  ada" in jobqueue("stats")
    assert jobqueue_json("stats")["queues"][0]["paused_by"] == []
    assert jobqueue_json("stats", "--by-task")["queues"][0]["paused_by"] == ["shop.letter"]
    assert jobqueue_json("stats")["pauses"][0]["reason"] == "the provider is down"


def test_a_job_that_waits_for_nothing_else_says_so():
    """`jobs show` has the pauses that cover a ready job, and those of no other."""
    ready, running = make_job(queue_name="mail"), make_job("RUNNING", queue_name="mail")
    operations.pause("mail", **SIGNED)
    operations.pause("reports", **SIGNED)

    assert "queue mail  ada" in jobqueue("jobs", "show", ready.pk)
    assert [row["target"] for row in jobqueue_json("jobs", "show", ready.pk)["pauses"]] == ["mail"]
    assert jobqueue_json("jobs", "show", running.pk)["pauses"] == []


def test_a_pause_that_is_over_is_told_no_more():
    """By PostgreSQL's clock."""
    operations.pause("mail", until=timedelta(hours=1), **SIGNED)
    Pause.objects.update(until=timezone.now() - timedelta(seconds=1))

    assert jobqueue_json("stats")["pauses"] == []
    assert jobqueue_json("queues", "resume", "mail", exit_code=1)["error"]["code"] == "not_paused"


def test_what_is_still_paused_is_told():
    """Whoever resumes a queue that a wider pause covers learns that nothing has changed."""
    operations.pause("mail", **SIGNED)
    operations.pause("*", **SIGNED)

    assert "queue * is still paused, and that covers it" in jobqueue("queues", "resume", "mail")


@pytest.mark.parametrize(
    ("words", "code", "exit_code"),
    [
        (("queues", "resume", "mail"), "not_paused", 1),
        (("queues", "pause", "ma*il", *WHY), "target_required", 1),
        (("queues", "pause", "mail", "--until", "2020-01-01", *WHY), "until_has_passed", 1),
        (("queues", "pause", "mail", "--reason-text", " "), "usage", 2),
    ],
)
def test_what_is_refused_has_a_code(words, code, exit_code):
    """As with every other subcommand."""
    assert jobqueue_json(*words, exit_code=exit_code)["error"]["code"] == code
    assert not Pause.objects.exists()


@pytest.mark.parametrize("typed", ["soon", "2", "-2h", "2h-", "99999999d", "", "9999-12-31T23:59-12:00", "2h 30m"])
def test_what_is_no_end_is_answered_with_what_to_type(typed):
    """A number without a unit could be anything."""
    with pytest.raises(CommandError, match="argument --until: "):
        jobqueue("queues", "pause", "mail", f"--until={typed}", *WHY)


@pytest.mark.parametrize(
    ("typed", "until"),
    [
        ("90s", timedelta(seconds=90)),
        ("1d12h", timedelta(days=1.5)),
        (" 2H30m ", timedelta(hours=2.5)),
        ("2999-01-01T08:00+02:00", datetime.fromisoformat("2999-01-01T06:00+00:00")),
        ("2999-01-01 08:00", datetime.fromisoformat("2999-01-01T08:00+00:00")),
    ],
)
def test_an_end_is_a_duration_or_a_moment(typed, until):
    """A moment without an offset is of the project's time zone."""
    assert until_when.read(typed) == until


def test_without_time_zones_a_moment_has_none(settings):
    """With USE_TZ off an offset is taken into account, and left out."""
    settings.USE_TZ = False

    assert until_when.read("2999-01-01T08:00+02:00") == datetime(2999, 1, 1, 6)
    assert until_when.read("2999-01-01T08:00") == datetime(2999, 1, 1, 8)


def test_words_of_others_cannot_steer_the_terminal():
    """A reason is anybody's text, and may hold a secret."""
    operations.pause("mail", by="ada\x1b[31m", reason="password=hunter2hunter2 \x1b[2J")

    said = jobqueue("queues", "list")

    assert "\x1b" not in said
    assert "hunter2hunter2" not in said + str(jobqueue_json("queues", "list"))
