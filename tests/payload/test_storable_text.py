"""The words of a failure: storable and short, whatever was raised."""

import sys
import time
import tracemalloc

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from django_jobqueue.payload.storable_text import (
    MAX_MESSAGE_CHARS,
    MAX_TRACEBACK_CHARS,
    class_path,
    describe,
    storable,
)
from django_jobqueue.policy.fingerprint import fingerprint

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


class UnprintableError(Exception):
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


class QuitterError(Exception):
    def __str__(self):
        raise SystemExit(3)


class FacelessError(Exception):
    @property
    def __class__(self):
        raise RuntimeError("no class")


class RootlessError(Exception):
    @property
    def __cause__(self):
        raise RuntimeError("no cause")

    @property
    def __notes__(self):
        raise RuntimeError("no notes")

    @property
    def __traceback__(self):
        raise RuntimeError("no traceback")


class NumberedError(Exception):
    __module__ = 5


class Braggart(str):
    def __len__(self):
        return 1

    def __contains__(self, item):
        return False


def raised(exception):
    """Return an exception that was raised, and so has a traceback."""
    try:
        raise exception
    except BaseException as error:
        return error


def recurse(depth):
    """Call itself until there is no room."""
    return recurse(depth + 1)


@given(ANY_TEXT, st.integers(60, 200))
def test_any_text_can_be_stored(text, max_chars):
    """The text is valid UTF-8 without NUL, and never longer than asked."""
    stored = storable(text, max_chars)

    assert len(stored) <= max_chars
    assert "\0" not in stored
    stored.encode()


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60))
def test_text_that_fits_is_kept(text):
    """Nothing is changed that PostgreSQL can hold and that is short enough."""
    assert storable(text, 60) == text


def test_long_text_keeps_head_and_tail():
    """What is cut is the middle, and the text says how much."""
    stored = storable("head" + "x" * 10_000 + "tail", 200)

    assert stored.startswith("head")
    assert stored.endswith("tail")
    assert len(stored) <= 200
    cut = int(stored.split("… ")[1].split(" ")[0])
    assert cut + stored.count("x") == 10_000


def test_a_text_that_lies_about_its_length_is_cut():
    """A subclass of str has no say in how it is stored."""
    assert len(storable(Braggart("x\0" * 500), 100)) <= 100


@pytest.mark.django_db
def test_postgresql_takes_it():
    """The worst text there is goes into a column."""
    text = storable("".join(map(chr, range(0xD7F0, 0xE010))) + "\0", 5000)

    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::text", [text])
        assert cursor.fetchone() == (text,)


def test_an_ordinary_exception_reads_as_in_python():
    """Class, message and traceback are those a developer knows."""
    failure = describe(raised(ValueError("no such invoice")))

    assert failure.exception_class == "builtins.ValueError"
    assert failure.message == "no such invoice"
    assert failure.traceback.startswith("Traceback (most recent call last):\n  File ")
    assert ", in raised\n    raise exception\n" in failure.traceback
    assert failure.traceback.endswith("ValueError: no such invoice\n")


def test_causes_and_contexts_come_first():
    """The story is told from its beginning, as Python prints it."""
    try:
        try:
            raised_first = KeyError("first")
            raise raised_first
        except KeyError as error:
            raise ValueError("second") from error
    except ValueError as error:
        text = describe(error).traceback

    assert text.index("KeyError: 'first'") < text.index("direct cause")
    assert text.index("direct cause") < text.index("ValueError: second")


def test_a_hidden_context_stays_hidden():
    """`raise … from None` is respected."""
    try:
        try:
            raise KeyError("password")
        except KeyError:
            raise ValueError("no entry") from None
    except ValueError as error:
        text = describe(error).traceback

    assert "password" not in text


def test_notes_are_told():
    """Notes that were added to an exception are part of its story."""
    error = ValueError("no")
    error.add_note("while charging invoice 7")

    assert "while charging invoice 7" in describe(error).traceback


def test_members_of_a_group_are_told():
    """An exception group shows what it holds, up to a few of them."""
    group = ExceptionGroup("many", [ValueError(n) for n in range(9)])
    text = describe(raised(group)).traceback

    assert "  | ValueError: 0\n" in text
    assert "4 more exceptions cut" in text


def test_nested_groups_are_bounded():
    """Groups in groups in groups are described in bounded space."""
    group = ExceptionGroup("deep", [ValueError("x" * 10_000)])
    for _ in range(50):
        group = ExceptionGroup("deep", [group] * 20)

    assert len(describe(group).traceback) <= MAX_TRACEBACK_CHARS


@pytest.mark.parametrize("cls", [UnprintableError, QuitterError, FacelessError, RootlessError, NumberedError])
def test_a_hostile_exception_is_described(cls):
    """Whatever the code of an exception raises, there is a failure to store."""
    failure = describe(raised(cls()))

    assert failure.exception_class.endswith(cls.__name__) or cls is NumberedError
    assert cls.__name__ in failure.traceback


def test_what_cannot_be_printed_says_so():
    """The message of an exception whose text cannot be had tells why it is missing."""
    assert "__str__ raises" in describe(UnprintableError()).message


def test_a_circle_of_causes_ends():
    """Exceptions that caused each other are each told once."""
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first

    assert describe(first).traceback.count("ValueError: first") == 1


def test_a_long_chain_is_cut():
    """Only the last few of a thousand exceptions in a row are told."""
    error = ValueError("0")
    for number in range(1, 1000):
        following = ValueError(str(number))
        following.__context__ = error
        error = following
    text = describe(error).traceback

    assert text.startswith("… earlier exceptions cut …")
    assert text.endswith("ValueError: 999\n")
    assert text.count("ValueError") == 5


def test_ten_thousand_frames_are_cut():
    """A RecursionError is described by its first and last frames, soon."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        recurse(0)
    except RecursionError as caught:
        error = caught
    finally:
        sys.setrecursionlimit(limit)
    begin = time.perf_counter()
    failure = describe(error)
    seconds = time.perf_counter() - begin

    assert "frames cut" in failure.traceback
    assert failure.traceback.startswith("Traceback")
    assert failure.traceback.endswith("RecursionError: maximum recursion depth exceeded\n")
    assert len(failure.traceback) <= MAX_TRACEBACK_CHARS
    assert seconds < 1


def test_fifty_megabytes_of_message_are_cut():
    """A message of 50 MB costs little room, neither stored nor on the way."""
    error = raised(ValueError("é" * 50_000_000))
    tracemalloc.start()
    failure = describe(error)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(failure.message) <= MAX_MESSAGE_CHARS
    assert len(failure.traceback) <= MAX_TRACEBACK_CHARS
    assert peak < 5_000_000


def test_local_variables_are_not_read():
    """A secret in a local variable does not reach the database."""

    def charge(card_number):
        raise ValueError("declined")

    with pytest.raises(ValueError, match="declined") as caught:
        charge("4111-1111")

    assert "4111-1111" not in describe(caught.value).traceback.replace('charge("4111-1111")', "")


def test_class_path_is_short():
    """A class with an absurd name still fits its column."""
    assert len(class_path(type("X" * 1000, (Exception,), {}))) <= 255


def test_the_fingerprint_is_of_the_last_frame():
    """Letters are grouped by the function that raised, which a cut leaves in place."""
    assert fingerprint("t", "r", describe(raised(ValueError("a")))) == fingerprint(
        "t", "r", describe(raised(ValueError("b" * 100_000)))
    )
