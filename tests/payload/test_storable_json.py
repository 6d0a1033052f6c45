"""Arguments and results as JSON: equal and of the same type when they come back, or refused."""

import datetime
import decimal
import enum
import io
import json
import math
import uuid
from collections import Counter, OrderedDict, deque, namedtuple

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.http import HttpRequest
from django.utils.safestring import mark_safe
from hypothesis import given
from hypothesis import strategies as st

from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.models import Job
from django_jobqueue.payload import storable_json
from tests.payload import shapes

ROOM = 256 * 1024

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None, exclude_categories=()))
    | st.binary(max_size=4)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.sets(st.integers(), max_size=2)
    ),
    max_leaves=20,
)


class Colour(enum.StrEnum):
    RED = "red"


class Size(enum.IntEnum):
    SMALL = 1


class Named(str):
    pass


Point = namedtuple("Point", "x y")


def identical(left, right):
    """Say whether two values are equal, and of the same types throughout but for tuples."""
    if isinstance(left, tuple):
        left = list(left)
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(identical, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(identical(left[k], right[k]) for k in left)
    if isinstance(left, float):
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    return left == right


def dumps(value, max_bytes=ROOM):
    """Write with plenty of room."""
    return storable_json.dumps(value, "args", max_bytes=max_bytes)


@given(VALUES)
def test_a_value_comes_back_or_is_refused(value):
    """There is no value that changes on the way through JSON."""
    try:
        text = dumps(value)
    except InvalidPayload:
        return

    assert identical(value, storable_json.loads(text))
    assert "\\u0000" not in text


@pytest.mark.django_db
@pytest.mark.parametrize(
    "value",
    [
        2**70,
        -(10**4299),
        0.1,
        -0.0,
        [0.0, -0.0],
        5e-324,
        1e16,
        -1e16,
        1e22,
        1.5e300,
        1.7976931348623157e308,
        123456789012345680.0,
        "",
        {"": ""},
        "naïve 😀 \x7f \u2028",
        '"\\"\\n\t\x01',
        {"nested": [{"price": 1e25, "name": "Ünicode"}, (1, 2)]},
        True,
        None,
        [],
    ],
    ids=repr,
)
def test_a_value_comes_back_from_postgresql(value):
    """What is written comes out of a jsonb column with the same value and type."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::jsonb::text", [dumps(value)])
        (text,) = cursor.fetchone()

    assert identical(value, storable_json.loads(text))


@pytest.mark.django_db
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_comes_back_from_postgresql(value):
    """No float becomes an integer, loses its sign or a digit in a jsonb column."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::jsonb::text", [dumps([value])])
        (text,) = cursor.fetchone()

    assert identical([value], storable_json.loads(text))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (datetime.date(2026, 1, 1), "is a date, which JSON cannot hold; return value.isoformat()"),
        (uuid.UUID(int=1), "is a UUID, which JSON cannot hold; return str(value)"),
        (b"bytes", "is bytes, which JSON cannot hold; return text, or base64 of it"),
        (shapes.Line("a", decimal.Decimal(1)), "is a Line; return a dict"),
        (Colour.RED, "is Colour.RED, which would arrive as less; return its .value"),
        (Job(), "is a Job model instance; return its pk"),
        (io.BytesIO(b"x"), "is a BytesIO, a file; store it, and return its name or id"),
        (float("nan"), "is nan, which JSON does not know; return None, or text"),
        ("x" * 2000, "2002 bytes as JSON, at most 1024 are allowed; return a reference, such as an id"),
    ],
)
def test_a_result_is_told_what_helps_a_result(value, words):
    """Results have no hints: the advice is what to return instead."""
    with pytest.raises(InvalidPayload) as refused:
        storable_json.dumps(value, "result", max_bytes=1024)

    assert str(refused.value) == f"result: {words}"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), "value.isoformat"),
        (datetime.date(2026, 1, 1), "value.isoformat"),
        (datetime.timedelta(1), "total_seconds"),
        (decimal.Decimal("1.10"), r"str\(value\)"),
        (uuid.UUID(int=1), r"str\(value\)"),
        ({1, 2}, r"sorted\(value\)"),
        (frozenset(), r"sorted\(value\)"),
        (b"bytes", "base64"),
        (bytearray(b"bytes"), "base64"),
        (Job(), "its pk"),
        (HttpRequest(), "HttpRequest"),
        (lambda: 0, "function"),
        (object(), "object"),
        (io.BytesIO(b"x"), "a file; store it, and pass its name"),
        (ContentFile(b"x"), "a file; store it, and pass its name"),
        (shapes.Line("a", decimal.Decimal(1)), "Line; name the type in the task's hint"),
        (shapes.Address(street="a", since=datetime.date(2026, 1, 1)), "Address; name the type in the task's hint"),
        (range(3), "range"),
        (iter([]), "iterator"),
        (1j, "complex"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (float("-inf"), "-inf"),
        (1e308 * 10, "inf"),
        ("a\x00b", "NUL"),
        ("\ud800", "lone surrogate"),
        ({1: "a"}, "key 1"),
        ({None: "a"}, "key None"),
        ({True: "a"}, "key True"),
        ({("a",): "a"}, "key"),
        ({"a\x00b": 1}, "key that contains a NUL"),
        ({"\udfff": 1}, "key that contains a lone surrogate"),
        (10**4300, "4300 digits"),
        (Colour.RED, "its .value"),
        (Size.SMALL, "its .value"),
        ({Colour.RED: 1}, "key"),
        (Named("a"), "plain str"),
        (mark_safe("<b>"), "plain str"),
        (OrderedDict(a=1), "plain dict"),
        (Counter("a"), "plain dict"),
        (Point(1, 2), "plain tuple"),
        (deque([1]), "deque"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_would_change_is_refused(value, words):
    """A value that JSON or PostgreSQL would change is refused, with what to pass instead."""
    with pytest.raises(InvalidPayload, match=words):
        dumps(value)


@pytest.mark.parametrize(
    ("args", "kwargs", "path"),
    [
        ([{1}], {}, "args[0]"),
        ([1, {"lines": [1, 2, {"price": decimal.Decimal(1)}]}], {}, "args[1]['lines'][2]['price']"),
        ([], {"when": datetime.date.max}, "kwargs['when']"),
        ([], {"rows": ([{"a": b""}],)}, "kwargs['rows'][0][0]['a']"),
        ([{"a": {2: 3}}], {}, "args[0]['a']"),
    ],
)
def test_a_refusal_names_the_place(args, kwargs, path):
    """The error says which of the arguments is at fault, however deep it lies."""
    with pytest.raises(InvalidPayload) as refused:
        storable_json.arguments(args, kwargs, max_bytes=ROOM)

    assert refused.value.path == path
    assert str(refused.value).startswith(f"{path}: ")


def test_a_refusal_is_what_json_and_django_raise():
    """Code that catches TypeError, as from Django's backends, or json's ValueError, catches it."""
    with pytest.raises(TypeError):
        dumps({1})
    with pytest.raises(ValueError, match="nan"):
        dumps(float("nan"))


def test_depth_is_bounded():
    """A hundred levels are stored; one more is refused, and so is a list that holds itself."""
    value = []
    for _ in range(99):
        value = [value]
    endless = []
    endless.append(endless)

    assert storable_json.loads(dumps(value)) == value
    for deep in ([value], endless, {"a": endless}):
        with pytest.raises(InvalidPayload, match="100 levels"):
            dumps(deep)


def test_an_argument_may_be_a_hundred_levels_deep():
    """The list and the dict that hold the arguments are no levels of theirs."""
    value = []
    for _ in range(99):
        value = [value]

    assert json.loads(storable_json.arguments([value], {}, max_bytes=ROOM)[0]) == [value]
    assert json.loads(storable_json.arguments([], {"a": value}, max_bytes=ROOM)[1]) == {"a": value}
    with pytest.raises(InvalidPayload, match="100 levels"):
        storable_json.arguments([[value]], {}, max_bytes=ROOM)


def test_a_value_that_grows_when_written_is_refused_soon():
    """A small object that would be endless as text is refused without being written."""
    bomb = []
    for _ in range(90):
        bomb = [bomb, bomb]

    with pytest.raises(InvalidPayload, match="larger than allowed"):
        dumps(bomb)


def test_size_counts_bytes():
    """The limit is in bytes of UTF-8, and the error has both figures."""
    assert len(dumps("é" * 49, 100).encode()) == 100

    with pytest.raises(InvalidPayload, match="102 bytes as JSON, at most 100"):
        dumps("é" * 50, 100)


def test_arguments_share_one_limit():
    """Positional and keyword arguments are measured together."""
    storable_json.arguments(["x" * 40], {"a": "x" * 40}, max_bytes=100)

    with pytest.raises(InvalidPayload, match="args and kwargs: 112 bytes"):
        storable_json.arguments(["x" * 50], {"a": "x" * 50}, max_bytes=100)


def test_fifty_megabytes_are_refused():
    """A text of 50 MB is refused by its size."""
    with pytest.raises(InvalidPayload, match="at most"):
        dumps("é" * 25_000_000)


def test_text_is_valid_json():
    """What is written is JSON for every reader, not only for this module."""
    value = {"a": [1e300, "é"], "b": None}

    assert json.loads(dumps(value)) == value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (object(), "args is an object, which JSON cannot hold"),
        (b"", "args is bytes, which JSON cannot hold"),
        ({1}, "args is a set, which JSON cannot hold"),
        (OrderedDict(), "args is an OrderedDict, which would arrive as a plain dict; pass a dict"),
        (type("Count", (int,), {})(), "args is a Count, which would arrive as a plain int; pass an int"),
    ],
    ids=["object", "bytes", "set", "OrderedDict", "subclass"],
)
def test_a_refusal_is_a_sentence(value, words):
    """The kind of a value has the article that it is spoken with."""
    with pytest.raises(InvalidPayload) as refusal:
        dumps(value)

    assert words in str(refusal.value).replace(":", "")
