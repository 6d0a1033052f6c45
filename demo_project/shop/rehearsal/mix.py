"""What a rehearsal asks for. Whoever changes it changes EXPECTED in `figures.py` too."""

from __future__ import annotations

import io

from django.conf import settings
from django.core.management import call_command

from demo_project.shop import samples
from demo_project.shop.cards import DECLINED, FLAKY, GOOD, SLOW, Card
from demo_project.shop.models import Product
from demo_project.shop.rehearsal.visitor import Visitor

LEADS = (
    {"source": "fair", "external_id": "1", "name": "Mary Anning", "company": "Ammonite Ltd"},
    {"source": "fair", "external_id": "2", "name": "Lise Meitner", "company": "Otto & Lise"},
)


def order_that_meets_a_crash(visitor: Visitor) -> None:
    """Order with a card that is charged at once and answered late: time enough to kill a worker."""
    _order(visitor, "katherine@example.com", SLOW)


def everything_else(visitor: Visitor) -> None:
    """Ask for the rest, through the forms, the webhook and the command line."""
    _order(visitor, "ada@example.com", GOOD)
    _order(visitor, "grace@example.com", FLAKY)
    _order(visitor, "emmy@greylist.example", GOOD)
    _order(visitor, "nobody@bounce.example", GOOD)
    _order(visitor, "hedy@example.com", DECLINED)
    _order(visitor, "sofia@example.com", SLOW)
    for lead in (*LEADS, LEADS[0]):
        visitor.call_hook(lead, secret=settings.SHOP_WEBHOOK_SECRET)
    for title in ("dawn", "dusk", "damaged"):
        visitor.upload("/photos/", {"title": title, "original": _file(title)})
    # Twice: the week has one report all the same.
    for _ in range(2):
        call_command("shop_report", stdout=io.StringIO())
    visitor.send_form("/poison/", {})


def _order(visitor: Visitor, email: str, card: Card) -> None:
    product = Product.objects.earliest("pk")
    name = email.partition("@")[0].title()
    form = {"name": name, "email": email, "card": card.number, f"product_{product.pk}": 1}
    visitor.send_form("/checkout/", form)


def _file(title: str) -> io.BytesIO:
    file = io.BytesIO(samples.make(title))
    file.name = f"{title}.jpg"
    return file
