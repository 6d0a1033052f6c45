"""The CRM: takes one entry per Idempotency-Key, and answers the first reference again."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from demo_project.shop.services.ledger import KeyReused, Ledger
from demo_project.shop.services.web import Reply, serve


class Crm:
    """Answers POST /entries with {"name": …, "company": …, "industry": …}."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def respond(self, method: str, path: str, document: dict[str, Any], key: str) -> Reply:
        if (method, path) != ("POST", "/entries"):
            return 404, {"error": "POST /entries is all there is"}
        if not key:
            return 400, {"error": "Idempotency-Key is missing"}
        if not document.get("company"):
            return 422, {"error": "company is missing"}
        try:
            reference, is_new = self.ledger.write(key, json.dumps(document, sort_keys=True))
        except KeyReused:
            return 409, {"error": "this Idempotency-Key was used for another entry"}
        return (201 if is_new else 200), {"reference": reference}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ledger", type=Path, required=True)
    options = parser.parse_args()
    serve(Crm(Ledger(options.ledger, "crm")).respond, options.port)


if __name__ == "__main__":
    main()
