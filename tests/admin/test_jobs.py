"""The list of jobs, and a job's page."""

import uuid
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from django_jobqueue.admin import paging
from django_jobqueue.admin.jobs import JobAdmin
from django_jobqueue.models import Attempt, AuditEntry, Job

from .conftest import ADMIN

LIST = f"{ADMIN}/job/"


def tasks_shown(response):
    return [row.task for row in response.context["cl"].result_list]


def ids_shown(response):
    return [row.pk for row in response.context["cl"].result_list]


def test_list_tells_jobs_apart(boss, job, worker):
    """A row of the list names task, module, id, status, queue, attempts and worker."""
    keeper = worker(hostname="host-a", pid=7)
    running = job(status="RUNNING", queue_name="billing", attempt_count=2, worker_id=keeper.pk, last_attempted_at=Now())

    page = boss.get(LIST).content.decode()

    for fact in ("charge", "shop.tasks", str(running.pk), "Running", "billing", "of 3", "host-a:7"):
        assert fact in page


def test_newest_first(boss, job):
    """Jobs are listed newest first."""
    ids = [job().pk for _ in range(3)]

    assert ids_shown(boss.get(LIST)) == ids[::-1]


def test_error_of_last_attempt(boss, job):
    """The list shows the first line of the newest attempt's error, and none for a job that succeeded in the end."""
    failing, healed = job(status="WAITING", waiting_for="retry"), job(status="SUCCESSFUL", attempts=0)
    for number, message in ((1, "an old story"), (2, "\ndisk is full\nat /var")):
        Attempt.objects.create(
            job=failing, number=number, outcome="failed", exception_class="builtins.OSError", message=message
        )
    Attempt.objects.create(job=healed, number=1, outcome="failed", exception_class="KeyError", message="sorrow")
    Attempt.objects.create(job=healed, number=2, outcome="succeeded")

    page = boss.get(LIST).content.decode()

    assert "OSError" in page
    assert "disk is full" in page
    assert "an old story" not in page
    assert "sorrow" not in page


def test_pages_turn_both_ways(boss, job, monkeypatch):
    """Older and Newer lead through all jobs and back, without a job twice or left out."""
    monkeypatch.setattr(JobAdmin, "list_per_page", 2)
    ids = [job().pk for _ in range(5)][::-1]

    seen, response = [], boss.get(LIST)
    seen.append(ids_shown(response))
    while url := response.context["cl"].older_url:
        response = boss.get(LIST + url)
        seen.append(ids_shown(response))
    assert seen == [ids[0:2], ids[2:4], ids[4:5]]

    back = []
    while url := response.context["cl"].newer_url:
        response = boss.get(LIST + url)
        back.append(ids_shown(response))
    assert back == [ids[2:4], ids[0:2]]


@pytest.mark.parametrize("status", Job.Status.values)
def test_filter_by_status(boss, job, status):
    """Each status has a tab that shows its jobs and no others."""
    for other in Job.Status.values:
        job(status=other)

    shown = boss.get(LIST, {"status": status}).context["cl"].result_list

    assert [row.status for row in shown] == [status]


def test_failed_jobs_are_found_through_their_letters(boss, letter):
    """The tab of failed jobs shows those with an open or discarded letter."""
    dead, given_up = letter(), letter(status="DISCARDED")
    letter(status="REPLAYED")

    shown = ids_shown(boss.get(LIST, {"status": "FAILED"}))

    assert shown == [given_up.job_id, dead.job_id]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "task:mail."}, ["mail.send"]),
        ({"q": "queue:bill"}, ["shop.charge"]),
        ({"q": "SEND"}, ["mail.send"]),
        ({"task": "shop.charge"}, ["shop.charge"]),
        ({"queue": "billing"}, ["shop.charge"]),
        ({"queue": "billing", "task": "mail.send"}, []),
        ({"task": "a\x00b"}, []),
        ({"q": "9" * 400}, []),
    ],
)
def test_search_and_filter(boss, job, query, found):
    """Jobs are found by the beginning of a task or queue, by a part of the task, or by a filter."""
    job(task="shop.charge", queue_name="billing")
    job(task="mail.send")

    assert tasks_shown(boss.get(LIST, query)) == found


def test_exact_id_is_found_at_any_depth(boss, job, monkeypatch):
    """A search for an id goes by the primary key, however old the job."""
    monkeypatch.setattr(JobAdmin, "search_depth", 2)
    oldest = job().pk
    for _ in range(4):
        job()

    assert ids_shown(boss.get(LIST, {"q": str(oldest)})) == [oldest]


def test_search_has_a_depth_and_goes_on(boss, job, monkeypatch):
    """A filter looks at so many jobs, says so, and its link goes on where it stopped."""
    monkeypatch.setattr(JobAdmin, "search_depth", 3)
    rare = job(task="rare").pk
    for _ in range(5):
        job()

    first = boss.get(LIST, {"task": "rare"})
    assert ids_shown(first) == []
    assert "Search older ones" in first.content.decode()

    second = boss.get(LIST + first.context["cl"].older_url)
    assert ids_shown(second) == [rare]


def test_count_has_a_cap(boss, job, monkeypatch):
    """A count stops at the cap and says that there are more."""
    monkeypatch.setattr(paging, "COUNT_CAP", 2)
    for _ in range(4):
        job()

    assert "2+ jobs" in boss.get(LIST).content.decode()


def test_unknown_lookup_is_refused(boss, job):
    """Only the filters on the page are lookups; others have no bound on their cost."""
    assert boss.get(LIST, {"result__contains": "x"}).status_code == 400


@pytest.mark.parametrize(
    "cursor", ["x", "", "1_2", "-1", "9" * 30, "nan", "\x00", "nan_1", "9999999999999_1", "Infinity_1", "-1e9_1"]
)
@pytest.mark.parametrize("model", ["job", "deadletter", "worker"])
def test_bad_cursor(boss, job, model, cursor):
    """A cursor that nobody made is no error."""
    job()

    for direction in ("before", "after"):
        assert boss.get(f"{ADMIN}/{model}/", {direction: cursor}, follow=True).status_code == 200


def test_page_shows_the_open_attempt(boss, job, worker):
    """The running attempt of a job comes from the job's own row."""
    keeper = worker(hostname="host-b", pid=9)
    running = job(
        status="RUNNING",
        attempt_count=2,
        lease_token=uuid.uuid4(),
        worker_id=keeper.pk,
        last_attempted_at=Now() - timedelta(seconds=75),
    )
    Attempt.objects.create(job=running, number=1, outcome="timed_out", charged=True)

    response = boss.get(f"{LIST}{running.pk}/change/")

    assert [step.number for step in response.context["steps"]] == [2, 1]
    assert "running for 1 min 15 s" in response.content.decode()
    assert "host-b:9" in response.content.decode()
    assert "Timed out" in response.content.decode()


def test_page_shows_arguments_and_result(boss, job):
    """A job's page shows its arguments and its result as JSON one can read."""
    done = job(status="SUCCESSFUL", args=[42], kwargs={"to": "Zoë"}, result={"sent": True})

    page = boss.get(f"{LIST}{done.pk}/change/").content.decode()

    assert "42" in page
    assert "&quot;to&quot;: &quot;Zoë&quot;" in page
    assert "&quot;sent&quot;: true" in page


def test_older_attempts_have_a_page_of_their_own(boss, job):
    """A job with many attempts shows the newest, and a link to the others."""
    patient = job(attempt_count=30)
    Attempt.objects.bulk_create(Attempt(job=patient, number=n, outcome="snoozed") for n in range(1, 31))
    page = f"{LIST}{patient.pk}/change/"

    first = boss.get(page)
    second = boss.get(page, {"before": first.context["older_before"]})

    assert [step.number for step in first.context["steps"]] == list(range(30, 5, -1))
    assert [step.number for step in second.context["steps"]] == list(range(5, 0, -1))
    assert second.context["older_before"] is None


def test_missing_job(boss):
    """The page of a job that is not there sends one home with a message."""
    for pk in ("1", "9" * 30, "abc"):
        response = boss.get(f"{LIST}{pk}/change/", follow=True)
        assert response.status_code == 200
        assert "exist" in response.content.decode()


@pytest.mark.parametrize("status", ["WAITING", "READY"])
def test_cancel(boss, job, status):
    """A job that has not started can be cancelled from its page, with a reason for the audit."""
    waiting = job(status=status)
    assert "Cancel…" in boss.get(f"{LIST}{waiting.pk}/change/").content.decode()

    asked = boss.post(f"{LIST}cancel/", {"_selected_action": waiting.pk})
    assert "Cancel 1 job" in asked.content.decode()
    waiting.refresh_from_db()
    assert waiting.status == status

    boss.post(f"{LIST}cancel/", {"_selected_action": waiting.pk, "confirm": "1", "reason": "sent twice"})
    waiting.refresh_from_db()
    assert waiting.status == "CANCELLED"
    assert AuditEntry.objects.get().reason == "sent twice"


def test_a_running_job_is_asked_to_stop_and_then_forced(boss, job):
    """A running job can be asked to stop, the page says so, and what is left then is force, with a reason."""
    running = job(status="RUNNING")
    page = boss.get(f"{LIST}{running.pk}/change/").content.decode()
    assert "Cancel…" in page
    assert "Stop by force…" in page

    boss.post(f"{LIST}cancel/", {"_selected_action": running.pk, "confirm": "1"})
    running.refresh_from_db()
    assert (running.status, running.cancel_requested_at is not None, running.cancel_forced) == ("RUNNING", True, False)

    page = boss.get(f"{LIST}{running.pk}/change/").content.decode()
    assert "asked to stop" in page
    assert "Cancel…" not in page
    boss.post(f"{LIST}force_stop/", {"_selected_action": running.pk, "confirm": "1"})
    running.refresh_from_db()
    assert not running.cancel_forced
    boss.post(f"{LIST}force_stop/", {"_selected_action": running.pk, "confirm": "1", "reason": "it hangs"})
    running.refresh_from_db()
    assert running.cancel_forced
    assert "Stop by force…" not in boss.get(f"{LIST}{running.pk}/change/").content.decode()


@pytest.mark.parametrize("status", ["SUCCESSFUL", "FAILED", "CANCELLED"])
def test_no_cancel_for_others(boss, job, status):
    """A job that has ended has no such button, and refuses the act."""
    other = job(status=status)
    assert "Cancel…" not in boss.get(f"{LIST}{other.pk}/change/").content.decode()

    response = boss.post(f"{LIST}cancel/", {"_selected_action": other.pk, "confirm": "1"}, follow=True)

    assert "Refused" in response.content.decode()
    other.refresh_from_db()
    assert other.status == status
