"""Why a job waits, on its page: what stands in its way, the nearest first, and the way there."""

import re
from functools import partial
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_jobqueue import task
from django_jobqueue.models import Worker
from django_jobqueue.store.session import connect
from django_jobqueue.watch import why as watch_why
from tests.factories import at

from .conftest import ADMIN

WORDS = {"hostname": "here", "pid": 1, "processes": 1, "threads": 1, "coroutines": 1}


@task(task_name="shop.tasks.pay", sensitive=("iban",))
def pay(iban):
    """Be known, with something to hide."""


@pytest.fixture
def alive(db):
    """A living worker that knows the tasks of these tests."""
    known = {"shop.tasks.charge": 1, "shop.tasks.pay": 1}
    return Worker.objects.create(id=uuid4(), backend="default", tasks=known, **WORDS)


def panel(response):
    """Read what the panel says, and its links."""
    assert response.status_code == 200
    page = response.content.decode()
    assert "Attempts</h2>" in page
    shown = re.search(r"Why it waits</h2>(.*?)</section>", page, re.DOTALL)
    if shown is None:
        return None, []
    words = " ".join(re.sub(r"<[^>]+>", " ", shown[1]).split())
    return words, re.findall(r'href="([^"]+)"', shown[1])


@pytest.fixture
def look(boss):
    """Look at the page of a job."""
    return lambda job: panel(boss.get(f"{ADMIN}/job/{job.pk}/change/"))


def test_what_stands_in_the_way_is_told_with_the_way_there(alive, look, job, pause):
    """Each with a word for it, the nearest first; jobs, pauses and limits that it names are linked."""
    holder = job("RUNNING", concurrency_key="tenant:5", key_limit=1, queue_name="mail")
    waits = job("WAITING", waiting_for="limit", concurrency_key="tenant:5", key_limit=1, queue_name="mail", due_in=-5)
    paused = pause("mail")

    words, links = look(waits)

    assert words.startswith("Limit The concurrency key tenant:5 runs 1 at once, and 1 are (jobs ")
    assert "Paused Queue mail is paused by ada: the provider is down." in words
    assert f"{ADMIN}/job/{holder.pk}/change/" in links
    assert f"{ADMIN}/pause/{paused.pk}/change/" in links


def test_a_job_that_is_next_says_so(alive, look, job):
    """There is always an answer for one that waits."""
    assert look(job()) == ("Next Nothing: it is claimed when a worker that serves it has room.", [])


@pytest.mark.parametrize("status", ["RUNNING", "SUCCESSFUL", "FAILED", "CANCELLED"])
def test_a_job_that_waits_for_nothing_has_no_such_panel(look, job, status):
    """One that runs, or is over."""
    assert look(job(status)) == (None, [])


def test_no_list_asks_why(boss, job):
    """It costs queries for each job."""
    for _ in range(3):
        job("WAITING", waiting_for="order", order_key="a", due_in=-5)
    with CaptureQueriesContext(connection) as queries:
        boss.get(f"{ADMIN}/job/")

    assert not [query for query in queries if "statement_timeout" in query["sql"]]


def test_a_page_asks_a_bounded_number_of_questions(alive, boss, job):
    """Of a job that is under everything there is."""
    gates = {"concurrency_key": "k", "key_limit": 1, "task_limit": 1, "queue_limit": 1, "order_key": "a"}
    waits = job("WAITING", waiting_for="limit", due_in=-5, **gates)
    boss.get(f"{ADMIN}/job/{waits.pk}/change/")
    with CaptureQueriesContext(connection) as queries:
        boss.get(f"{ADMIN}/job/{waits.pk}/change/")

    assert len(queries) <= 30


def test_secrets_are_hidden(alive, look, job, pause):
    """What looks like one, in the words of others; and what its task has named, in a key that was made of it."""
    iban = "DE0271 0815 4711"
    pause("*", reason="password=hunter2hunter2 leaked")
    key = {"concurrency_key": f"account:{iban}", "key_limit": 0}
    waits = job("WAITING", task="shop.tasks.pay", waiting_for="limit", kwargs={"iban": iban}, due_in=-5, **key)

    words, _ = look(waits)

    assert "The concurrency key account:" in words
    assert "leaked" in words
    assert iban not in words
    assert "hunter2hunter2" not in words


def test_who_may_not_look_there_is_offered_no_link(alive, client, person, job, pause):
    """What stands in the way is told all the same."""
    pause("mail")
    waits = job(queue_name="mail")
    client.force_login(person("x", "view_job"))

    words, links = panel(client.get(f"{ADMIN}/job/{waits.pk}/change/"))

    assert "is paused by ada" in words
    assert links == []


@pytest.mark.django_db(transaction=True)
def test_the_page_stands_where_it_takes_too_long(boss, job, monkeypatch):
    """It says that it cannot be told just now, and shows all the rest."""
    monkeypatch.setattr(watch_why, "glance", partial(watch_why.glance, timeout_seconds=0.2))
    waits = job()
    with connect("default") as stranger, stranger.transaction():
        stranger.execute("LOCK TABLE django_jobqueue_worker")
        words, links = panel(boss.get(f"{ADMIN}/job/{waits.pk}/change/"))

    assert words == "PostgreSQL takes too long over it just now. Load the page again in a while."
    assert links == []


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE django_jobqueue_job SET run_after = 'infinity'",
        "UPDATE django_jobqueue_worker SET tasks = '[1]'",
        "INSERT INTO django_jobqueue_pause (kind, target, pattern, reason, paused_by, until)"
        " VALUES ('queue', '*', '%%', 'x', 'ada', '20000-01-01')",
    ],
)
def test_the_page_stands_beside_a_damaged_row(alive, look, job, by_hand, damage):
    """Its own, or one that has to do with it."""
    waits = job(due_in=-5, expires_at=at(60))
    by_hand(damage)

    words, _ = look(waits)

    assert "It cannot be told: " in words
