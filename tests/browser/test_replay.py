"""The daily page in a real browser: log in, open a dead letter, replay it, see it resolved."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from django_jobqueue.models import DeadLetter
from tests.factories import make_dead_letter

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (group `browser`)").expect

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LIST = "/admin/django_jobqueue/deadletter/"
ROOT = Path(__file__).resolve().parents[2]


def run_worker_until_idle(database_url):
    """Run a real worker, in a process of its own, until nothing is due."""
    environment = os.environ | {"DATABASE_URL": database_url, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    command = [sys.executable, "-m", "django", "runworker", "--until-idle", "--processes", "1"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr


def test_replay_until_resolved(page, log_in, database_url):
    """A dead letter is opened, replayed with a reason, run by a worker, and found among the resolved ones."""
    letter = make_dead_letter(task="tests.stage.tasks.start")
    log_in(LIST)

    page.get_by_role("link", name="start").click()
    expect(page.get_by_role("heading", name="ValueError")).to_be_visible()
    page.get_by_role("button", name="Replay…").click()
    page.get_by_label("Why? (optional)").fill("it should work now")
    page.get_by_role("button", name="Replay 1 dead letter").click()

    expect(page.locator(".messagelist .success")).to_have_text("1 dead letter replayed.")
    expect(page.get_by_text("All is well")).to_be_visible()
    page.get_by_role("link", name="Replayed", exact=True).click()
    expect(page.locator("#result_list tbody tr")).to_have_count(1)

    run_worker_until_idle(database_url)

    page.get_by_role("link", name="Resolved", exact=True).click()
    page.get_by_role("link", name="start").click()
    expect(page.locator("main h1")).to_have_text("start Resolved")
    expect(page.get_by_text("it should work now")).to_be_visible()
    assert DeadLetter.objects.get(pk=letter.pk).status == "RESOLVED"


def test_choose_all_and_discard(page, log_in):
    """One box chooses all rows of the page; their discard asks for a reason, and keeps the filters of the list."""
    letters = [make_dead_letter(owner="payments") for _ in range(3)]
    make_dead_letter(owner="growth")
    log_in(f"{LIST}?owner=payments")

    page.get_by_role("checkbox", name="Select all on this page").check()
    expect(page.get_by_role("status")).to_have_text("3 selected")
    page.get_by_role("button", name="Discard…").click()
    page.get_by_label("Why?").fill("the customer is gone")
    page.get_by_role("button", name="Discard 3 dead letters").click()

    expect(page.locator(".messagelist .success")).to_have_text("3 dead letters discarded.")
    assert page.url.endswith("?owner=payments")
    assert {x.status for x in DeadLetter.objects.filter(pk__in=[x.pk for x in letters])} == {"DISCARDED"}
    assert DeadLetter.objects.filter(status="OPEN").count() == 1


def test_without_javascript(chromium_path, page, log_in, live_server):
    """With scripts switched off a letter can still be chosen, confirmed and replayed."""
    make_dead_letter()
    log_in(LIST)
    plain = page.context.browser.new_context(java_script_enabled=False, storage_state=page.context.storage_state())
    quiet = plain.new_page()

    quiet.goto(live_server.url + LIST)
    quiet.locator("input.jq-choose").check()
    quiet.get_by_role("button", name="Replay…").click()
    quiet.get_by_role("button", name="Replay 1 dead letter").click()

    expect(quiet.locator(".messagelist .success")).to_have_text("1 dead letter replayed.")
    plain.close()
