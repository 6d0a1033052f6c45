"""What is shown has no secret in it, and is otherwise what it was."""

import base64
import copy
import datetime
import decimal
import html
import json
import pickle
import time
import uuid
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_jobqueue.payload.known_secrets import KnownSecrets
from django_jobqueue.payload.masking import MASK, literal_values, masked, masked_arguments, masked_text
from django_jobqueue.payload.secret_shapes import findings
from tests.payload import secret_corpus
from tests.payload.dice import DRAWN
from tests.payload.test_secret_shapes import ODD, UNITS

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=15,
)
PLACES = st.lists(st.text(max_size=5) | st.integers(0, 3), max_size=6)
TOKENS = st.sampled_from([secret_corpus.token_of(name) for name in secret_corpus.TOKENS])
# What a token is put together with: texts in which its shape may be read another way.
PIECES = st.lists(
    st.text(max_size=4)
    | TOKENS
    | st.sampled_from(["password=", "token: ", "•", MASK, "://a:", "Bearer ", "\\n", " ", "=", "@"]),
    max_size=6,
).map("".join)


def buried(value, place):
    """Put a value into dicts and lists."""
    for step in reversed(place):
        value = {step: value} if isinstance(step, str) else [None] * step + [value]
    return value


@given(place=PLACES, value=VALUES, secret=st.text(min_size=4))
def test_sensitive_value_is_nowhere_in_the_copy(place, value, secret):
    """Whatever stands under a sensitive name, at any depth, is hidden whole."""
    shown = masked(buried({"iban": [value, secret]}, place), sensitive=["iban"])

    assert shown == buried({"iban": MASK}, place)


@given(value=VALUES)
def test_masking_twice_is_masking_once(value):
    """What is masked has nothing to mask."""
    once = masked(value)

    assert masked(once) == once


@given(text=PIECES)
def test_masked_text_has_nothing_left_to_mask(text):
    """Nor has text, however its tokens stand together; and the guard finds nothing in it."""
    once = masked(text)

    assert masked(once) == once
    assert masked_text(masked_text(text)) == masked_text(text)
    assert not findings(once)


@given(value=VALUES)
def test_what_is_found_is_what_is_masked(value):
    """A value without findings is shown as it is; one with findings is not."""
    assert (masked(value) != value) == bool(findings(value))


@pytest.mark.parametrize("value", secret_corpus.PLAIN[::12], ids=str)
def test_plain_payload_is_shown_as_it_is(value):
    """Masking alters nothing but secrets, and keeps the types."""
    shown = masked(value)

    assert shown == value
    assert repr(shown) == repr(value)


# Random words without a form: in text, where ids are too, only a name betrays them.
WORDS_OF_TEXT = ("https://", "postgres://", "redis://", "dbname=")
OF_CHANCE = {"AWS secret access key", "Fernet key", "random base62", "random base36"}


@pytest.mark.parametrize("name", secret_corpus.TOKENS)
def test_no_token_is_in_what_is_shown(name):
    """A planted token is in no part of the copy, of its JSON or of a text."""
    DRAWN.clear()
    token = secret_corpus.token_of(name)
    parts = [part for part in (*DRAWN, token.split()[-1]) if len(part) >= 9 and not part.startswith(WORDS_OF_TEXT)]
    value = {"a": [{"note": f"x {token} y", token: 1}, token], "text": f'{{"sent": {json.dumps(token)}}}'}

    shown = json.dumps(masked(value), ensure_ascii=False)
    if name not in OF_CHANCE:
        shown += masked_text(f"Failed with {token}: try again")

    assert parts
    assert not [part for part in parts if part in shown]


def test_sentence_around_a_token_is_shown():
    """Of text only the secret is hidden."""
    token = "gh" + "p_" + "a1B2" * 9

    assert masked(f"push with {token} failed") == f"push with {MASK} failed"
    assert masked("postgres://app:s3cr!t@db/x") == f"postgres://app:{MASK}@db/x"
    assert masked("host=db password=hunter2 dbname=x") == f"host=db password={MASK} dbname=x"


def test_stored_value_is_never_altered():
    """Masking makes a copy; what it was given stays as it was."""
    value = {"password": "hunter2", "list": [{"token": "9f8e7d6c5b4a"}]}
    before = copy.deepcopy(value)

    shown = masked(value)

    assert value == before
    assert shown == {"password": MASK, "list": [{"token": MASK}]}


def test_keys_that_are_secrets_are_masked_and_kept_apart():
    """Of two tokens as keys both values are still shown."""
    first, second = ("gh" + "p_" + letters * 9 for letters in ("a1B2", "c3D4"))

    shown = masked({first: 1, second: 2})

    assert sorted(shown.values()) == [1, 2]
    assert all(set(key) == {"•"} for key in shown)
    assert masked(shown) == shown


def test_argument_by_position_has_its_name():
    """Arguments are masked by the names of their parameters; more arguments than names are no error."""
    args, kwargs = masked_arguments([5, "hunter2", "x"], {"iban": 7}, positional=("id", "password"), sensitive=["iban"])

    assert (args, kwargs) == ([5, MASK, "x"], {"iban": MASK})


def test_value_has_the_name_that_stands_beside_it():
    """Of a pair the value is masked, where the name is a secret's or declared sensitive."""
    pairs = [
        {"name": "X-Api-Key", "value": "9f8e7d6c5b4a"},
        {"key": "iban", "value": 5},
        {"name": "Colour", "value": "red"},
    ]

    assert [pair["value"] for pair in masked(pairs, sensitive=["iban"])] == [MASK, MASK, "red"]


def test_moments_and_numbers_are_shown_and_objects_are_not_asked():
    """What a class of somebody else's would say of itself may be the secret."""
    plain = [1.5, decimal.Decimal("2.5"), datetime.date(2026, 11, 30), uuid.UUID(int=7), b"abc", {"x"}]

    assert masked(plain) == plain
    assert masked([object()]) == ["<object>"]


@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
def test_odd_value_is_no_error(value):
    """Whatever it is given, masking ends and raises nothing."""
    masked(value, sensitive=["a"])
    literal_values({"a": value}, ["a"])


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
    shown = masked_text(f"before {FORMS[form]} after", values=literal_values({"a": [SECRET]}, ["a"]))

    assert shown.startswith("before ")
    assert "xyz" not in shown
    assert FORMS[form].strip("'\"")[:20] not in shown


@given(text=st.text(), secret=st.text(st.characters(codec="utf-8"), min_size=9), after=st.text())
def test_value_of_a_sensitive_argument_is_in_no_text(text, secret, after):
    """A value of nine characters or more is found wherever it stands."""
    shown = masked_text(f"{text}{secret}{after}", values=literal_values({"a": secret}, ["a"]))

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


def test_trivial_values_are_left_in_text():
    """Text could not be read without `true`, small numbers and parts of words; short values count as words."""
    values = {"true", "None", "42", "9999", "abc", "anna", ""}

    shown = masked_text("None of 42 is true: abc, 9999, Savannah, Hanna, anna", values=values)

    assert shown == f"None of 42 is true: abc, 9999, Savannah, Hanna, {MASK}"


def test_numbers_under_a_sensitive_name_are_hidden_in_text():
    """A number of five digits is enough of a name for somebody."""
    values = literal_values(
        {"customer": {"id": 4711_0815, "born": datetime.date(1970, 1, 31)}, "x": 12345678}, ["customer"]
    )

    assert masked_text("no row 47110815 of 1970-01-31, 12345678", values=values) == f"no row {MASK} of {MASK}, 12345678"


def test_text_with_too_much_to_hide_is_hidden():
    """More values than can be searched for are not a reason to show some."""
    assert masked_text("hello", values=[f"value {number}" for number in range(1001)]) == MASK


def test_traceback_stays_readable():
    """Ids, paths and code of a traceback are shown."""
    text = (
        "Traceback (most recent call last):\n"
        '  File "/srv/app/billing.py", line 17, in charge\n'
        "    raise Refused(password=password, token=self.token)\n"
        "app.billing.Refused: job 3c1f9b52-7b1e-4a6e-9f39-3a8f0f4f7f10 of q7Xk2mP9vL4tR8wZ1nB6\n"
    )

    assert masked_text(text) == text


def test_endless_text_is_cut():
    """Of more than a million characters the rest is cut, with a mark, and no secret in two."""
    token = "gh" + "p_" + "a1B2" * 9
    text = "x " * 499_990 + token + " x" * 500_000

    shown = masked_text(text)

    assert len(shown) < 1_000_100
    assert "characters cut" in shown
    assert token[:12] not in shown


@pytest.mark.parametrize("unit", UNITS[::3])
def test_hostile_text_costs_its_length(unit):
    """Of twice the text masking takes about twice the time, not four times."""

    def seconds(length):
        text = unit * (length // len(unit))
        values = [unit * 60, "abcdefghij" * 6]
        start = time.process_time()
        masked_text(text, values=values)
        return time.process_time() - start

    # In the square of the length it would take sixteen times as long.
    assert min(seconds(400_000) for _ in range(2)) < 9 * min(seconds(100_000) for _ in range(2)) + 0.02


SETTINGS = {
    "SECRET_KEY": "django-insecure-9f8e7d6c5b4a&x",
    "STRIPE_KEYS": {"live": "lv-9f8e7d6c5b4a3210"},
    "DATABASES": {
        "default": {"ENGINE": "django.db.backends.postgresql", "PASSWORD": "tr0ub4dor&3", "HOST": "localhost"}
    },
    "CACHES": {"default": {"LOCATION": "redis://:r3disP4ss%21@cache:6379/0"}},
    "SECRET_KEY_FALLBACKS": ["old-key-1234567890"],
    "API_TOKEN": "default",
    "OTHER_PASSWORD": "postgres",
    "DEBUG": True,
}
KNOWN = KnownSecrets(SETTINGS)


@pytest.mark.parametrize(
    "secret",
    [
        "django-insecure-9f8e7d6c5b4a&x",
        "lv-9f8e7d6c5b4a3210",
        "tr0ub4dor&3",
        "r3disP4ss%21",
        "r3disP4ss!",
        "old-key-1234567890",
    ],
)
def test_value_of_a_setting_is_found_inside_text(secret):
    """What the settings hold is a secret by equality, inside of text, and in a URL's or JSON's form."""
    assert findings({"note": secret}, known=KNOWN)[0].why.startswith("the value of settings.")
    for form in (secret, quote(secret, safe=""), json.dumps(secret)):
        assert secret not in masked({"note": f"it is {form}!"}, known=KNOWN)["note"]
        assert form.strip('"') not in masked_text(f"it is {form}!", known=KNOWN)


@pytest.mark.parametrize(
    "text", ["default", "localhost", "postgres", "django.db.backends.postgresql", "True", "redis", "shop4-production2"]
)
def test_plain_setting_is_no_secret(text):
    """Words that are settings are words all the same."""
    assert not findings({"note": f"{text}, {text}"}, known=KNOWN)


def test_known_secrets_tell_nothing():
    """Neither repr nor pickle has a value in it."""
    assert repr(KNOWN).startswith("<KnownSecrets: ")
    assert not any(secret in repr(KNOWN) for secret in ("9f8e7d6c", "tr0ub4dor", "r3dis", "old-key"))
    with pytest.raises(TypeError):
        pickle.dumps(KNOWN)


def test_no_settings_are_no_secrets():
    """An empty guard is false, and finds nothing."""
    assert not KnownSecrets({})
    assert masked("x" * 30, known=KnownSecrets({"A": None, "B": {"c": [1]}})) == "x" * 30
