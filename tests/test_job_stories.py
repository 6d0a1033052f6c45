"""`jobqueue dead show` and `jobs show`: a terminal tells as much of a death as the admin does."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from django_jobqueue import operations
from django_jobqueue.models import Attempt, DeadLetter, Job, Worker
from tests import tasks as cast
from tests.factories import add_attempt, at, make_dead_letter, make_job

pytestmark = pytest.mark.django_db

REFUSAL = "shop.tasks.price does not take the stored arguments: args: price() takes 1 argument, and got 3; \x1b[31m" + (
    "what it got is told in full " * 5
)


def jobqueue(*words):
    """Run the command and return the lines that it prints."""
    out = StringIO()
    call_command("jobqueue", *map(str, words), stdout=out, no_color=True)
    return out.getvalue().splitlines()


def field(name, lines):
    """Return the one value that stands behind a name."""
    (value,) = [line.split(":", 1)[1].strip() for line in lines if line.startswith(f"{name}:")]
    return value


def died_again(letter, **columns):
    """Have the job of a letter die once more."""
    attempt = add_attempt(letter.job, "failed", **columns)
    DeadLetter.objects.filter(pk=letter.pk).update(last_died_at=attempt.finished_at, deaths=2)
    return attempt


def test_a_letter_says_why_its_job_died():
    """The error stands there with its class, as long as a field may be, and harmless to a terminal."""
    letter = make_dead_letter(reason="invalid_payload")
    died_again(letter, exception_class="builtins.TypeError", message=REFUSAL, traceback="")

    lines = jobqueue("dead", "show", letter.pk)

    assert field("error", lines) == f"builtins.TypeError: {REFUSAL}".replace("\x1b", "\\x1b").strip()
    assert not any(line.startswith("last_error") for line in lines)
    out = StringIO()
    call_command("jobqueue", "dead", "show", str(letter.pk), "--json", stdout=out)
    assert json.loads(out.getvalue())["dead_letter"]["message"] == REFUSAL


def test_the_traceback_is_that_of_the_death():
    """An older attempt's traceback explains nothing: where the last one left none, that is said."""
    letter = make_dead_letter()
    assert "Traceback of attempt 3" in jobqueue("dead", "show", letter.pk)

    died_again(letter, message=REFUSAL, traceback="")

    lines = jobqueue("dead", "show", letter.pk)
    assert "Attempt 4 left no traceback" in lines
    assert not [line for line in lines if line.startswith("Traceback of attempt")]


def test_after_a_replay_the_death_and_the_newest_error_are_told_apart():
    """A job that fails on after its replay has two errors: what it died of, and what ails it now."""
    letter = make_dead_letter("REPLAYED")
    add_attempt(letter.job, "failed", ended_in=0, exception_class="builtins.OSError", message="no route")

    lines = jobqueue("dead", "show", letter.pk)

    assert field("error", lines) == "builtins.ValueError: it fails"
    assert field("last_error", lines) == "builtins.OSError: no route"
    assert [line for line in lines if "raceback of attempt" in line] == [
        "Traceback of attempt 4",
        "Traceback of attempt 3",
    ]


def test_a_job_that_waits_for_a_retry_says_what_failed():
    """`jobs show` has the last error too, and none where there was none."""
    job = make_job("WAITING", attempts=1, waiting_for="retry")

    assert field("last_error", jobqueue("jobs", "show", job.pk)) == "builtins.ValueError: it fails"
    interrupted = make_job()
    add_attempt(interrupted, "interrupted", message="the worker was stopped before the job ended")
    for well in (interrupted, make_job("SUCCESSFUL")):
        assert not [line for line in jobqueue("jobs", "show", well.pk) if "error" in line or "raceback" in line]


def test_attempts_are_told_with_their_price_their_times_and_their_worker():
    """Whether it was charged, when it began, how long it took, and whose it was."""
    worker = Worker.objects.create(
        id="12345678-0000-4000-8000-000000000000", backend="default", hostname="box", pid=17, queues=[], processes=1,
        threads=1, coroutines=1, started_at=at(-100), last_seen_at=at(0),
    )  # fmt: skip
    job = make_job()
    add_attempt(job, "failed", worker_id=worker.pk)
    add_attempt(job, "interrupted")
    stranger = str(Attempt.objects.get(number=2).worker_id)[:8]

    lines = jobqueue("jobs", "show", job.pk)

    (start,) = [index for index, line in enumerate(lines) if line.startswith("attempt ")]
    assert lines[start].split()[:6] == ["attempt", "outcome", "charged", "started", "took", "worker"]
    newer, older = (line.split() for line in lines[start + 1 : start + 3])
    assert (newer[1:3], newer[4:6]) == (["interrupted", "no"], ["1s", stranger])
    assert (older[1:3], older[4:6]) == (["failed", "yes"], ["1s", "box:17"])


def test_edited_arguments_are_told_before_and_after():
    """Who replays with other arguments leaves both versions, and the page of the job has them."""
    letter = make_dead_letter(task=cast.give_back.module_path, kwargs={"value": 4})
    operations.replay(letter, by="ada", reason="wrong account", kwargs={"value": 5})

    lines = jobqueue("jobs", "show", letter.job_id)

    assert [line for line in lines if line.startswith("Edited by replay at ")]
    assert field("kwargs before", lines) == '{"value": 4}'
    assert field("kwargs after", lines) == '{"value": 5}'
    assert not [line for line in lines if line.startswith("args before")]


def test_a_plain_replay_edits_nothing():
    """Only what a person has changed is shown as changed."""
    letter = make_dead_letter()
    operations.replay(letter, by="ada", reason="it is back")

    assert not [line for line in jobqueue("dead", "show", letter.pk) if line.startswith("Edited")]


def test_a_status_is_written_in_one_way():
    """Lists and pages write it as the documentation does."""
    make_dead_letter()
    done = make_job("SUCCESSFUL")

    assert field("status", jobqueue("jobs", "show", done.pk)) == "SUCCESSFUL"
    assert "SUCCESSFUL" in jobqueue("jobs", "list")[1].split()
    assert "OPEN" in jobqueue("dead", "list")[1].split()


def test_a_job_that_is_stopped_by_force_is_told_so():
    """With --force nobody is asked."""
    job = make_job("RUNNING")

    assert jobqueue("jobs", "cancel", job.pk) == [f"job {job.pk} {job.task} is asked to stop"]
    assert jobqueue("jobs", "cancel", job.pk, "--force") == [f"job {job.pk} {job.task} is stopped with its process"]
    assert Job.objects.get().cancel_forced
