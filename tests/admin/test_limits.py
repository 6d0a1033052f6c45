"""Limits in the admin: what holds and what is taken, the form, the button, and the way from a job that waits."""

from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_jobqueue import task
from django_jobqueue.models import AuditEntry, Limit
from django_jobqueue.store.session import connect
from django_jobqueue.watch import limits as watch_limits
from tests.admin.test_pauses import words
from tests.factories import at

from .conftest import ADMIN

LIST, ADD = f"{ADMIN}/limit/", f"{ADMIN}/limit/add/"
FORM = {"kind": "queue", "target": "mail", "at_once": "2", "reason": "the provider is slow"}


@task(task_name="shop.tasks.wire", concurrency_key="account:{iban}", concurrency_limit=1, sensitive=("iban",))
def wire(iban): ...


@pytest.fixture
def full(job):
    """A queue of which two may run and do, and three wait."""
    for _ in range(2):
        job("RUNNING", queue_name="mail", queue_limit=2)
    return [job("WAITING", waiting_for="limit", due_in=-5, queue_name="mail", queue_limit=2) for _ in range(3)]


def lines(response):
    return [(line.name, line.at_once, line.taken, line.waiting, line.declared) for line in response.context["lines"]]


def test_a_limit_is_set_by_form(boss):
    """It says that it is, who did it, and leaves an entry in the audit."""
    response = boss.post(ADD, FORM, follow=True)

    assert Limit.objects.values_list("kind", "target", "at_once", "set_by", "reason").get() == (
        "queue", "mail", 2, "boss", "the provider is slow",
    )  # fmt: skip
    assert "Queue mail runs 2 at once from now on." in words(response)
    assert AuditEntry.objects.values_list("actor", "action", "object", "reason").get() == (
        "boss", "set_limit", "queue:mail", "the provider is slow",
    )  # fmt: skip
    assert response.request["PATH_INFO"] == LIST


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"target": ""}, "This field is required."),
        ({"reason": " "}, "This field is required."),
        ({"at_once": ""}, "This field is required."),
        ({"at_once": "-1"}, "greater than or equal to 0"),
        ({"at_once": "1000001"}, "less than or equal to 1000000"),
        ({"at_once": "1.5"}, "Enter a whole number."),
        ({"target": "a\u202eb"}, "names no queue"),
        ({"target": "x" * 256}, "names no queue"),
        ({"kind": "planet"}, "is not one of the available choices"),
    ],
)
def test_what_cannot_be_set_is_told_beside_its_field(boss, changes, said):
    """The form comes back with what was typed, and nothing is changed."""
    response = boss.post(ADD, FORM | changes)

    assert said in words(response)
    assert response.context["form"]["reason"].value() == (FORM | changes)["reason"]
    assert not Limit.objects.exists()


def test_a_limit_that_holds_up_nothing_is_told(boss, full):
    """It stands for one that is declared: of a queue that has none nothing is held up."""
    assert "holds up none" not in words(boss.post(ADD, FORM, follow=True))
    assert "holds up none" in words(boss.post(ADD, FORM | {"target": "reports"}, follow=True))


def test_a_link_fills_the_form_in(boss):
    """With the queue, the task or the key that it names, and what holds; a GET changes nothing, whatever it says."""
    form = boss.get(ADD, FORM | {"key": "tenant:5", "confirm": "1"}).context["form"]

    assert form.initial == {"kind": "key", "target": "tenant:5", "at_once": "2"}
    assert "at_once" not in boss.get(ADD, {"key": "k", "at_once": "²"}).context["form"].initial
    assert not Limit.objects.exists()


def test_taking_back_asks_first(boss, limit):
    """A button leads to a page with the reason; the second POST takes the limit back, and is on record."""
    row = limit()
    data = {"_selected_action": row.pk}
    assert "the provider is slow" in words(boss.post(f"{LIST}clear/", data))
    assert Limit.objects.exists()

    told = boss.post(f"{LIST}clear/", data | {"confirm": "1", "reason": "it is fast"}, follow=True)

    assert "1 limit taken back." in words(told)
    assert not Limit.objects.exists()
    assert AuditEntry.objects.values_list("actor", "action", "object", "reason").get() == (
        "boss", "set_limit", "queue:mail", "it is fast",
    )  # fmt: skip
    again = boss.post(f"{LIST}clear/", data | {"confirm": "1"}, follow=True)
    assert "Refused: somebody has taken it back" in words(again)


def test_the_list_has_what_holds_and_what_is_taken(boss, full, job, limit):
    """Those that jobs wait for first; what a person has set stands for what is declared, and is marked."""
    row = limit("tenant:5", kind="key", at_once=3)
    job(concurrency_key="tenant:5", key_limit=7)

    page = boss.get(LIST)

    assert lines(page) == [("Queue mail", "2", "2", "3", "2"), ("Concurrency key tenant:5", "3", "1", "0", "7")]
    assert "Queue mail Full 2 2 3 2 Change…" in words(page)
    assert "Concurrency key tenant:5 3 1 0 7, set by hand Change…" in words(page)
    assert f"{LIST}{row.pk}/change/" in page.content.decode()
    assert f"{ADD}?key=tenant%3A5&amp;at_once=3" in page.content.decode()


def test_a_page_of_a_limit_has_all_of_it(boss, limit):
    """The number, the reason, the button, and the way to what others have done to it."""
    row = limit("a/b&c", at_once=0, reason="line one\nline two")

    page = boss.get(f"{LIST}{row.pk}/change/")

    assert "Queue a/b&amp;c 0 at once" in words(page)
    assert "line one\nline two" in page.content.decode()
    assert "/limit/clear/" in page.content.decode()
    assert f"{ADMIN}/auditentry/?q=queue%3Aa%2Fb%26c" in page.content.decode()


def test_a_job_that_waits_leads_to_the_limits(boss, full):
    """From the panel on its page."""
    assert f'href="{LIST}"' in boss.get(f"{ADMIN}/job/{full[0].pk}/change/").content.decode().partition("<main")[2]


def test_secrets_are_hidden(boss, job, limit):
    """What looks like one; and a key that may be made of what its task hides."""
    row = limit(reason="password=hunter2hunter2 leaked")
    job(task="shop.tasks.wire", concurrency_key="account:DE0271 0815 4711", key_limit=1)

    for address in (LIST, f"{LIST}{row.pk}/change/"):
        page = boss.get(address).content.decode()
        assert "leaked" in page
        assert "hunter2hunter2" not in page
        assert "4711" not in page


def test_many_limits_cost_no_more_queries(boss, job, limit):
    """Two or forty."""
    counts = []
    for more in (1, 39):
        for n in range(more):
            limit(f"tenant-{more}-{n}", kind="key")
            job(concurrency_key=f"tenant-{more}-{n}", key_limit=1)
        boss.get(LIST)
        with CaptureQueriesContext(connection) as queries:
            boss.get(LIST)
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 15


@pytest.mark.django_db(transaction=True)
def test_the_list_stands_where_it_takes_too_long(boss, limit, monkeypatch):
    """What was set by hand is there, with its button; it says that the rest cannot be told."""
    monkeypatch.setattr(watch_limits, "glance", partial(watch_limits.glance, timeout_seconds=0.2))
    limit()
    with connect("default") as stranger, stranger.transaction():
        stranger.execute("LOCK TABLE django_jobqueue_job")
        page = boss.get(LIST)

    assert "What holds now cannot be told: OperationalError." in words(page)
    assert "the provider is slow" in words(page)
    assert "/limit/clear/" in page.content.decode()


@pytest.mark.parametrize("moment", ["infinity", "20000-01-01", "4713-01-01 BC"])
def test_a_damaged_row_breaks_no_page(boss, limit, by_hand, moment):
    """A time that Python cannot hold, in the row that was set."""
    row = limit(set_at=at(-5))
    by_hand("UPDATE django_jobqueue_limit SET set_at = %s", moment)

    for address in (LIST, f"{LIST}{row.pk}/change/"):
        page = boss.get(address)
        assert page.status_code == 200
        assert "the provider is slow" in words(page)
