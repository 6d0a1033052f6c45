"""The payment provider."""

from __future__ import annotations

from django.conf import settings

from demo_project.shop.partners.client import post


class CardDeclined(Exception):
    """The bank said no. Asking again will not change its mind."""


class ChargeRefused(Exception):
    """The provider did not understand the request, or met its key with another amount or card."""


def charge_card(card: str, amount_cents: int, *, idempotency_key: str) -> str:
    """Charge a card once per key, and answer with the provider's reference.

    Raises CardDeclined, ChargeRefused, and what `client.post` raises.
    """
    answer = post(
        f"{settings.SHOP_PAYMENTS_URL}/charges",
        {"card": card, "amount_cents": amount_cents},
        idempotency_key=idempotency_key,
    )
    match answer.status:
        case 200 | 201:
            return str(answer.body["reference"])
        case 402:
            raise CardDeclined(answer.body["error"])
        case _:
            raise ChargeRefused(f"{answer.status}: {answer.body.get('error', 'no reason given')}")
