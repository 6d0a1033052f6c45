"""run_jobs: what is due runs in the test's own process and transaction, as a worker would run it."""

import re
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test import TestCase

from django_jobqueue import operations, task
from django_jobqueue.compat import PACKAGE, task_finished
from django_jobqueue.exceptions import InvalidOptions
from django_jobqueue.models import DeadLetter, Job
from django_jobqueue.testing import JobFailed, run_jobs
from tests import tasks as cast
from tests.stage import tasks as stage
from tests.stage.models import Order, Trace

pytestmark = pytest.mark.django_db


@task
def hourly():
    """Ask for the next run."""
    hourly.using(run_after=stage.timezone.now() + timedelta(hours=1)).enqueue()


SOON = timedelta(hours=2)


class TestInATestCase(TestCase):
    """As Django's own users have it."""

    def test_jobs_run_inside_the_transaction_of_the_test(self):
        """Functions, coroutines and atomic tasks: their effects are there, and are gone with the test."""
        stage.start.enqueue()
        stage.book.enqueue(0)
        cast.give_back_async.enqueue(5)

        outcomes = [ran.outcome for ran in run_jobs()]

        assert outcomes == ["succeeded"] * 3
        assert sorted(Trace.objects.values_list("what", flat=True)) == ["booked", "start"]
        assert connection.in_atomic_block
        with connection.cursor() as cursor:
            cursor.execute("SHOW idle_in_transaction_session_timeout")
            assert cursor.fetchone() == ("0",)

    def test_a_task_that_breaks_the_transaction_breaks_no_test(self):
        """What the database refused is a failed attempt; the test and the next jobs go on."""
        Order.objects.create(key="taken")
        stage.refuse_twice.enqueue("taken")
        stage.survive_an_error_of_sql.enqueue()
        stage.start.enqueue()

        assert [ran.outcome for ran in run_jobs()] == ["failed", "succeeded", "succeeded"]
        assert Trace.objects.count() == 1

    def test_once_runs_inside_the_transaction_of_the_test(self):
        """Effects of `once` too, though it asks for a transaction of its own."""
        for _ in range(2):
            stage.note_once.enqueue()
            stage.pay_once.enqueue()

        assert [ran.outcome for ran in run_jobs()] == ["succeeded"] * 4


def test_a_job_ends_as_with_a_worker():
    """Its result, its attempts and its dead letter are those that a worker would have written."""
    good, bad = cast.give_back.enqueue("x"), cast.fail_for_good.enqueue()

    ran = run_jobs()

    assert cast.give_back.get_result(good.id).return_value == "x"
    assert [each.outcome for each in ran] == ["succeeded", "failed"]
    assert "PermissionError" in ran[1].traceback
    assert DeadLetter.objects.get().job_id == int(bad.id)
    assert run_jobs() == []


def test_what_waits_runs_when_it_is_within_the_time_asked_for():
    """Retries, snoozes and jobs for later; without a time they stay."""
    cast.fail_then_succeed.enqueue(1)
    cast.succeed.using(run_after=stage.timezone.now() + timedelta(hours=1)).enqueue()

    assert [ran.outcome for ran in run_jobs()] == ["failed"]
    assert [ran.outcome for ran in run_jobs(within=SOON)] == ["succeeded"] * 2


def test_time_passes_as_far_as_is_asked_for():
    """What is put off waits from the moment at which it ran: six times an hour is six times, and then it waits."""
    cast.snooze.enqueue(600)

    assert len(run_jobs(within=timedelta(minutes=65))) == 7
    job = Job.objects.get()
    assert (job.snooze_count, job.status) == (7, "WAITING")
    assert timedelta(minutes=69) < job.run_after - job.enqueued_at < timedelta(minutes=71)
    assert run_jobs(within=timedelta(minutes=65)) == []
    assert len(run_jobs(within=timedelta(minutes=75))) == 1


def test_what_jobs_ask_for_later_is_later_by_the_time_that_has_passed():
    """A task that enqueues itself for the next hour runs once an hour."""
    hourly.enqueue()

    assert len(run_jobs(within=timedelta(hours=5, minutes=30))) == 6


def test_a_moment_may_be_named():
    """What waits until then, and not for longer."""
    now = stage.timezone.now()
    for hours in (1, 2, 3):
        cast.give_back.using(run_after=now + timedelta(hours=hours)).enqueue(hours)

    assert [ran.job.args for ran in run_jobs(until=now + timedelta(hours=2))] == [[1], [2]]
    assert [ran.job.args for ran in run_jobs(until="all")] == [[3]]


def test_until_all_runs_every_retry():
    """However long they would take, in the order of their moments."""
    cast.fail.enqueue()
    cast.give_back.using(run_after=stage.timezone.now() + timedelta(days=300)).enqueue("late")

    assert [ran.outcome for ran in run_jobs(until="all")] == ["failed"] * 3 + ["succeeded"]
    assert DeadLetter.objects.get().reason == "attempts_exhausted"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"until": "al"}, "until is a datetime, or \"all\"; got 'al'"),
        ({"until": timedelta(1)}, 'until is a datetime, or "all"; got datetime.timedelta'),
        ({"until": "all", "within": SOON}, "say within or until, not both"),
        ({"within": 60}, "within is a timedelta; got 60"),
        (
            {"until": datetime(2026, 1, 1)},
            "until has no time zone, and USE_TZ is on: use timezone.now(), or timezone.make_aware(…)",
        ),
    ],
)
def test_what_is_no_time_is_refused(asked, words):
    """Before anything has run."""
    cast.succeed.enqueue()

    with pytest.raises(ValueError, match=re.escape(words)):
        run_jobs(**asked)
    assert Job.objects.get().status == "READY"


def test_only_the_queues_asked_for_are_served():
    """By name or prefix, as a worker serves them."""
    for name in ("mail", "mail-bulk", "web"):
        cast.succeed.using(queue_name=name).enqueue()

    assert [ran.job.queue_name for ran in run_jobs("mail*")] == ["mail", "mail-bulk"]
    assert [ran.job.queue_name for ran in run_jobs()] == ["web"]


def test_a_queue_that_nobody_has_is_refused():
    """A mistyped name would run nothing, and the test would go on as if there were nothing to run."""
    cast.succeed.using(queue_name="mail").enqueue()

    with pytest.raises(ValueError, match=r"^no task or job has the queue 'mial'; did you mean 'mail'\?$"):
        run_jobs("mial")
    with pytest.raises(ValueError, match=r"^no task or job has the queue 'zzz-\*'; there are .*'mail'"):
        run_jobs("mail", "zzz-*")
    assert Job.objects.get().status == "READY"


def test_a_queue_of_a_task_or_of_the_settings_may_be_empty(settings):
    """A task is declared for it, or QUEUES names it: that nothing waits there is an answer."""
    settings.TASKS = {"default": {**settings.TASKS["default"], "QUEUES": ["default", "telegrams"]}}

    assert run_jobs("default") == run_jobs("telegrams") == run_jobs("tele*") == []


def test_what_waits_comes_in_the_order_of_its_moments():
    """However it was enqueued; queues and backends that were not asked for keep their moments."""
    now = stage.timezone.now()
    for minutes, queue in [(50, "a"), (10, "a"), (20, "b")]:
        cast.give_back.using(run_after=now + timedelta(minutes=minutes), queue_name=queue).enqueue(minutes)

    assert [ran.job.args for ran in run_jobs("a", within=SOON)] == [[10], [50]]
    assert Job.objects.get(queue_name="b").run_after > now + timedelta(minutes=19)


def test_jobs_that_jobs_enqueue_run_too_and_never_for_ever():
    """What becomes due by running is run; a job that enqueues itself is told after `limit` attempts."""
    cast.snooze_for_ever.enqueue()

    with pytest.raises(
        AssertionError,
        match=r"5 attempts have run, and job \d+ of tests.tasks.snooze_for_ever is due, 0:0[0-9:]+ from now, for the "
        r"6th time; does it snooze, or enqueue itself, for ever\?",
    ):
        run_jobs(limit=5, until="all")


def test_a_failure_may_end_the_test():
    """With check=True, with the traceback of the task."""
    cast.fail.enqueue("broken pipe")

    with pytest.raises(JobFailed, match=r"of tests\.tasks\.fail failed: (?s:.*)ValueError: broken pipe"):
        run_jobs(check=True)


def test_receivers_hear_of_the_end(settings):
    """task_finished is sent when a job is over, and not before."""
    heard = []
    receiver = lambda task_result, **_: heard.append(task_result.status)  # noqa: E731
    task_finished.connect(receiver)
    try:
        cast.fail_then_succeed.enqueue(1)
        run_jobs()
        assert heard == []
        run_jobs(within=SOON)
    finally:
        task_finished.disconnect(receiver)

    assert [str(status) for status in heard] == ["SUCCESSFUL"]


def test_what_is_paused_is_not_run():
    """A test of the project's own may pause, too; resumed, the job runs."""
    stage.start.enqueue()
    operations.pause("default", by="ada", reason="a move")
    assert run_jobs() == []
    operations.resume("default", by="ada")

    assert [ran.outcome for ran in run_jobs()] == ["succeeded"]


def test_a_failure_is_logged_in_words(caplog):
    """Django's own line of a job that has failed says what failed: there is an exception to tell of."""
    job = cast.fail_for_good.enqueue()

    with caplog.at_level("DEBUG"):
        run_jobs()

    told = [record.getMessage() for record in caplog.records if f"Task id={job.id} " in record.getMessage()]
    assert told[-1].endswith("state=FAILED")
    assert "NoneType" not in caplog.text
    assert "testing/hands.py" not in caplog.text
    assert "PermissionError: not this time" in caplog.text


def test_another_backend_has_no_jobs_to_run(settings):
    """A project whose tests use another one is told so."""
    settings.TASKS = {"default": {"BACKEND": f"{PACKAGE}.backends.dummy.DummyBackend"}}

    with pytest.raises(InvalidOptions, match=r"TASKS\['default'\] is DummyBackend in these tests"):
        run_jobs()
    assert not Job.objects.exists()
