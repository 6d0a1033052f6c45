"""What is shown has no secret in it, and is otherwise what it was."""

import copy
import datetime
import decimal
import json
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_jobqueue.payload.masking import MASK, masked, masked_arguments, masked_text
from django_jobqueue.payload.secret_shapes import findings
from tests.payload import secret_corpus
from tests.payload.dice import DRAWN
from tests.payload.test_secret_shapes import CORPORA, corpus

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


def test_what_stood_beside_a_secret_is_looked_at_again():
    """When one secret is gone, what was a part of its word may be another's name."""
    token = "pu" + "l-" + "a1b2" * 10

    assert masked(f"{token}login anna password hunter2") == f"{MASK}login anna password {MASK}"


def test_bytes_are_hidden_whole():
    """Half a byte string is of no use to a reader."""
    assert masked(b"push gh" + b"p_" + b"a1B2" * 9) == MASK


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


@pytest.mark.parametrize("name", CORPORA)
def test_nothing_is_found_in_what_is_shown(name):
    """Of every secret of a corpus that is found nothing is left to find, in the copy or in its JSON."""
    shown = [masked(value) for _, value in corpus(name).SECRETS]

    assert not [value for value in shown if findings(value) or findings(json.dumps(value, ensure_ascii=False))]
