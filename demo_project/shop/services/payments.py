"""The payment provider: charges a card once per Idempotency-Key, and misbehaves by card number.

- `…0503` answers 503 twice per key, then charges
- `…0408` charges at once, but answers only after `--hang-seconds` the first time
- `…0402` declines; nothing is remembered, so the same key may come back with another card
- others charge at once
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from demo_project.shop.services.ledger import KeyReused, Ledger
from demo_project.shop.services.web import Reply, serve

OUTAGES_PER_KEY = 2


class Provider:
    """Answers POST /charges with {"card": …, "amount_cents": …}."""

    def __init__(self, ledger: Ledger, *, hang_seconds: float) -> None:
        self.ledger = ledger
        self.hang_seconds = hang_seconds
        self._lock = threading.Lock()
        self._outages: Counter[str] = Counter()

    def respond(self, method: str, path: str, document: dict[str, Any], key: str) -> Reply:
        if (method, path) != ("POST", "/charges"):
            return 404, {"error": "POST /charges is all there is"}
        if not key:
            return 400, {"error": "Idempotency-Key is missing"}
        card, amount_cents = str(document.get("card", "")), document.get("amount_cents")
        if not isinstance(amount_cents, int) or amount_cents <= 0:
            return 422, {"error": f"amount_cents is a positive whole number; got {amount_cents!r}"}
        behaviour = card[-4:]
        if behaviour == "0402":
            return 402, {"error": "card declined"}
        if behaviour == "0503" and self._is_out(key):
            return 503, {"error": "try again later"}
        return self._charge(key, card, amount_cents, hangs=behaviour == "0408")

    def _is_out(self, key: str) -> bool:
        with self._lock:
            self._outages[key] += 1
            return self._outages[key] <= OUTAGES_PER_KEY

    def _charge(self, key: str, card: str, amount_cents: int, *, hangs: bool) -> Reply:
        try:
            reference, is_new = self.ledger.write(key, json.dumps([card[-4:], amount_cents]))
        except KeyReused:
            return 409, {"error": "this Idempotency-Key was used for another charge"}
        if hangs and is_new:
            time.sleep(self.hang_seconds)
        return (201 if is_new else 200), {"reference": reference}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ledger", type=Path, required=True)
    parser.add_argument("--hang-seconds", type=float, default=6.0)
    options = parser.parse_args()
    provider = Provider(Ledger(options.ledger, "ch"), hang_seconds=options.hang_seconds)
    serve(provider.respond, options.port)


if __name__ == "__main__":
    main()
