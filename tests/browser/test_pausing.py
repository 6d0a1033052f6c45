"""Pause and resume in a real browser, and what the pages of jobs say meanwhile."""

import pytest

from django_jobqueue.models import Pause
from tests.factories import make_job

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (group `browser`)").expect

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LIST = "/admin/django_jobqueue/pause/"


def test_pause_until_resumed(page, log_in):
    """A queue is paused with a reason; its job says so; it is resumed, and the job says nothing any more."""
    job = make_job(queue_name="mail")
    address = f"/admin/django_jobqueue/job/{job.pk}/change/"
    log_in(LIST)

    expect(page.get_by_text("Nothing is paused.")).to_be_visible()
    page.get_by_role("link", name="Pause a queue or a task…").click()
    page.get_by_label("Name").fill("mail")
    page.get_by_label("Until").fill("2h")
    page.get_by_label("Why?").fill("the provider is down")
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.locator(".messagelist .success")).to_have_text("Queue mail is paused.")

    page.goto(address)
    expect(page.locator(".jq-hindrances")).to_contain_text(": the provider is down")
    page.goto("/admin/django_jobqueue/job/")
    page.get_by_role("link", name="Why, and until when").click()
    page.get_by_role("link", name="Queue mail").click()
    page.get_by_role("button", name="Resume…").click()
    page.get_by_role("button", name="Resume 1 pause").click()
    expect(page.locator(".messagelist .success")).to_have_text("1 pause ended.")

    page.goto(address)
    expect(page.locator(".jq-hindrances")).not_to_contain_text("paused")
    assert not Pause.objects.exists()
