"""The shop with real partners: processes on loopback, whose books are emptied before each test."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from types import SimpleNamespace
from uuid import uuid4

import pytest
from django.db import connections

from demo_project.processes import Processes
from demo_project.shop.checkout import place_order
from demo_project.shop.models import Order, Product
from demo_project.shop.people import customer
from demo_project.shop.seed import seed
from demo_project.shop.services.ledger import Ledger
from demo_project.shop.stage import Stage


@dataclass(frozen=True)
class Partners:
    """The running partners, and what their books say."""

    stage: Stage

    def charges(self):
        return Ledger(self.stage.payments, "ch").documents()

    def crm_entries(self):
        return Ledger(self.stage.crm, "crm").documents()

    def forget(self):
        for book in (self.stage.payments, self.stage.crm):
            with closing(sqlite3.connect(book)) as connection, connection:
                connection.execute("DELETE FROM entry")
        for mail in (self.stage.state / "inbox" / "new").glob("*"):
            mail.unlink()


@pytest.fixture(scope="session")
def stage(tmp_path_factory) -> Iterator[Stage]:
    with Processes() as processes:
        stage = Stage(processes, tmp_path_factory.mktemp("shop"), {})
        stage.start_partners(hang_seconds=1.5)
        yield stage


@pytest.fixture
def partners(stage, settings) -> Partners:
    """Real partners with empty books, known to the settings."""
    settings.SHOP_SMTP_PORT = int(stage.env["SHOP_SMTP_PORT"])
    settings.SHOP_PAYMENTS_URL = stage.env["SHOP_PAYMENTS_URL"]
    settings.SHOP_ENRICHMENT_URL = stage.env["SHOP_ENRICHMENT_URL"]
    settings.SHOP_CRM_URL = stage.env["SHOP_CRM_URL"]
    settings.SHOP_STATE_DIR = stage.state
    settings.SHOP_REQUEST_SECONDS = 1.0
    partners = Partners(stage)
    partners.forget()
    return partners


@pytest.fixture(autouse=True)
def media(settings, tmp_path):
    """Keep uploads out of the checkout."""
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


@pytest.fixture
def shop(db) -> None:
    """The prints on the wall."""
    seed()


@pytest.fixture
def order(shop):
    """Place an order: `order(email=…, card=…)`."""

    def place(email: str = "ada@example.com", card: str = "4000 0000 0000 0001") -> Order:
        return place_order(customer("Ada", email), {Product.objects.earliest("pk"): 2}, card=card)

    return place


@pytest.fixture
def context():
    """What a task with takes_context gets, under a key that no other test uses."""
    return SimpleNamespace(idempotency_key=uuid4().hex)


@pytest.fixture
def at_once():
    """Call a function in two threads at once; answers both results."""

    def call(function):
        def in_thread(_):
            try:
                return function()
            finally:
                connections.close_all()

        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(in_thread, range(2)))

    return call
