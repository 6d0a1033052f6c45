"""The key of a unique job is a text that the same call always makes."""

import re
import traceback
from uuid import UUID

import pytest

from django_jobqueue import task
from django_jobqueue.exceptions import InvalidOptions, InvalidPayload
from django_jobqueue.payload.keys import MAX_LENGTH, make_key
from django_jobqueue.payload.secret_reference import Secret
from tests.payload import shapes

ID = UUID("6a5f1c1e-7a1f-4c55-9f5e-0d9c3f9f3f11")


def send(invoice_id, to="nobody", *, kind="mail"): ...


def send_with_context(context, invoice_id): ...


def key(maker, *args, function=send, takes_context=False, **kwargs):
    return make_key("unique_key", maker, function, args, kwargs, takes_context=takes_context)


@pytest.mark.parametrize(
    ("maker", "made"),
    [
        ("invoice:{invoice_id}", "invoice:7"),
        ("{kind}/{to}/{invoice_id}", "mail/nobody/7"),
        ("{invoice_id:04}", "0007"),
        ("{{{invoice_id}}}", "{7}"),
        ("one of its kind", "one of its kind"),
        (lambda invoice_id, to="nobody": f"{to}-{invoice_id}", "nobody-7"),
        (lambda *args, **kwargs: None, None),
    ],
)
@pytest.mark.parametrize("named", [False, True])
def test_a_key_is_made_from_the_arguments(maker, made, named):
    """By a template of parameters, defaults included, or by a function; however the call names them."""
    assert (key(maker, invoice_id=7) if named else key(maker, 7)) == made


def test_the_context_is_no_argument():
    """What the worker adds has no part in the key."""
    assert key("{invoice_id}", 7, function=send_with_context, takes_context=True) == "7"


def test_a_template_looks_into_arguments():
    """By attribute and by item, in what the task gets."""
    assert key("{invoice_id.name}", shapes.Node("a")) == "a"
    assert key("{invoice_id[city]}", {"city": "Ulm"}) == "Ulm"
    assert key("{invoice_id}", ID) == str(ID)


@pytest.mark.parametrize("length", [MAX_LENGTH, MAX_LENGTH + 1, 100_000])
def test_a_long_key_is_shortened_to_one_of_its_own(length):
    """It fits the column, begins as it did, and another long key is another one."""
    made, again, other = (key("{invoice_id}", "é" * (length - 1) + end) for end in "aab")

    assert (len(made), made) == (MAX_LENGTH, again)
    assert made != other
    assert made.startswith("é" * (MAX_LENGTH - 64))


@pytest.mark.parametrize(
    ("maker", "words"),
    [
        (lambda _: "", "unique_key: is empty; it is a text"),
        (lambda _: 7, "unique_key: is of type int; it is a text"),
        (lambda _: "a\0b", "unique_key: contains a NUL"),
        (lambda _: "\ud800", "unique_key: contains a lone surrogate"),
        (
            "{invoice_id.number}",
            "unique_key: '{invoice_id.number}' cannot be filled in: {invoice_id.number}: a str has no attribute",
        ),
        ("{invoice_id:d}", "unique_key: '{invoice_id:d}' cannot be filled in: a str cannot be written with ':d'"),
    ],
)
def test_what_is_no_key_is_refused(maker, words):
    """With what it is instead; the value is not told."""
    with pytest.raises(InvalidPayload) as error:
        key(maker, "hunter2")

    assert str(error.value).startswith(words)
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize(
    ("template", "argument", "words"),
    [
        ("{invoice_id.pk}", {"pk": 1}, "{invoice_id.pk}: a dict has no attribute 'pk'; write {invoice_id[pk]}"),
        (
            "{invoice_id[lines][0].pk}",
            {"lines": [{}]},
            "{invoice_id[lines][0].pk}: a dict has no attribute 'pk'; write {invoice_id[lines][0][pk]}",
        ),
        ("{invoice_id[pk]}", {"id": 1}, "{invoice_id[pk]}: a dict has no key 'pk'"),
        ("{invoice_id[3]}", [1], "{invoice_id[3]}: a list has no item 3"),
        ("{invoice_id[pk]}", [1], "{invoice_id[pk]}: a list has no key 'pk'"),
        ("{invoice_id[name]}", shapes.Node("a"), "{invoice_id[name]}: a Node has no items; write {invoice_id.name}"),
        ("{invoice_id.pk}", None, "{invoice_id.pk}: None has no attribute 'pk'"),
        ("{invoice_id.items}", {"items": 1}, "{invoice_id.items}: it is a method of a dict; write {invoice_id[items]}"),
        ("{invoice_id:{missing}}", 1, "{missing}: the call gives no 'missing'"),
    ],
)
def test_what_does_not_fit_a_template_is_told_in_words(template, argument, words):
    """Which field, and what it meets there; a method would make another key each time."""
    with pytest.raises(InvalidPayload) as error:
        key(template, argument)

    assert str(error.value) == f"unique_key: {template!r} cannot be filled in: {words}"


def test_what_a_property_of_an_argument_raises_is_its_own():
    """That it is no attribute would be wrong: the property is there."""
    for field, error in (("invoice_id.broken", "AttributeError"), ("invoice_id[broken]", "KeyError")):
        with pytest.raises(InvalidPayload, match=rf"cannot be filled in: {error} \(.*test_keys\.py, line"):
            key(f"{{{field}}}", Touchy("x"))


def test_a_reference_to_a_secret_counts_as_it_is_written():
    """Though it cannot be part of a text elsewhere: the key is for the queue, and not for the other side."""
    assert key("{invoice_id}", Secret("settings:KEY")) == "settings:KEY"


class Touchy:
    def __init__(self, word):
        self.word = word

    def __getitem__(self, name):
        return {}[name]

    @property
    def broken(self):
        return self.wrod

    def __format__(self, how):
        raise ValueError(f"{self.word} is nobody's business")


def test_what_an_argument_raises_is_told_by_its_class_and_place():
    """Its words may hold the value: they are in no traceback of the caller either."""
    with pytest.raises(InvalidPayload) as error:
        key("{invoice_id}", Touchy("hunter2"))

    assert "hunter2 is" not in "".join(traceback.format_exception(error.value))
    assert re.search(r"cannot be filled in: ValueError \(.*test_keys\.py, line \d+\)$", str(error.value))
    assert error.value.__cause__ is error.value.__context__ is None


@pytest.mark.parametrize(
    ("maker", "words"),
    [
        ("{invoce_id}", r"unique_key names \{invoce_id\}, which send\(\) does not take"),
        ("{}", r"unique_key names \{\}; a field begins with the name of a parameter; got '\{\}'"),
        ("{0}", r"unique_key names \{0\}; "),
        ("{invoice_id", r"unique_key has a \{ without its \}; one that means itself is doubled; got '\{invoice_id'"),
        ("a{a", r"unique_key has a \{ without its \}; "),
        ("{a{b}}", r"unique_key has a \{ without its \}; "),
        ("invoice_id}", r"unique_key has a \} without its \{; "),
        (
            "{invoice_id.}",
            r"unique_key has the field \{invoice_id\.\}; write it as in \{order\.id\} or \{order\[id\]\}",
        ),
        ("{invoice_id!x}", r"unique_key has !x, and a field takes !s, !r or !a"),
        ("", r'unique_key is a template, as in "invoice:\{invoice_id\}", or a function'),
        (7, "unique_key is a template"),
        (str, "unique_key is a template"),
    ],
)
def test_a_wrong_template_is_told_where_the_task_is_declared(maker, words):
    """Not by the first call that meets it."""
    with pytest.raises(InvalidOptions, match=words):
        task(unique_key=maker)(send)


def test_until_when_a_key_is_held_is_one_of_two_words():
    """Another one is refused at the declaration."""
    with pytest.raises(InvalidOptions, match='unique_until is "finished" or "started"; got \'done\''):
        task(unique_key="a", unique_until="done")(send)
