"""The CRM of the sales people."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from demo_project.shop.partners.client import post


class EntryRefused(Exception):
    """The CRM did not take the entry as it is."""


def add_entry(entry: dict[str, Any], *, idempotency_key: str) -> str:
    """Write one entry per key, and answer with its reference."""
    answer = post(f"{settings.SHOP_CRM_URL}/entries", entry, idempotency_key=idempotency_key)
    if answer.status not in {200, 201}:
        raise EntryRefused(f"{answer.status}: {answer.body.get('error', 'no reason given')}")
    return str(answer.body["reference"])
