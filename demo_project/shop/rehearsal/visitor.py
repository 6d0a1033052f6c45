"""A visitor of the site who needs no browser, and a program that calls its webhook."""

from __future__ import annotations

import json
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, ProxyHandler, Request, build_opener

from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

ANSWER_SECONDS = 20.0


class Visitor:
    """Somebody with a cookie jar. Every method raises HTTPError where the site refuses."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._cookies = CookieJar()
        self._opener = build_opener(ProxyHandler({}), HTTPCookieProcessor(self._cookies))
        self.get("/")  # the first page hands out the token that every form needs

    def get(self, path: str) -> str:
        """Read a page."""
        with self._opener.open(self.url + path, timeout=ANSWER_SECONDS) as response:
            text: str = response.read().decode()
            return text

    def send_form(self, path: str, fields: dict[str, Any]) -> None:
        """Fill in a form and send it."""
        body = urlencode(fields | {"csrfmiddlewaretoken": self._token()}).encode()
        self._post(path, body, "application/x-www-form-urlencoded")

    def upload(self, path: str, fields: dict[str, Any]) -> None:
        """Send a form with files in it: values that have a `name` and can be read."""
        fields = fields | {"csrfmiddlewaretoken": self._token()}
        self._post(path, encode_multipart(BOUNDARY, fields), MULTIPART_CONTENT)

    def call_hook(self, document: dict[str, Any], *, secret: str) -> int:
        """Deliver a webhook, as another program would. Answers the status."""
        request = Request(  # noqa: S310 - the address of a child of this process
            f"{self.url}/hooks/leads/",
            data=json.dumps(document).encode(),
            headers={"Content-Type": "application/json", "X-Shop-Secret": secret},
        )
        with build_opener(ProxyHandler({})).open(request, timeout=ANSWER_SECONDS) as response:
            return int(response.status)

    def _post(self, path: str, body: bytes, content_type: str) -> None:
        request = Request(self.url + path, body, {"Content-Type": content_type})  # noqa: S310
        with self._opener.open(request, timeout=ANSWER_SECONDS) as response:
            response.read()

    def _token(self) -> str:
        return next(cookie.value or "" for cookie in self._cookies if cookie.name == "csrftoken")
