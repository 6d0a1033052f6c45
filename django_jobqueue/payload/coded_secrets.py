"""Secrets that base64 hides: a private key, or JSON that names one, as Kubernetes and variables of CI carry them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from django_jobqueue.payload.assignments import assigned_secrets

# `-----BEGIN`, and `{"` or `[{"`: in base64 as at the start of a text. A JSON Web Token goes on after a dot.
_CODED = re.compile(
    r"(?<![A-Za-z0-9+/_.•-])(?:(LS0tLS1CRUdJTi)|eyJ|ewog|W3si)[A-Za-z0-9+/_-]{20,8000}+={0,2}+(?![.:•\w])"
)
_HEADS = ("LS0tLS1CRUdJTi", "eyJ", "ewog", "W3si")


def coded_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Yield where base64 stands that has a secret in it."""
    if not any(head in text for head in _HEADS):
        return
    for match in _CODED.finditer(text):
        decoded = _decoded(match.group())
        if "PRIVATE KEY" in decoded[:80] if match.group(1) else next(assigned_secrets(decoded), None) is not None:
            yield match.span()


def _decoded(word: str) -> str:
    bare = word.rstrip("=")
    try:
        return base64.b64decode(bare[: len(bare) // 4 * 4], altchars=b"-_" if {"-", "_"} & set(bare) else None).decode(
            "utf-8", "replace"
        )
    except (binascii.Error, ValueError):
        return ""
