"""A real Chromium on a live server. Skipped, with the reason, where there is none."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",  # it runs as root in containers, and visits nothing but the live server
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def chromium_path():
    """The browser: CHROMIUM names it, or PATH has one."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed (group `browser`)")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"there is no Chromium: set CHROMIUM, or install one of {', '.join(NAMES)}")
    return path


@pytest.fixture
def page(chromium_path, live_server, monkeypatch):
    """A page in a browser of its own. An error on its console, or in its scripts, fails the test."""
    from playwright.sync_api import sync_playwright

    # Playwright runs an event loop in this thread, next to which Django's ORM would not work.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    errors = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, headless=True, args=list(FLAGS))
        page = browser.new_page(base_url=live_server.url)
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.set_default_timeout(15_000)
        yield page
        browser.close()
    assert not errors


@pytest.fixture
def log_in(page, django_user_model):
    """Log in as a superuser and arrive at an address."""

    def arrive(address):
        django_user_model.objects.create_superuser("ada", password="lovelace")
        page.goto(f"/admin/login/?next={address}")
        page.fill("#id_username", "ada")
        page.fill("#id_password", "lovelace")
        page.click("[type=submit]")

    return arrive
