"""Pauses in the admin: the list, the form, the button, and what the pages of jobs say."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from django_jobqueue.models import AuditEntry, Pause
from tests.factories import at

from .conftest import ADMIN

LIST, ADD = f"{ADMIN}/pause/", f"{ADMIN}/pause/add/"
FORM = {"kind": "queue", "target": "mail", "until": "", "reason": "the provider is down"}


def words(response):
    """Read a page as a person does."""
    page = response.content.decode().partition("<main")[2]
    return " ".join(re.sub(r"<[^>]+>", " ", page).split()).replace(" ,", ",").replace(" .", ".")


def test_a_queue_is_paused_by_form(boss):
    """It says that it is, who did it, and leaves an entry in the audit."""
    response = boss.post(ADD, FORM | {"until": "2h"}, follow=True)

    row = Pause.objects.get()
    assert (row.kind, row.target, row.paused_by) == ("queue", "mail", "boss")
    assert row.until - row.paused_at == timedelta(hours=2)
    assert "Queue mail is paused." in words(response)
    assert AuditEntry.objects.get().action == "pause"
    assert response.request["PATH_INFO"] == LIST


@pytest.mark.django_db(transaction=True)
def test_the_log_of_the_admin_tells_of_both(boss):
    """Besides the audit, Django's own history has an entry for the pause and one for the resume."""
    from django.contrib.admin.models import LogEntry

    boss.post(ADD, FORM)
    row = Pause.objects.get()
    boss.post(f"{ADMIN}/pause/resume/", {"_selected_action": row.pk, "confirm": "1"})

    told = list(LogEntry.objects.order_by("pk").values_list("object_id", "change_message"))
    assert told == [(str(row.pk), "paused: the provider is down"), (str(row.pk), "ended: Resumed in the admin")]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"target": ""}, "This field is required."),
        ({"reason": " "}, "This field is required."),
        ({"until": "soon"}, "takes a duration such as 90s, 30m, 2h or 1d12h"),
        ({"until": "2020-01-01"}, "has passed: name a moment to come, or none"),
        ({"target": "ma*il"}, "names no queue: an asterisk ends the beginning of a name"),
        ({"kind": "planet"}, "is not one of the available choices"),
    ],
)
def test_what_cannot_be_paused_is_told_beside_its_field(boss, changes, said):
    """The form comes back with what was typed, and nothing is changed."""
    response = boss.post(ADD, FORM | changes)

    assert said in words(response)
    assert response.context["form"]["reason"].value() == (FORM | changes)["reason"]
    assert not Pause.objects.exists()


def test_a_name_that_nothing_has_is_told(boss):
    """It is paused all the same."""
    assert "No task has the queue mail-7" in words(boss.post(ADD, FORM | {"target": "mail-7"}, follow=True))
    assert Pause.objects.get().target == "mail-7"


def test_a_link_fills_the_form_in(boss):
    """With the queue or the task that it names; a GET changes nothing, whatever it says."""
    form = boss.get(ADD, FORM | {"task": "shop.tasks.charge", "confirm": "1"}).context["form"]

    assert form.initial == {"kind": "task", "target": "shop.tasks.charge"}
    assert not Pause.objects.exists()


def test_to_pause_again_is_to_change_it(boss, pause):
    """A second pause of the same name has the new reason and end; there is one row."""
    pause()
    boss.post(ADD, FORM | {"reason": "it takes longer", "until": "4h"})

    assert [(row.reason, row.paused_by) for row in Pause.objects.all()] == [("it takes longer", "boss")]


def test_resuming_asks_first(boss, pause):
    """A button leads to a page with the reason of the pause; the second POST resumes it."""
    row = pause()
    data = {"_selected_action": row.pk}
    asked = boss.post(f"{ADMIN}/pause/resume/", data)
    assert "the provider is down" in words(asked)
    assert Pause.objects.exists()

    told = boss.post(f"{ADMIN}/pause/resume/", data | {"confirm": "1", "reason": "it is back"}, follow=True)

    assert "1 pause ended." in words(told)
    assert not Pause.objects.exists()
    assert AuditEntry.objects.values_list("actor", "action", "object", "reason").get() == (
        "boss", "resume", "queue:mail", "it is back",
    )  # fmt: skip


def test_what_is_over_cannot_be_resumed(boss, pause):
    """Two people at once: the second is told."""
    row = pause()
    data = {"_selected_action": row.pk, "confirm": "1"}
    boss.post(f"{ADMIN}/pause/resume/", data)

    told = boss.post(f"{ADMIN}/pause/resume/", data, follow=True)

    assert "Refused: it is over, or somebody has resumed it" in words(told)


def test_the_list_has_what_is_paused_and_no_more(boss, pause):
    """With reason, by whom, since and until when; a pause that has ended by itself is gone."""
    pause("mail-*", until=at(7205))
    pause("shop.tasks.charge", kind="task", reason="a bug")
    pause("over", until=at(-1))

    shown = words(boss.get(LIST))

    assert "Queue mail-*" in shown
    assert "in 2 h" in shown
    assert "Task shop.tasks.charge" in shown
    assert "a bug" in shown
    assert "over" not in shown.replace("overview", "")
    assert "when resumed" in shown


def test_a_page_of_a_pause_has_all_of_it(boss, pause):
    """And the button."""
    row = pause(reason="line one\nline two", until=timezone.now() + timedelta(days=2))

    page = boss.get(f"{LIST}{row.pk}/change/")

    assert "line one\nline two" in page.content.decode()
    assert "Queue mail Paused" in words(page)
    assert "/pause/resume/" in page.content.decode()


def test_a_job_says_that_it_is_paused(boss, job, pause):
    """By whom and why, on its page, in the list, and above the list; jobs that may start do not."""
    pause()
    pause("shop.*", kind="task", reason="a bug")
    waits, both, runs = (
        job(queue_name="mail", task="other.task"), job(queue_name="mail"), job("RUNNING", queue_name="mail"),
    )  # fmt: skip
    free = job(task="other.task")

    def page(made):
        return words(boss.get(f"{ADMIN}/job/{made.pk}/change/"))

    assert "Paused Queue mail is paused by ada: the provider is down" in page(waits)
    assert "a bug" not in page(waits)
    assert "a bug" in page(both)
    assert "Paused" not in page(runs)
    assert "Paused" not in page(free)
    shown = boss.get(f"{ADMIN}/job/")
    assert "Paused Queue mail, Task shop.*." in words(shown)
    assert [row.is_paused for row in shown.context["cl"].result_list] == [False, False, True, True]
    assert words(shown).count("Ready paused") == 2


def test_nothing_is_said_where_nothing_is_paused(boss, job, pause):
    """Nor of what has ended by itself."""
    pause(until=at(-1))
    made = job(queue_name="mail")

    assert "aused" not in words(boss.get(f"{ADMIN}/job/"))
    assert "aused" not in words(boss.get(f"{ADMIN}/job/{made.pk}/change/"))


def test_many_pauses_cost_a_list_of_jobs_no_more_queries(boss, job, pause):
    """A hundred pauses are read at once, and the first few named."""
    for _ in range(5):
        job()
    counts = []
    for more in (1, 99):
        for n in range(more):
            pause(f"tenant-{more}-{n}")
        boss.get(f"{ADMIN}/job/")
        with CaptureQueriesContext(connection) as queries:
            shown = boss.get(f"{ADMIN}/job/")
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 15
    assert "and 95 more" in words(shown)


def test_a_secret_in_a_reason_is_hidden(boss, job, pause):
    """What looks like one is covered, as everywhere."""
    row = pause(reason="password=hunter2hunter2 leaked")
    made = job(queue_name="mail")

    for address in (LIST, f"{LIST}{row.pk}/change/", f"{ADMIN}/job/{made.pk}/change/"):
        page = boss.get(address).content.decode()
        assert "leaked" in page
        assert "hunter2hunter2" not in page
