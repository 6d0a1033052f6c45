"""What the shop starts with: prints to sell, and somebody who may enter the admin."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path

from django.contrib.auth.models import User

from demo_project.shop.models import Product
from demo_project.shop.people import customer, sales_user

PRINTS = (
    ("hills", "Morning hills", "Screen print in four colours", 3800),
    ("moon", "Cold moon", "Lithograph, night blue", 5200),
    ("tide", "Three tides", "Risograph on recycled paper", 2400),
    ("fern", "Fern no. 9", "Linocut by hand", 4500),
)

ADMIN = "admin"


def seed() -> None:
    """Put the prints on the wall; what hangs there already stays."""
    for slug, name, note, price_cents in PRINTS:
        Product.objects.get_or_create(slug=slug, defaults={"name": name, "note": note, "price_cents": price_cents})
    customer("Ada Lovelace", "ada@example.com")
    sales_user()


def admin_password() -> str:
    """Make sure of the admin's account, and give it a new password, which is the answer."""
    password = secrets.token_urlsafe(9)
    user, _ = User.objects.get_or_create(username=ADMIN, defaults={"is_staff": True, "is_superuser": True})
    user.set_password(password)
    user.save(update_fields=["password"])
    return password


def forget_the_past(state: Path) -> None:
    """Remove what belongs to an earlier database: its job ids would come back as known keys."""
    for folder in ("inbox", "media"):
        shutil.rmtree(state / folder, ignore_errors=True)
    for book in ("payments.sqlite3", "crm.sqlite3"):
        (state / book).unlink(missing_ok=True)
