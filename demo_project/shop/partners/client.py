"""JSON over HTTP with the standard library, bounded in time and size."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from django.conf import settings

MAX_ANSWER_BYTES = 64 * 1024

# The partners listen on loopback; a proxy of the environment could not reach them.
_opener = build_opener(ProxyHandler({}))


class PartnerUnavailable(Exception):
    """A partner answered that it cannot answer (5xx). It may be able to later."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a partner said: the HTTP status and its JSON."""

    status: int
    body: dict[str, Any]


def get(url: str) -> Answer:
    """Ask for a document. Raises as `_exchange` does."""
    return _exchange(Request(url))  # noqa: S310 - the address comes from settings


def post(url: str, document: dict[str, Any], *, idempotency_key: str) -> Answer:
    """Send a document under a key that makes a repetition harmless. Raises as `_exchange` does."""
    return _exchange(
        Request(  # noqa: S310 - the address comes from settings
            url,
            data=json.dumps(document).encode(),
            headers={"Content-Type": "application/json", "Idempotency-Key": idempotency_key},
        )
    )


def _exchange(request: Request) -> Answer:
    """Exchange one request for one answer; 4xx is an answer.

    Raises PartnerUnavailable for 5xx, TimeoutError or URLError where there is no answer in time.
    """
    try:
        with _opener.open(request, timeout=settings.SHOP_REQUEST_SECONDS) as response:
            return Answer(response.status, json.loads(response.read(MAX_ANSWER_BYTES)))
    except HTTPError as error:
        with error:
            if error.code >= 500:
                # Without its cause: a traceback should name the partner's answer, not this client.
                raise PartnerUnavailable(f"{request.host} answered {error.code}") from None
            return Answer(error.code, json.loads(error.read(MAX_ANSWER_BYTES)))
