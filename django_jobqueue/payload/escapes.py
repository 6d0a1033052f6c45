"""A text as it stands inside of others that are written with escapes: by Python, as bytes, or as JSON.

Errors quote errors: the message of a KeyError is the repr of its text, and a body that was JSON is quoted as bytes. So
each way is taken twice. A text without quotes, backslashes, slashes and letters beyond ASCII is the same in all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator


def escaped_forms(value: str) -> list[str]:
    """Write a value as it stands in another text, and in one that is quoted by a third."""
    once = list(dict.fromkeys(_ways(value)))
    return list(dict.fromkeys([*once, *(form for written in once if written != value for form in _ways(written))]))


def _ways(text: str) -> Iterator[str]:
    for write in (_as_python, _as_ascii, _as_bytes):
        yield write(text)
        # In double quotes, where only an apostrophe calls for them.
        yield "'".join(map(write, text.split("'")))
    for written in (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
        yield written
        # As PHP and others write it.
        yield written.replace("/", "\\/")


# Beside both kinds of quotes, which come last and are cut off: then Python escapes the apostrophe.


def _as_python(text: str) -> str:
    return repr(f"{text}'\"")[1:-4]


def _as_ascii(text: str) -> str:
    return ascii(f"{text}'\"")[1:-4]


def _as_bytes(text: str) -> str:
    return repr(text.encode("utf-8", "surrogatepass") + b"'\"")[2:-4]
