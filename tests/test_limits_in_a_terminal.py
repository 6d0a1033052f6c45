"""`jobqueue limits`: what holds and what is taken, setting and taking back, in a terminal or a script."""

import pytest
from django.core.management import CommandError

from django_jobqueue import task
from django_jobqueue.management.jobqueue.options import default_actor
from django_jobqueue.models import AuditEntry, Limit
from django_jobqueue.operations import set_limit
from tests.factories import make_job
from tests.test_jobqueue_command import jobqueue, jobqueue_json

pytestmark = pytest.mark.django_db

WHY = ("--reason-text", "the provider is slow")
WAITS = {"waiting_for": "limit", "due_in": -5}


@task(task_name="terminal.report", concurrency_limit=3)
def report(): ...


@task(task_name="terminal.plain")
def plain(): ...


@pytest.fixture
def busy():
    """A queue of which two run and one waits; one of four was declared before a deploy, now it is two."""
    for status, limit in (("RUNNING", 4), ("RUNNING", 2)):
        make_job(status, queue_name="mail", queue_limit=limit)
    make_job("WAITING", queue_name="mail", queue_limit=2, **WAITS)


def test_a_limit_is_set_and_taken_back(busy):
    """Each says what it did, and signs with the login name unless told otherwise."""
    said = jobqueue("limits", "set", "--queue", "mail", "--at-once", 1, *WHY)
    assert said == "queue mail runs 1 at once from now on; what runs runs on\n"
    assert Limit.objects.values_list("kind", "target", "at_once", "set_by", "reason").get() == (
        "queue", "mail", 1, default_actor(), "the provider is slow",
    )  # fmt: skip

    said = jobqueue("limits", "clear", "--queue", "mail", "--by", "bob")

    assert said == "queue mail is limited by nobody's hand any more; its jobs say 2–4\n"  # noqa: RUF001
    assert not Limit.objects.exists()
    assert list(AuditEntry.objects.order_by("id").values_list("action", "object", "actor", "reason")) == [
        ("set_limit", "queue:mail", default_actor(), "the provider is slow"),
        ("set_limit", "queue:mail", "bob", ""),
    ]


@pytest.mark.parametrize("kind", ["task", "key"])
def test_a_task_and_a_key_have_theirs(kind):
    """By the stored name, and by the key as it is in the rows."""
    document = jobqueue_json("limits", "set", f"--{kind}", "tenant:5", "--at-once", 0, *WHY)

    assert (Limit.objects.get().kind, Limit.objects.get().target) == (kind, "tenant:5")
    assert document["limit"] | {"set_at": 0} == {
        "kind": kind, "target": "tenant:5", "at_once": 0, "reason": "the provider is slow", "set_by": default_actor(),
        "set_at": 0,
    }  # fmt: skip
    assert jobqueue_json("limits", "clear", f"--{kind}", "tenant:5") == {
        "cleared": {"kind": kind, "target": "tenant:5"}, "declared": None,
    }  # fmt: skip


def test_limits_are_listed_with_what_is_taken(busy):
    """What holds, slots, waiting jobs and what is declared; below, who set what and why."""
    set_limit("mail", at_once=1, by="ada", reason="the provider is slow")
    set_limit(key="tenant:5", at_once=0, by="bob", reason="a move")

    lines = [line.split() for line in jobqueue("limits", "list").splitlines()]
    document = jobqueue_json("limits", "list")

    assert lines[1] == ["key", "tenant:5", "0", "0", "0", "-", "bob"]
    assert lines[2] == ["queue", "mail", "1", "2", "1", "2–4", "ada"]  # noqa: RUF001
    assert lines[4] == ["set", "by", "hand", "at", "once", "by", "since", "because"]
    assert lines[5][:4] == ["key", "tenant:5", "0", "bob"]
    assert lines[6][-4:] == ["the", "provider", "is", "slow"]
    mail = document["limits"][1]
    assert mail["declared"] == {"least": 2, "most": 4}
    assert (mail["at_once"], mail["taken"], mail["waiting"], mail["lower_bounds"]) == (1, 2, 1, [])
    assert mail["set_by_hand"]["reason"] == "the provider is slow"
    assert document["is_all"]


def test_an_empty_list_is_shown():
    """Of a queue without limits."""
    assert jobqueue("limits", "list") == "no job is under a limit, and none was set\n"
    assert jobqueue_json("limits", "list") == {"limits": [], "is_all": True}


@pytest.mark.parametrize(
    ("words", "hints"),
    [
        (("--queue", "mial"), ["no task has the queue mial", "so this holds up none; declare one: OPTIONS queues="]),
        (("--task", "terminal.plain"), ["declare one: @task(concurrency_limit=1)"]),
        (("--task", "terminal.repor"), ["did you mean terminal.report?", "declare one"]),
        (("--task", "terminal.report"), []),
        (("--key", "tenant:5"), ["no live job is under a limit of key tenant:5", "those that come with it"]),
    ],
    ids=str,
)
def test_a_limit_that_holds_up_nothing_is_told(words, hints):
    """It stands for one that is declared: where none is, nothing has changed, and must not look as if it had."""
    said = jobqueue("limits", "set", *words, "--at-once", 1, *WHY)

    assert all(hint in said for hint in hints)
    assert bool(hints) == ("holds up none" in said)
    assert bool(hints) == bool(jobqueue_json("limits", "set", *words, "--at-once", 1, *WHY)["hints"])


def test_a_queue_with_a_declared_limit_is_no_trap(settings, busy):
    """Whether its jobs are there or its rule is."""
    default = settings.TASKS["default"]
    rules = {"queues": {"reports": {"max_running": 4}}}
    settings.TASKS = {"default": default | {"OPTIONS": default["OPTIONS"] | rules}}

    for name in ("mail", "reports"):
        assert jobqueue_json("limits", "set", "--queue", name, "--at-once", 1, *WHY)["hints"] == []


@pytest.mark.parametrize(
    ("words", "code", "exit_code"),
    [
        (("clear", "--queue", "mail"), "not_set", 1),
        (("set", "--queue", " ", "--at-once", "1", *WHY), "target_required", 1),
        (("set", "--queue", "mail", "--at-once", "1", "--reason-text", " "), "usage", 2),
    ],
)
def test_what_is_refused_has_a_code(words, code, exit_code):
    """As with every other subcommand; nothing is changed."""
    assert jobqueue_json("limits", *words, exit_code=exit_code)["error"]["code"] == code
    assert not Limit.objects.exists()


@pytest.mark.parametrize("typed", ["-1", "1.5", "many", "", "1000001", "9" * 30])
def test_what_is_no_number_is_answered_with_what_to_type(typed):
    """And with how to take a limit back, which somebody may have meant."""
    with pytest.raises(CommandError, match=r"argument --at-once: takes a whole number from 0 to 1000000, not .* clear"):
        jobqueue("limits", "set", "--queue", "mail", f"--at-once={typed}", *WHY)


@pytest.mark.parametrize("words", [(), ("--queue", "mail", "--key", "k")])
def test_one_target_is_named(words):
    """Neither none nor two."""
    with pytest.raises(CommandError, match=r"--queue|not allowed"):
        jobqueue("limits", "clear", *words)


def test_words_of_others_cannot_steer_the_terminal():
    """A reason is anybody's text, and may hold a secret; so may a key."""
    set_limit(key="password=hunter2hunter2", at_once=1, by="ada\x1b[31m", reason="password=hunter3hunter3 \x1b[2J")

    said = jobqueue("limits", "list") + str(jobqueue_json("limits", "list"))

    assert "\x1b" not in said
    assert "hunter2" not in said
    assert "hunter3" not in said
