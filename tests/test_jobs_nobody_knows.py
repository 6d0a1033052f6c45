"""Jobs that are put aside because no living worker knows their task: where a person sees them, and acts on them."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db.models.functions import Now

from django_jobqueue.models import Job, Worker
from django_jobqueue.watch import stats as figures
from django_jobqueue.watch.stats import queue_stats, task_stats, total
from tests.factories import at, make_job

pytestmark = pytest.mark.django_db


def jobqueue(*words):
    """Run the command and return what it prints."""
    out = StringIO()
    call_command("jobqueue", *map(str, words), stdout=out, no_color=True)
    return out.getvalue()


def park(*, ago=0, **columns):
    """Make a job that was put aside so many seconds ago."""
    return make_job(
        "WAITING", **{"task": "gone", "waiting_for": "worker", "due_in": -ago} | columns, parked_at=at(-ago)
    )


def a_worker(**tasks):
    """Make a worker that lives, and knows these tasks."""
    return Worker.objects.create(
        id="00000000-0000-0000-0000-000000000001",
        **{"hostname": "h", "pid": 1, "backend": "default", "tasks": tasks},
        **{"processes": 1, "threads": 1, "coroutines": 1},
    )


# --- Figures


def test_they_are_counted_with_the_age_of_the_oldest():
    """By queue and task, apart from what is due: no worker could start them."""
    park(ago=500)
    park(ago=50, task="resize", version=2)
    park(ago=5000, queue_name="mail")

    rows = {row.queue_name: row for row in queue_stats("default")}

    default = rows["default"]
    assert (default.unknown, default.depth, default.scheduled, default.oldest_ready_seconds) == (2, 0, 0, 0)
    assert default.oldest_unknown_seconds == pytest.approx(500, abs=5)
    assert [(row.task, row.unknown) for row in task_stats("default")] == [("gone", 1), ("resize", 1), ("gone", 1)]
    everything = total(rows.values())
    assert (everything.unknown, everything.oldest_unknown_seconds) == (3, pytest.approx(5000, abs=5))


def test_their_count_that_met_its_cap_says_so(monkeypatch):
    """Beyond the cap it is a lower bound, and named as one; the other counts are whole."""
    monkeypatch.setattr(figures, "COUNT_CAP", 2)
    for _ in range(4):
        park(ago=10)

    (row,) = queue_stats("default")

    assert (row.unknown, row.lower_bounds) == (2, {"unknown"})


def test_stats_shows_them():
    """In a column of their own, with the age; in --json as two fields."""
    park(ago=200)

    lines = jobqueue("stats").splitlines()
    document = json.loads(jobqueue("stats", "--json"))
    by_task = jobqueue("stats", "--by-task").splitlines()

    assert lines[0].split()[6:9] == ["snoozed", "unknown", "dead"]
    assert "1 (3m20s)" in lines[1]
    assert "1 (3m20s)" in lines[-1]
    assert by_task[1].split()[:2] == ["default", "gone"]
    assert document["total"]["unknown"] == 1
    assert document["queues"][0]["oldest_unknown_seconds"] == pytest.approx(200, abs=5)


# --- A list, and a cancel


def test_they_are_listed_and_cancelled_like_others():
    """`jobs list --status waiting` has them behind what waits for a moment; `jobs cancel --task` finds them."""
    timed = make_job("WAITING", task="gone")
    parked, other = park(ago=5), park(ago=5, task="other")

    def ids(*words):
        return [job["id"] for job in json.loads(jobqueue("jobs", "list", *words, "--json"))["jobs"]]

    assert ids("--status", "waiting") == [timed.pk, parked.pk, other.pk]
    assert ids("--status", "waiting", "--limit", 1) == [timed.pk]
    assert ids("--status", "waiting", "--task", "other") == [other.pk]
    jobqueue("jobs", "cancel", "--task", "gone")

    assert {job.pk: job.status for job in Job.objects.all()} == {
        timed.pk: "CANCELLED",
        parked.pk: "CANCELLED",
        other.pk: "WAITING",
    }


# --- One of them


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({}, "No living worker knows this task; if none does by {} it becomes a dead letter (unknown_task)."),
        (
            {"resize": 1},
            "No living worker knows this task in version 2; if none does by {} it becomes a dead letter "
            "(unknown_version).",
        ),
        ({"resize": 2}, "A living worker knows this task by now, and takes it back."),
    ],
)
def test_one_says_what_it_waits_for_and_until_when(known, words):
    """What the workers know that live decides on the words; the moment is a day after it was put aside."""
    a_worker(**known)
    job = park(task="resize", version=2)
    until = (job.parked_at + timedelta(days=1)).isoformat(timespec="seconds")

    assert words.format(until) in jobqueue("jobs", "show", job.pk)
    assert json.loads(jobqueue("jobs", "show", job.pk, "--json"))["job"]["waiting_for"] == "worker"


def test_a_worker_that_is_gone_knows_nothing():
    """Nor does one of another backend."""
    a_worker(gone=1)
    job = park()
    for change in ({"stopped_at": Now()}, {"stopped_at": None, "last_seen_at": at(-600)}):
        Worker.objects.update(**change)
        assert "No living worker knows this task; " in jobqueue("jobs", "show", job.pk)
    Worker.objects.update(last_seen_at=Now(), backend="other")

    assert "No living worker knows this task; " in jobqueue("jobs", "show", job.pk)


def test_a_job_that_waits_for_a_moment_says_nothing_of_workers():
    """It is no worker that is missing."""
    assert "living worker" not in jobqueue("jobs", "show", make_job("WAITING").pk)


def test_the_page_in_the_admin_says_it_too(admin_client):
    """With the moment by its age and in full; a job that waits for something else has no such line."""
    a_worker(resize=1)
    job = park(ago=60, task="resize", version=2)
    until = (job.parked_at + timedelta(days=1)).strftime("%Y-%m-%d %H:%M:%S")

    page = admin_client.get(f"/admin/django_jobqueue/job/{job.pk}/change/").content.decode()
    other = admin_client.get(f"/admin/django_jobqueue/job/{make_job('WAITING').pk}/change/").content.decode()

    assert f"No living worker knows this task in version 2; if none does by <time>{until} UTC</time> (in 23 h)" in page
    assert " it becomes a dead letter (unknown_version)." in page
    assert "No living worker knows this task" not in other


def test_the_page_of_a_damaged_row_is_shown(admin_client):
    """A moment that no calendar has, or none, breaks nothing."""
    job = park()
    Job.objects.filter(pk=job.pk).update(parked_at=None)

    assert admin_client.get(f"/admin/django_jobqueue/job/{job.pk}/change/").status_code == 200
    assert jobqueue("jobs", "show", job.pk)
