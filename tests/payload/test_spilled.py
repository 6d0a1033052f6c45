"""What a reference stands for is found in what is about to be stored, whole, and nothing else is taken for it."""

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
