"""A reference to a secret is stored as one, comes back as one, and cannot be slipped in by data."""

import copy
import json
import pickle
from dataclasses import dataclass

import pytest

from django_jobqueue import Secret
from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload import storable_json
from django_jobqueue.payload.masking import literal_values, masked, masked_arguments
from django_jobqueue.payload.secret_reference import filled, references_in, revived
from django_jobqueue.payload.secret_shapes import call_findings
from django_jobqueue.payload.typed import forms_of

KEY = Secret("settings:STRIPE_KEY")
STORED = {"$secret": "settings:STRIPE_KEY"}
SCHEMES = frozenset(("settings", "env", "vault"))
VALUE = "sk-live-unlikely-51c2"


def written(*args, schemes=SCHEMES, are_stored=False, **kwargs):
    texts = storable_json.arguments(args, kwargs, max_bytes=2048, schemes=schemes, are_stored=are_stored)
    return [json.loads(text) for text in texts]


@pytest.mark.parametrize(
    "reference",
    [
        "settings:STRIPE_KEY",
        "settings:PROVIDERS.stripe.key",
        "settings:KEYS.0",
        "env:stripe_key",
        "vault:billing/stripe#key",
        "vault:a:b",
        "my-store_2:x",
    ],
)
def test_a_reference_is_what_it_was_made_of(reference):
    """Its text, and two halves; equal ones are equal, copies too, and it can be a key of a dict."""
    secret = Secret(reference)

    assert str(secret) == secret.reference == f"{secret.scheme}:{secret.name}" == reference
    assert eval(repr(secret)) == pickle.loads(pickle.dumps(secret)) == copy.deepcopy(secret) == secret
    assert {secret: 1}[Secret(reference)] == 1
    assert secret != reference


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (7, "is of type int; a reference is text"),
        ("", "names no source; write it as in"),
        ("hunter2", "names no source; write it as in"),
        (":hunter2", "names no source"),
        ("Settings:HUNTER2", "names no source"),
        ("settings:hunter2", "names no setting; write it as in"),
        ("settings:HUNTER2..key", "names no setting"),
        ("settings:HUNTER2.", "names no setting"),
        ("settings:HUNTER2 ", "names no setting"),
        ("settings:HUNTER2\n", "names no setting"),
        ("env:", "names no variable of the environment"),
        ("env:hunter2 and more", "names no variable"),
        ("vault:", "names nothing in its source"),
        ("vault:hunter2 more", "names nothing in its source"),
        ("vault:hunter2\0", "names nothing in its source"),
        ("vault:hunter2\ud800", "names nothing in its source"),
        ("vault:" + "hunter2" * 50, "has 356 characters; a reference has at most 255"),
    ],
)
def test_what_is_no_reference_is_refused_where_it_is_made(wrong, words):
    """With what to write; it may be the secret itself, and is not repeated."""
    with pytest.raises(InvalidPayload) as error:
        Secret(wrong)

    assert str(error.value).startswith(f"Secret: {words}")
    assert "hunter2" not in str(error.value).lower()


def test_a_reference_is_not_changed():
    """It may be shared, as a default of a setting or a schedule."""
    with pytest.raises(AttributeError, match="is not changed"):
        KEY.reference = "env:OTHER"


@dataclass
class Client:
    key: str
    others: dict


def connect(client: Client, keys: tuple[str, ...] = (), *, note=None): ...


def test_it_is_stored_wherever_text_may_stand():
    """By place, by name, inside, beside odd numbers, and in a dataclass that a hint names."""
    assert written(KEY, [1, {"deep": [KEY]}], key=KEY) == [[STORED, [1, {"deep": [STORED]}]], {"key": STORED}]
    assert written([KEY, 1e300]) == [[[STORED, 1e300]], {}]

    forms = forms_of(connect, takes_context=False)
    call = (Client(KEY, {"b": KEY}), (KEY,)), {"note": {"x": KEY}}
    stored = written(*forms.write(*call)[0], **forms.write(*call)[1])
    assert stored == [[{"key": STORED, "others": {"b": STORED}}, [STORED]], {"note": {"x": STORED}}]
    assert forms.read(*revived(*stored)) == ([*call[0]], call[1])


@pytest.mark.parametrize("stored", [([], {}), ([1, "x", [None, {"a": [1.5]}]], {"b": {}})])
def test_what_has_no_reference_is_not_copied(stored):
    """Most jobs have none."""
    assert all(map(lambda new, old: new is old, revived(*stored), stored))


def test_references_come_back_and_are_filled():
    """What is read has a Secret where it is stored as one, and what is filled has the value there."""
    args, kwargs = revived([STORED, [{"a": STORED}]], {"key": {"$secret": "env:B"}, "n": 1})

    assert (args, kwargs) == ([KEY, [{"a": KEY}]], {"key": Secret("env:B"), "n": 1})
    assert references_in([args, kwargs]) == {KEY, Secret("env:B")}
    values = {KEY: "one", Secret("env:B"): "two"}
    assert filled([*args, kwargs], values) == ["one", [{"a": "one"}], {"key": "two", "n": 1}]


DATA = [STORED, {"$secret": 1}, {"$secret": "settings:X", "more": 1}, [{"deep": {"$secret": None}}]]


@pytest.mark.parametrize("data", DATA)
def test_data_cannot_name_a_secret(data):
    """A dict of a caller's own that has the key is refused, whatever stands under it; so is an argument so named."""
    with pytest.raises(
        InvalidPayload, match=r"^kwargs\['value'\].*has the key '\$secret', which is kept for references"
    ):
        written(value=data)
    with pytest.raises(InvalidPayload, match=r"^kwargs\['\$secret'\]: is kept for references to secrets; give"):
        written(**{"$secret": "settings:X"})


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"$secret": 1}, "and is no reference to a secret: it is of type int; a reference is text"),
        ({"$secret": "hunter2"}, "and is no reference to a secret: it names no source; write it as in"),
        ({"$secret": "settings:X", "more": 1}, "and is no reference to a secret: it has other keys too"),
    ],
)
def test_a_reference_that_a_person_typed_wrong_is_told_by_its_place(typed, words):
    """At a replay, and where it is read."""
    for refuse in (
        lambda: written([typed], are_stored=True),
        lambda: revived([[typed]], {}),
    ):
        with pytest.raises(InvalidPayload) as error:
            refuse()
        assert str(error.value).startswith(f"args[0][0]: has the key '$secret', {words}")
        assert "hunter2" not in str(error.value)
    with pytest.raises(InvalidPayload, match=r"^kwargs\['\$secret'\]: is kept"):
        revived([], STORED)


def test_a_reference_that_a_person_typed_is_stored():
    """As it is written, and as a Secret."""
    assert written(STORED, [KEY], are_stored=True) == [[STORED, [STORED]], {}]


@pytest.mark.parametrize("are_stored", [False, True])
@pytest.mark.parametrize(
    ("scheme", "words"),
    [("vualt", "did you mean 'vault'?"), ("kms", "known are env, settings, vault; OPTIONS secret_sources adds others")],
)
def test_an_unknown_source_is_told_by_its_place(scheme, words, are_stored):
    """With the nearest name, or all of them."""
    value = {"$secret": f"{scheme}:x"} if are_stored else Secret(f"{scheme}:x")
    with pytest.raises(InvalidPayload) as error:
        written([value], are_stored=are_stored)

    assert str(error.value) == f"args[0][0]: refers to the unknown source {scheme!r}; {words}"


def test_a_result_has_no_references():
    """A Secret in it is refused with what to return; a dict that looks like one is data."""
    with pytest.raises(InvalidPayload, match=r"^result\['a'\]: is a Secret, .* return its \.reference$"):
        storable_json.dumps({"a": KEY}, "result", max_bytes=1024)
    assert json.loads(storable_json.dumps(STORED, "result", max_bytes=1024)) == STORED


@pytest.mark.parametrize("name", ["api_key", "password", "token", "iban", "plain"])
def test_a_reference_is_shown_and_nobody_warned(name):
    """Under the name of a secret, and under one that the task has declared."""
    stored = {name: {"$secret": "vault:kv/password:prod-4f9a1c77e2XyZ"}}
    rules = {"sensitive": ("iban",)}

    assert masked(stored, **rules) == stored
    assert masked_arguments([stored[name]], {}, positional=[name], **rules) == ([stored[name]], {})
    assert call_findings([stored[name]], stored, positional=[name], **rules) == []
    assert literal_values(stored, **rules) == set()


def test_a_secret_in_place_of_a_name_is_found_all_the_same():
    """A token of a known service behind the colon is warned of, and hidden; so is what is no reference."""
    token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    stored = {"api_key": {"$secret": f"vault:{token}"}}

    assert masked(stored) == {"api_key": {"$secret": "vault:••••••"}}
    assert [str(found) for found in call_findings([], stored)] == ["kwargs['api_key'] (GitHub token)"]
    assert literal_values(stored) == {token}
    assert masked({"$secret": "correct horse"}) == {"$secret": "••••••"}
