"""What a reference stands for is found in what is about to be stored, whole, and nothing else is taken for it."""

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest

from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.spilled import Spill, referring

VALUE = "sk-live-unlikely-51c2"

SPILLS = [
    (VALUE, "result"),
    ({"a": [f"Bearer {VALUE}"]}, "result['a'][0]"),
    ({"a": {VALUE: 1}}, "result['a']"),
    (["c2stbGl2ZS11bmxpa2VseS01MWMy"], "result[0]"),
]


@pytest.mark.parametrize(("value", "place"), SPILLS)
def test_a_value_that_is_about_to_be_stored_is_told_by_its_reference(value, place):
    """Whatever form it is written in, and never with itself."""
    with pytest.raises(InvalidPayload) as error:
        Spill({VALUE: "env:STRIPE"}).require_none(value, "result", "return something else")

    assert error.value.path == place
    assert str(error.value).endswith("the value of the secret 'env:STRIPE' in it; return something else")
    assert VALUE not in str(error.value)


WEBHOOK = "https://hooks.slack.com/services/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"
TOKEN = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI0MiJ9.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
PEM = (
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIEaC6HQk1W2iQ4tK9yS5mTn0pL7xVbR3dJzGfU8cEhAo\n"
    "-----END PRIVATE KEY-----\n"
)
LONG = f"{WEBHOOK} \"quoted\" <&> 'é' \n{TOKEN}\n"


@pytest.mark.parametrize(
    ("secret", "value"),
    [
        (WEBHOOK, "see https://hooks.slack.com/help"),
        (WEBHOOK, "https://hooks.slack.com/services/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"),
        (TOKEN, "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI0MyJ9.Q2hyaXN0bWFzIGlzIG92ZXIsIGFuZCBzbyBpcyB0aGlz"),
        (PEM, PEM.replace("MC4CAQAw", "MC4CAQBx")),
        (PEM, "a key ends with -----END PRIVATE KEY-----"),
    ],
    ids=["help", "other webhook", "other token", "other key", "last line"],
)
def test_what_begins_or_ends_as_a_value_does_is_let_through(secret, value):
    """The same host, the same header: a text that is hidden for its looks is no reason to refuse it."""
    Spill({secret: "env:STRIPE"}).require_none([value, {value: value}], "result", "")


@pytest.mark.parametrize(
    "write",
    [
        str,
        str.strip,
        repr,
        json.dumps,
        lambda value: json.dumps(value, ensure_ascii=False),
        quote,
        lambda value: quote(value, safe=""),
        quote_plus,
        html.escape,
        lambda value: value.encode("unicode_escape").decode(),
        lambda value: base64.b64encode(value.encode()).decode(),
        lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
        lambda value: base64.b64encode(f"{value} and more".encode()).decode(),
        lambda value: base64.b64encode(value.strip().encode()).decode(),
        lambda value: base64.b64encode(f"{value.strip()}\r\n".encode()).decode(),
    ],
)
@pytest.mark.parametrize("secret", [WEBHOOK, TOKEN, PEM, LONG, "hunter2-€", "hunter2-2", "hunter2-é"])
def test_a_whole_value_is_found_in_every_form(secret, write):
    """As it is, stripped, and as repr, JSON, URLs, HTML and base64 write it."""
    with pytest.raises(InvalidPayload, match="has the value of the secret 'env:STRIPE' in it"):
        Spill({secret: "env:STRIPE"}).require_none(f"before {write(secret)} after", "result", "")


@pytest.mark.parametrize("value", ["test", "abc", "true", "12", "retest it", None, 7, {"a": [1.5, "x"]}])
def test_a_value_that_cannot_be_told_from_other_text_is_not_looked_for(value):
    """A key of a developer's machine may be `test`."""
    secrets = {"test": "env:A", "abc": "env:B", "true": "env:C", "12": "env:D", "est it": "env:E"}
    Spill(secrets).require_none(value, "result", "")


def test_a_request_counts_by_references():
    """Values are replaced, the longest first, so that a new one makes no other request."""
    before = referring([VALUE, f"Bearer {VALUE}x", {VALUE: 7}], {VALUE: "env:A", f"{VALUE}x": "env:B"})

    assert before == ["${env:A}", "Bearer ${env:B}", {"${env:A}": 7}]
    assert before == referring(
        ["2nd-key-", "Bearer 3rd-key-", {"2nd-key-": 7}], {"2nd-key-": "env:A", "3rd-key-": "env:B"}
    )


def test_a_request_that_was_stripped_counts_by_references():
    """A value that ends with a newline is passed on without; what is trivial counts where it is all of a text."""
    secrets = {"1st-key-\n": "env:A", " on\n": "env:B", " \n": "env:C"}

    assert referring(["1st-key-", "Bearer 1st-key-", "1st-key-\n"], secrets) == [
        "${env:A}",
        "Bearer ${env:A}",
        "${env:A}",
    ]
    assert referring(["on", " on\n", "once", "", " \n"], secrets) == ["${env:B}", "${env:B}", "once", "", "${env:C}"]
