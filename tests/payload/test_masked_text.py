"""Errors and tracebacks without the values of sensitive arguments, and still to be read."""

import base64
import datetime
import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_jobqueue.payload.masking import MASK, literal_values, masked_text
from django_jobqueue.payload.secret_shapes import findings
from tests.payload.test_masking import VALUES

SECRET = 'p"ä/s s&w\n<1>xyz'


FORMS = {
    "as it is": SECRET,
    "repr": repr(SECRET),
    "JSON": json.dumps(SECRET),
    "JSON in UTF-8": json.dumps(SECRET, ensure_ascii=False),
    "URL": quote(SECRET),
    "URL part": quote(SECRET, safe=""),
    "HTML": html.escape(SECRET),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64 of more": base64.b64encode(SECRET.encode() + b" and more").decode()[:28],
}


@pytest.mark.parametrize("form", FORMS)
def test_value_is_hidden_in_every_form(form):
    """Messages quote values as repr, JSON, URLs, HTML and base64 do."""
    shown = masked_text(f"before {FORMS[form]} after", values=literal_values({"a": [SECRET]}, sensitive=["a"]))

    assert shown.startswith("before ")
    assert "xyz" not in shown
    assert FORMS[form].strip("'\"")[:20] not in shown


@given(text=st.text(), secret=st.text(st.characters(codec="utf-8"), min_size=9), after=st.text())
def test_value_of_a_sensitive_argument_is_in_no_text(text, secret, after):
    """A value of nine characters or more is found wherever it stands."""
    shown = masked_text(f"{text}{secret}{after}", values=literal_values({"a": secret}, sensitive=["a"]))

    assert (
        secret not in shown or secret.strip().lower() == "undefined" or set(secret) <= set(" •*\n") or is_small(secret)
    )


def is_small(secret):
    text = secret.strip()
    try:
        return abs(float(text)) < 10_000
    except ValueError:
        return len(text) < 4


def test_half_of_a_long_value_is_hidden():
    """Of a value that was cut the beginning and the end are found."""
    letter = "Dear Anna, the results of your examination of 3 May have come in: "
    values = [letter * 3]

    assert masked_text(f"bad: '{letter[:50]}…'", values=values) == f"bad: '{MASK}…'"
    assert masked_text(f"bad: '…{letter[-50:]}'", values=values) == f"bad: '…{MASK}'"


def test_lines_of_a_value_are_hidden_one_by_one():
    """A group of exceptions is printed with a bar before each line."""
    shown = masked_text("  | first line here\n  | second line here\n", values=["first line here\nsecond line here"])

    assert shown == f"  | {MASK}\n  | {MASK}\n"


@pytest.mark.parametrize("value", [" hunter2hunter2\t", "hunter2hunter2\n", "\r\nhunter2hunter2"])
@pytest.mark.parametrize("write", [str, repr, lambda value: base64.b64encode(value.encode()).decode()])
def test_a_value_that_was_stripped_is_hidden(value, write):
    """Files and vaults end a value with a newline, and the task has stripped it."""
    assert masked_text(f"no login with {write(value.strip())}", values=[value]).startswith("no login with ")
    assert MASK in masked_text(f"no login with {write(value.strip())}", values=[value])
    assert MASK in masked_text(f"no login with {write(value)}", values=[value])


def test_lines_that_were_stripped_are_hidden():
    """Of a value that is indented as a whole, as in a file of YAML."""
    shown = masked_text("first line here / second line here", values=["    first line here\n    second line here\n"])

    assert shown == f"{MASK} / {MASK}"


def test_a_short_value_that_was_stripped_counts_as_a_word():
    """The space around it makes it no longer."""
    assert masked_text("Savannah and anna", values=["  anna  \n"]) == f"Savannah and {MASK}"


def test_trivial_values_are_left_in_text():
    """Text could not be read without `true`, small numbers and parts of words; short values count as words."""
    values = {"true", "None", "42", "9999", "abc", "anna", ""}

    shown = masked_text("None of 42 is true: abc, 9999, Savannah, Hanna, anna", values=values)

    assert shown == f"None of 42 is true: abc, 9999, Savannah, Hanna, {MASK}"


def test_numbers_under_a_sensitive_name_are_hidden_in_text():
    """A number of five digits is enough of a name for somebody."""
    values = literal_values(
        {"customer": {"id": 4711_0815, "born": datetime.date(1970, 1, 31)}, "x": 12345678},
        sensitive=["customer"],
    )

    assert masked_text("no row 47110815 of 1970-01-31, 12345678", values=values) == f"no row {MASK} of {MASK}, 12345678"


def test_names_of_fields_are_left_in_text():
    """Of what stands under a sensitive name the keys are hidden if they are data, not if they are names."""
    values = literal_values({"scores": {"email": "anna@example.com", "Anna Muster": 5}}, sensitive=["scores"])

    assert masked_text("no email for Anna Muster", values=values) == f"no email for {MASK}"


def test_what_looks_like_a_secret_is_hidden_in_text_too():
    """An error quotes an argument without its name: what masking found in the arguments it hides there as well."""
    values = literal_values(
        {
            "password": "swordfish",
            "headers": [{"name": "X-Api-Key", "value": "9f8e7d6c5b4a"}],
            "note": "q7Xk2mP9vL4tR8wZ1nB6c3Y5dF0gH2jK x",
        }
    )

    shown = masked_text("ValueError: swordfish, 9f8e7d6c5b4a, q7Xk2mP9vL4tR8wZ1nB6c3Y5dF0gH2jK, x", values=values)

    assert shown == f"ValueError: {MASK}, {MASK}, {MASK}, x"


@given(value=VALUES)
def test_plain_arguments_have_nothing_to_hide(value):
    """There are values to hide if and only if there are findings."""
    assert bool(literal_values(value)) == bool(findings(value))


def test_text_with_too_much_to_hide_is_hidden():
    """More values than can be searched for are not a reason to show some."""
    assert masked_text("hello", values=[f"value {number}" for number in range(1001)]) == MASK


def test_traceback_stays_readable():
    """Ids, paths and code of a traceback are shown."""
    text = (
        "Traceback (most recent call last):\n"
        '  File "/srv/app/billing.py", line 17, in charge\n'
        "    raise Refused(password=password, token=self.token)\n"
        "app.billing.Refused: job 3c1f9b52-7b1e-4a6e-9f39-3a8f0f4f7f10 of q7Xk2mP9vL4tR8wZ1nB6c3Y5dF0gH2jK\n"
    )

    assert masked_text(text) == text
