"""The test cards of the demo's provider, and what each of them does there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Card:
    """A card number that behaves in one way."""

    number: str
    does: str

    @property
    def label(self) -> str:
        """Say what it does first, as a narrow list shows no more."""
        return f"{self.does} · {self.number[-4:]}"


GOOD = Card("4000 0000 0000 0001", "Works at once")
FLAKY = Card("4000 0000 0000 0503", "Provider down twice, then works")
SLOW = Card("4000 0000 0000 0408", "Charged, but the answer is late")
DECLINED = Card("4000 0000 0000 0402", "Bank declines")

CARDS = (GOOD, FLAKY, SLOW, DECLINED)
