"""What an error tells of the keys on the way to what is refused."""

from datetime import date

import pytest

from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload import storable_json
from django_jobqueue.payload.masking import MASK
from django_jobqueue.payload.signature import read_signature
from django_jobqueue.payload.spilled import Spill
from django_jobqueue.payload.typed import read_forms

TOKEN = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
CARD = 4111111111111111


def keep(days: dict[str, date]):
    """Take days by name."""


def refuse_an_item():
    storable_json.arguments([{TOKEN: float("nan")}], {}, max_bytes=1000)


def refuse_a_key():
    storable_json.arguments([{CARD: 1}], {}, max_bytes=1000)


def refuse_a_key_of_several():
    storable_json.arguments([{("x", TOKEN): 1}], {}, max_bytes=1000)


def refuse_a_typed_item():
    read_forms(keep, takes_context=False).write([{TOKEN: "no date"}], {})


def refuse_a_name():
    read_signature(keep, takes_context=False).require_fit([{}], {TOKEN: 1})


def refuse_a_spill():
    Spill({"a-secret-of-its-own": "env:A"}).require_none({TOKEN: "a-secret-of-its-own"}, "result", "")


REFUSALS = [refuse_an_item, refuse_a_key, refuse_a_key_of_several, refuse_a_typed_item, refuse_a_name, refuse_a_spill]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_no_error_tells_a_key_that_is_a_secret(refusal):
    """It names the place without it."""
    with pytest.raises(InvalidPayload) as error:
        refusal()

    assert MASK in str(error.value)
    assert TOKEN not in str(error.value)
    assert str(CARD) not in str(error.value)


@pytest.mark.parametrize("key", ["billing", "customer_accounts_by_name", 42, "2026-11-30T16:00:00", "cus_9s6XKzkNRiz8"])
def test_an_error_tells_other_keys(key):
    """Words, numbers, moments and ids say where to look."""
    with pytest.raises(InvalidPayload) as error:
        storable_json.arguments([{key: float("nan")}], {}, max_bytes=1000)

    assert repr(key) in str(error.value)
