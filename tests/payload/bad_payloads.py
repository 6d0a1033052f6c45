"""Every kind of bad payload, and the message it gets.

`DJANGO_SETTINGS_MODULE=tests.settings python -m tests.payload.bad_payloads` prints the table of the docs.

Each is the value of one argument, named `value`, of a task without hints; or a call that does not fit.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from io import BytesIO
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import django
from django.apps import apps

if not apps.ready:
    django.setup()
from django.contrib.auth.models import User

from django_jobqueue import Secret
from django_jobqueue.conf import Options
from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.signature import signature_of
from django_jobqueue.payload.storable_json import arguments, loads
from django_jobqueue.payload.typed import forms_of

MAX_BYTES = 1024
SCHEMES = Options(secret_sources={"vault": "shop.vault.read"}).schemes


class Colour(Enum):
    RED = "red"


@dataclass
class Line:
    sku: str


def take(value=None): ...


def take_any(**named): ...


def book(order_id, at: datetime | None = None): ...


@dataclass
class Gross:
    amount: Decimal

    def __post_init__(self) -> None:
        self.amount *= 2


def charge(amount: Decimal | None = None, gross: Gross | None = None, opens: time | None = None): ...


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


VALUES: list[tuple[str, Any]] = [
    ("not a number", float("nan")),
    ("infinity", [1.0, float("inf")]),
    ("a NUL character", {"name": "a\0b"}),
    ("a lone surrogate", "\ud800"),
    ("a key that is no text", {1: "one"}),
    ("an integer of more than 4,300 digits", 10**4300),
    ("more than 100 levels, or itself", endless()),
    ("too large", "x" * 2000),
    ("bytes", b"abc"),
    ("a set", {1}),
    ("a datetime", datetime(2026, 11, 30)),
    ("a date", date(2026, 11, 30)),
    ("a time", time(12, 30)),
    ("a timedelta", timedelta(hours=1)),
    ("a Decimal", Decimal("1.10")),
    ("a UUID", UUID(int=7)),
    ("a member of an enum", Colour.RED),
    ("a dataclass", Line("a")),
    ("a subclass of a plain type", OrderedDict(a=1)),
    ("a model instance", User(username="ada")),
    ("a file", BytesIO()),
    ("any other object", object()),
    ("a dict with the key of references to secrets", {"$secret": "settings:STRIPE_KEY"}),
    ("a reference to an unknown source", [Secret("vualt:stripe")]),
]
"""In a project whose OPTIONS have a source of secrets named vault."""

CALLS: list[tuple[str, Any, tuple[Any, ...], dict[str, Any]]] = [
    ("an argument too many", take, (1, 2), {}),
    ("a name that there is not", book, (1,), {"when": None}),
    ("a mistyped name", book, (), {"ordr_id": 1}),
    ("an argument given twice", book, (1,), {"order_id": 1}),
    ("an argument missing", book, (), {}),
    ("a value that is not of the hinted type", book, (1,), {"at": "2026-11-30"}),
    ("a Secret where the hint names no text", book, (1,), {"at": Secret("env:WHEN")}),
    ("a Decimal that is not finite", charge, (Decimal("NaN"),), {}),
    (
        "a time with a zone that has no offset without a day",
        charge,
        (),
        {"opens": time(8, tzinfo=ZoneInfo("Europe/Rome"))},
    ),
    ("a class that makes another value of what it is given", charge, (), {"gross": Gross(Decimal("9.90"))}),
    ("an argument with the name of a reference's key", take_any, (), {"$secret": 1}),
]


def messages() -> list[tuple[str, str]]:
    """Ask each for its message, as an enqueue does."""
    calls = [(what, take, (), {"value": value}) for what, value in VALUES] + CALLS
    return [(what, message_of(function, args, kwargs)) for what, function, args, kwargs in calls]


def message_of(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    try:
        signature_of(function, takes_context=False).require_fit(args, kwargs)
        forms = forms_of(function, takes_context=False)
        texts = arguments(*forms.write(args, kwargs), max_bytes=MAX_BYTES, schemes=SCHEMES)
        forms.require_same((args, kwargs), forms.read(*map(loads, texts)))
    except InvalidPayload as error:
        return str(error)
    raise AssertionError(f"{kwargs} is accepted")


def table() -> str:
    """Write the table."""
    rows = ["| Passed | Answer |", "|---|---|"]
    rows += [f"| {what} | `{message}` |" for what, message in messages()]
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(table(), end="")
