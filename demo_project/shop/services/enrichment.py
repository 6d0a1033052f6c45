"""The directory of companies: knows a few by name, and makes up the rest, always the same way."""

from __future__ import annotations

import argparse
import zlib
from typing import Any
from urllib.parse import unquote

from demo_project.shop.services.web import Reply, serve

INDUSTRIES = ("hotels", "law", "dentistry", "software", "publishing", "architecture")


def respond(method: str, path: str, document: dict[str, Any], key: str) -> Reply:
    """Answer GET /companies/<name>. A name with "unlisted" in it is not in the directory."""
    prefix, _, name = path.partition("/companies/")
    if method != "GET" or prefix or not name:
        return 404, {"error": "GET /companies/<name> is all there is"}
    name = unquote(name)
    if "unlisted" in name.lower():
        return 404, {"error": "not listed"}
    number = zlib.crc32(name.lower().encode())
    return 200, {
        "name": name,
        "industry": INDUSTRIES[number % len(INDUSTRIES)],
        "employees": 3 + number % 400,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    serve(respond, parser.parse_args().port)


if __name__ == "__main__":
    main()
