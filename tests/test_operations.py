"""Operations: what admin, command line and code do in a person's name."""

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import connection

from django_jobqueue import operations, signed
from django_jobqueue.database import queue_database
from django_jobqueue.exceptions import InvalidPayload, Refused
from django_jobqueue.models import AuditEntry, DeadLetter, Job
from django_jobqueue.operations import Receipt, cancel, cancel_many, discard, discard_many, replay, replay_many
from tests import tasks as cast
from tests.factories import make_dead_letter, make_job

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "named_by", [lambda row: row, lambda row: row.pk, lambda row: str(row.pk), lambda row: f" {row.pk}\n"]
)
def test_a_row_is_named_by_object_or_id(named_by):
    """Each verb takes the object, its id, or its id as text, and answers with the row as it is then."""
    assert replay(named_by(make_dead_letter()), by="ada", reason="").status == "READY"
    assert discard(named_by(make_dead_letter()), by="ada", reason="old").status == "DISCARDED"
    assert cancel(named_by(make_job()), by="ada", reason="").status == "CANCELLED"


@pytest.mark.parametrize("name", ["", "abc", "-1", "1.0", "0x1", "9" * 30, 10**30, -1])
def test_text_that_is_no_id_names_nothing(name):
    """Whatever a person types as an id that cannot be one is answered with not_found."""
    for verb in (replay, discard, cancel):
        with pytest.raises(Refused) as refused:
            verb(name, by="ada", reason="typed")

        assert refused.value.code == "not_found"


@pytest.mark.parametrize("thing", [None, True, 1.5, [1]])
def test_what_is_no_row_is_an_error_of_the_program(thing):
    """Neither a job for a letter, nor a truth value for an id."""
    with pytest.raises(TypeError):
        replay(thing, by="ada", reason="")
    with pytest.raises(TypeError):
        cancel(make_dead_letter(), by="ada", reason="")


def test_a_user_signs_with_the_username():
    """The actor of an entry is text: a user may be deleted, or live in another database."""
    replay(make_dead_letter(), by=User(username="grace"), reason="")

    assert AuditEntry.objects.get().actor == "grace"


@pytest.mark.parametrize("nobody", ["", "  ", AnonymousUser()])
def test_nobody_does_nothing(nobody):
    """An operation that nobody signs is refused as an error of the program."""
    letter = make_dead_letter()

    with pytest.raises(ValueError, match="who does this"):
        replay(letter, by=nobody, reason="")


@pytest.mark.parametrize("blank", ["", " \t\n"])
def test_a_discard_needs_a_reason(blank):
    """Nobody can say later why a letter was discarded without a reason."""
    with pytest.raises(Refused) as refused:
        discard(make_dead_letter(), by="ada", reason=blank)

    assert refused.value.code == "reason_required"


def test_words_that_postgresql_cannot_hold_are_kept_readable():
    """NUL characters, lone surrogates and endless texts do not stop an operation."""
    letter = discard(make_dead_letter(), by="a\x00da" + "x" * 300, reason="why\x00 \ud800" + "y" * 9000)

    assert letter.note.startswith("why\\x00 \\ud800y")
    assert len(letter.note) <= signed.MAX_TEXT_CHARS
    assert len(AuditEntry.objects.get().actor) <= 255


def test_edited_arguments_are_stored_as_given():
    """A replay with edited arguments runs with exactly those, types included."""
    letter = make_dead_letter(task="gone.task", args=[1], kwargs={"a": 1})
    job = replay(letter, by="ada", reason="", args=(1e16, "x"), kwargs={"b": None})

    with connection.cursor() as cursor:
        cursor.execute("SELECT args::text FROM django_jobqueue_job WHERE id = %s", [job.pk])
        assert cursor.fetchone() == ('[10000000000000000.0, "x"]',)
    assert job.kwargs == {"b": None}


def test_edited_arguments_that_the_task_does_not_take_are_refused():
    """Asked before anything is written, of the code that is here; the letter stays as it was."""
    letter = make_dead_letter(task=cast.take.module_path, args=[1])

    with pytest.raises(InvalidPayload, match=r"kwargs\['secund'\]: is no argument of take\(\); did you mean 'second'"):
        replay(letter, by="ada", reason="", kwargs={"secund": 2})

    assert Job.objects.get(pk=letter.job_id).status == "FAILED"


def test_edited_arguments_are_of_the_version_of_the_job():
    """They go through the upgrades of the task to see whether they fit, and are stored as they were given."""
    letter = make_dead_letter(task=cast.pay.module_path, version=1, args=[1])

    job = replay(letter, by="ada", reason="", args=[2])

    assert (job.version, job.args, job.kwargs) == (1, [2], {})
    with pytest.raises(InvalidPayload, match="upgrade 1 raised IndexError"):
        replay(make_dead_letter(task=cast.pay.module_path, version=1, args=[1]), by="ada", reason="", args=[])


def test_empty_arguments_are_arguments():
    """An edit to no arguments is an edit; None leaves them as they are."""
    job = replay(make_dead_letter(args=[1], kwargs={"a": 1}), by="ada", reason="", kwargs={})

    assert (job.args, job.kwargs) == ([1], {})


@pytest.mark.parametrize(
    "edit",
    [
        {"args": [object()]},
        {"args": "text"},
        {"args": 5},
        {"args": {"reason": "x"}},
        {"kwargs": [1]},
        {"kwargs": {1: 2}},
        {"kwargs": {"a": "\x00"}},
        {"args": ["x" * 300_000]},
    ],
)
def test_arguments_that_cannot_be_stored_change_nothing(edit):
    """Edited arguments are checked as those of an enqueue are; a bad edit leaves the letter open."""
    letter = make_dead_letter()

    with pytest.raises(InvalidPayload):
        replay(letter, by="ada", reason="", **edit)

    letter.refresh_from_db()
    assert letter.status == "OPEN"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("notify", [True, False])
def test_a_replay_wakes_workers(settings, monkeypatch, notify):
    """Workers of the queue are told of a replayed job, unless OPTIONS turns notifications off."""
    settings.TASKS = {"default": {"BACKEND": "django_jobqueue.backend.JobQueueBackend", "OPTIONS": {"notify": notify}}}
    told = []
    monkeypatch.setattr(operations.notify, "announce", lambda using, queue_names: told.append((using, queue_names)))

    replay(make_dead_letter(queue_name="mail"), by="ada", reason="")

    assert told == ([("default", ["mail"])] if notify else [])


def test_many_are_done_one_by_one():
    """In a page of letters the ones that cannot be replayed are told apart, and the others are replayed."""
    done, answered, open_letter = make_dead_letter(), make_dead_letter("REPLAYED"), make_dead_letter()

    receipts = replay_many([open_letter, answered.pk, str(done.pk), done], by="ada", reason="outage over")

    assert [(r.id, r.refused and r.refused.code) for r in receipts] == [
        (done.pk, None),
        (answered.pk, "already_replayed"),
        (open_letter.pk, None),
    ]
    assert Job.objects.filter(status="READY").count() == 3
    assert AuditEntry.objects.count() == 2


def test_many_are_discarded_and_cancelled():
    """Discarding and cancelling come in pages too."""
    letter, job = make_dead_letter(), make_job()

    assert discard_many([letter], by="ada", reason="old") == [Receipt(letter.pk)]
    assert cancel_many([job], by="ada", reason="") == [Receipt(job.pk)]
    assert DeadLetter.objects.get().status == "DISCARDED"


def test_the_database_is_the_backends_own(settings):
    """People act where the backend enqueues; an alias that is none of ours leaves it to the router."""
    settings.TASKS = {
        "default": {"BACKEND": "django.tasks.backends.dummy.DummyBackend"},
        "queue": {"BACKEND": "django_jobqueue.backend.JobQueueBackend", "OPTIONS": {"database": "jobs"}},
    }
    settings.DATABASE_ROUTERS = ["tests.test_operations.ToReplica"]

    assert queue_database("queue") == "jobs"
    assert queue_database("unknown") == "written"
    assert queue_database("default") == "written"


class ToReplica:
    """A router with a database to write and another to read."""

    def db_for_write(self, model, **hints):
        return "written"

    def db_for_read(self, model, **hints):
        return "replica"
