"""A circuit breaker in a real browser: looked at, closed and opened by button."""

import pytest

from django_jobqueue.models import CircuitBreaker
from tests.factories import at

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (group `browser`)").expect

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LIST = "/admin/django_jobqueue/circuitbreaker/"


def test_close_and_open(page, log_in):
    """An open breaker says why; it is closed with a reason, and opened again."""
    CircuitBreaker.objects.create(name="mail")
    CircuitBreaker.objects.create(
        name="stripe",
        state="open",
        generation=3,
        ended=20,
        tripped=12,
        changed_at=at(-20),
        opened_at=at(-300),
        next_probe_at=at(3600),
        reason="12 of 20 attempts failed (builtins.ConnectionRefusedError)",
        last_failure="builtins.ConnectionRefusedError",
    )
    log_in(LIST)

    page.get_by_role("link", name="stripe").click()
    expect(page.get_by_text("12 of 20 attempts failed (builtins.ConnectionRefusedError)")).to_be_visible()
    page.get_by_role("button", name="Close…").click()
    page.get_by_label("Why?").fill("their status page says that it is over")
    page.get_by_role("button", name="Close 1 circuit breaker").click()
    expect(page.locator(".messagelist .success")).to_have_text("1 circuit breaker closed.")

    page.get_by_role("link", name="mail").click()
    page.get_by_role("button", name="Open…").click()
    page.get_by_label("Why?").fill("a maintenance")
    page.get_by_role("button", name="Open 1 circuit breaker").click()
    expect(page.locator(".messagelist .success")).to_have_text("1 circuit breaker opened.")
    assert dict(CircuitBreaker.objects.values_list("name", "state")) == {"mail": "open", "stripe": "closed"}
