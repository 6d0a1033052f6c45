"""Circuit breakers in the admin: the list, the page, and the two buttons."""

import pytest

from django_jobqueue import Breaker, task, tasks
from django_jobqueue.models import AuditEntry, CircuitBreaker
from tests.factories import at

from .conftest import ADMIN
from .test_pauses import words

LIST = f"{ADMIN}/circuitbreaker/"


def charge():
    """What a task of these tests would do."""


@pytest.fixture
def charging(monkeypatch):
    """Declare a task with the breaker `stripe`, for one test."""
    monkeypatch.setattr(tasks, "_declared", dict(tasks._declared))
    return task(breaker=Breaker("stripe", trips_on=(ConnectionError,)))(charge)


def test_the_list_says_how_each_stands(boss, breaker):
    """State, counts, reason and the next probe: what a person at night wants to know."""
    breaker("mail", state="closed", generation=0, reason="")
    breaker(ended=20, tripped=12, next_probe_at=at(175), changed_at=at(-60))

    page = words(boss.get(LIST))
    assert "stripe Open 12 of 20 12 of 20 attempts failed (builtins.OSError)" in page
    assert "1 min ago in 2 min" in page
    assert "mail Closed" in page


def test_one_that_nobody_probes_says_who_ends_it(boss, breaker):
    """Opened by hand, it waits for a person."""
    row = breaker(set_by="ada", reason="a maintenance")

    page = words(boss.get(f"{LIST}{row.pk}/change/"))
    assert "when somebody closes it" in page
    assert "ada" in page
    assert "a maintenance" in page


def test_a_page_names_the_tasks_that_it_holds(boss, breaker, charging):
    """By the code that serves the page."""
    assert "tests.admin.test_breakers.charge" in words(boss.get(f"{LIST}{breaker().pk}/change/"))


def test_one_is_closed_and_opened_by_button(boss, breaker):
    """Each asks first, with a reason, and says what it did."""
    row = breaker()
    asked = boss.post(f"{LIST}close/", {"_selected_action": row.pk})
    assert "Workers start jobs of its tasks again, a few at first." in words(asked)
    assert CircuitBreaker.objects.get().state == "open"

    done = boss.post(f"{LIST}close/", {"_selected_action": row.pk, "confirm": "1", "reason": "it is over"}, follow=True)
    assert "1 circuit breaker closed." in words(done)
    assert CircuitBreaker.objects.get().state == "closed"
    boss.post(f"{LIST}open/", {"_selected_action": row.pk, "confirm": "1", "reason": "no, it is not"})

    row = CircuitBreaker.objects.get()
    assert (row.state, row.reason, row.set_by, row.next_probe_at) == ("open", "no, it is not", "boss", None)
    assert list(AuditEntry.objects.order_by("id").values_list("action", flat=True)) == ["close_breaker", "open_breaker"]


@pytest.mark.parametrize("name", ["open", "close"])
def test_without_a_reason_nothing_happens(boss, breaker, name):
    """The form comes back."""
    row = breaker()
    answer = boss.post(f"{LIST}{name}/", {"_selected_action": row.pk, "confirm": "1", "reason": " "})

    assert "This field is required." in words(answer)
    assert not AuditEntry.objects.exists()


def test_what_cannot_be_done_is_told(boss, breaker):
    """Somebody else was faster."""
    row = breaker(state="closed")
    data = {"_selected_action": row.pk, "confirm": "1", "reason": "it is over"}

    assert "Refused: breaker stripe is closed already." in words(boss.post(f"{LIST}close/", data, follow=True))
