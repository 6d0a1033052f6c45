"""Set a limit and take it back in a real browser, from the page of a job that waits for it."""

import pytest

from django_jobqueue.models import AuditEntry, Limit
from tests.factories import make_job

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (group `browser`)").expect

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_from_a_job_that_waits_to_its_limit_and_back(page, log_in, scheme):
    """Its page says what fills the limit and leads there; more may run, and then what is declared again."""
    page.emulate_media(color_scheme=scheme)
    holder = make_job("RUNNING", queue_name="mail", queue_limit=1)
    waits = make_job("WAITING", waiting_for="limit", due_in=-5, queue_name="mail", queue_limit=1)
    log_in(f"/admin/django_jobqueue/job/{waits.pk}/change/")

    expect(page.locator(".jq-hindrances")).to_contain_text(
        f"The queue mail runs 1 at once, and 1 are (jobs {holder.pk})"
    )
    page.get_by_role("link", name="The limits").click()
    page.get_by_role("row", name="Queue mail Full 1 1 1").get_by_role("link", name="Change…").click()
    expect(page.get_by_label("Jobs at once")).to_have_value("1")
    page.get_by_label("Jobs at once").fill("2")
    page.get_by_label("Why?").fill("the provider is fast again")
    page.get_by_role("button", name="Set the limit").click()
    expect(page.locator(".messagelist .success")).to_have_text("Queue mail runs 2 at once from now on.")

    page.get_by_role("link", name="Queue mail").click()
    page.get_by_role("link", name="Who set it before").click()
    expect(page.locator("#result_list")).to_contain_text("the provider is fast again")
    page.go_back()
    page.get_by_role("button", name="Take back…").click()
    page.get_by_role("button", name="Take back 1 limit").click()
    expect(page.locator(".messagelist .success")).to_have_text("1 limit taken back.")
    assert not Limit.objects.exists()
    assert AuditEntry.objects.filter(object="queue:mail").count() == 2
