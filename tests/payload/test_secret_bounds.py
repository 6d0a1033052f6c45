"""Whatever the guard is given, it ends, soon, and raises nothing."""

import time

import pytest

from django_jobqueue.payload.masking import MASK, literal_values, masked, masked_text
from django_jobqueue.payload.secret_shapes import findings, secret_places


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no text")

    __str__ = __repr__


class Liar(dict):
    def items(self):
        raise RuntimeError("no items")


def cyclic():
    value = {}
    value["again"] = [value, value]
    return value


def deep():
    value = "x"
    for _ in range(5000):
        value = [value]
    return value


def wide():
    value = ["x" * 1000] * 10
    for _ in range(40):
        value = [value] * 10
    return value


ODD = [
    Unprintable(),
    {Unprintable: Unprintable()},
    Liar(a=1),
    cyclic(),
    deep(),
    wide(),
    10**5000,
    b"\xff\x00",
    "\ud800",
    {1: {2}},
]


@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
def test_odd_value_is_no_error(value):
    """Whatever it is given, the search ends and raises nothing."""
    assert isinstance(findings(value), list)


@pytest.mark.parametrize("value", [cyclic(), deep(), wide(), Liar(a=1)], ids=["cyclic", "deep", "wide", "liar"])
def test_what_cannot_be_looked_through_is_told(value):
    """A value that is too large or too deep is not taken for a clean one."""
    assert any("looked through" in finding.why for finding in findings(value))


def test_value_that_contains_itself_is_left_soon():
    """Where every level doubles the places, the search ends after some thousands of them."""

    class Counted(dict):
        asked = 0

        def items(self):
            Counted.asked += 1
            return super().items()

    value = Counted()
    value.update(left=value, right=value)
    findings(value)

    assert 100 < Counted.asked < 10_000


def test_odd_value_does_not_hide_what_stands_beside_it():
    """What raises when it is asked is left out alone."""
    assert literal_values([Liar(a=1), {"password": "swordfish"}]) == {"swordfish"}
    assert masked([Liar(a=1), "x"]) == [MASK, "x"]


UNITS = [
    "a",
    "1",
    "4242 ",
    "eyJ-",
    "eyJa.eyJ.",
    "-----BEGIN PRIVATE" + " KEY-----",
    "://a:",
    "token=",
    "token='",
    "token=\"x'",
    "cookie:",
    "Authorization: a ",
    'password\\"',
    "sk_" + "live_",
    "xoxb" + "-",
    "$6$",
    "Basic AAAA",
    "Q~",
    ".",
    "-us",
    "aB3/",
    "M-",
    "•",
    "\\n",
    "k=(",
    "a_",
    "api_key-",
    "key-aB3dE5fG7hI9",
    "<password>",
    "<key name='password'>",
    "name=password value=",
    "('password','",
    "password(",
    "mysql -p ",
    "login -p",
    "password for the ",
    "the key of a b c d e is ",
    "password,a\nx,",
    "|password|\n",
    "password\n",
    "пароль\uff1a",
    "/key/",
    "/reset/aB3",
    "-----BEGIN LS0tLS1CRUdJTi",
    "v4.local.",
    "0/1234567890123:",
    "-secret ",
    "echo a",
    "net use ",
    "set password ",
    "://aB3",
]


@pytest.mark.parametrize("unit", UNITS)
def test_hostile_text_costs_its_length(unit):
    """Of twice the text the search takes about twice the time, not four times."""

    def seconds(length):
        text = unit * (length // len(unit))
        return min(spent(lambda: list(secret_places(text))) for _ in range(3))

    # A search in the square of the length would take sixteen times as long.
    assert seconds(400_000) < 9 * seconds(100_000) + 0.02


def spent(call):
    start = time.process_time()
    call()
    return time.process_time() - start


@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
def test_odd_value_is_masked_without_error(value):
    """Whatever it is given, masking ends and raises nothing."""
    masked(value, sensitive=["a"])

    assert "swordfish" in literal_values({"password": "swordfish", "a": value}, sensitive=["a"])


def test_endless_text_is_cut():
    """Of more than a million characters the rest is cut, with a mark, and no secret in two."""
    token = "gh" + "p_" + "a1B2" * 9
    text = "x " * 499_990 + token + " x" * 500_000

    shown = masked_text(text)

    assert len(shown) < 1_000_100
    assert "characters cut" in shown
    assert token[:12] not in shown


@pytest.mark.parametrize("unit", UNITS[::3])
def test_masking_hostile_text_costs_its_length(unit):
    """Of twice the text masking takes about twice the time, not four times."""

    def seconds(length):
        text = unit * (length // len(unit))
        values = [unit * 60, "abcdefghij" * 6]
        start = time.process_time()
        masked_text(text, values=values)
        return time.process_time() - start

    # In the square of the length it would take sixteen times as long.
    assert min(seconds(400_000) for _ in range(2)) < 9 * min(seconds(100_000) for _ in range(2)) + 0.02
