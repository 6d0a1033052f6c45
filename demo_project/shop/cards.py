"""The test cards of the demo's provider, and what each of them does there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Card:
    """A card number that behaves in one way."""

    number: str
    does: str


GOOD = Card("4000 0000 0000 0001", "works at once")
FLAKY = Card("4000 0000 0000 0503", "the provider is down twice, then works")
SLOW = Card("4000 0000 0000 0408", "is charged, but the answer comes too late the first time")
DECLINED = Card("4000 0000 0000 0402", "the bank declines")

CARDS = (GOOD, FLAKY, SLOW, DECLINED)
