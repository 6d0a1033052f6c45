"""A value is found in texts that write it with escapes: quotes, backslashes, bytes, and one text inside another."""

import json
import re
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_jobqueue.payload.literals import forms_of_literal
from django_jobqueue.payload.masking import masked_text

NAME = "Conan O'Brien Shaughnessy"
MIXED = 'it\'s \\ "so" / pässwört'
WRITTEN = {
    "a KeyError that quotes it": lambda value: str(KeyError(f'no customer "{value}"')),
    "a KeyError beside an apostrophe": lambda value: str(KeyError(f"no customer '{value}' in \"shop\"")),
    "repr in a KeyError": lambda value: str(KeyError(f"no customer {value!r}")),
    "repr of repr": lambda value: repr(repr(value)),
    "JSON in repr": lambda value: repr(json.dumps({"name": value, "of": "O'Hara"})),
    "repr in JSON": lambda value: json.dumps({"error": repr(value)}),
    "JSON in JSON": lambda value: json.dumps(json.dumps([value])),
    "JSON of a slash": lambda value: json.dumps(value).replace("/", "\\/"),
    "JSON of a slash, in UTF-8": lambda value: json.dumps(value, ensure_ascii=False).replace("/", "\\/"),
    "bytes": lambda value: repr(value.encode()),
    "bytes beside both quotes": lambda value: repr(b"'\"" + value.encode()),
    "bytes in a KeyError": lambda value: str(KeyError(f'{value.encode()!r} is "no" account')),
    "a URL in lower case": lambda value: re.sub("%..", lambda found: found.group().lower(), quote(value)),
    "bytes of Latin-1": lambda value: repr(value.encode("latin-1")),
    "ASCII": ascii,
}


@pytest.mark.parametrize("value", [NAME, MIXED, "pässwört/gëheim", 'a "quoted" one', "C:\\Users\\ada"])
@pytest.mark.parametrize("written", WRITTEN)
def test_value_is_hidden_however_it_is_escaped(written, value):
    """Errors quote errors: what stood in a text that was quoted once more is hidden too."""
    shown = masked_text(f"before {WRITTEN[written](value)} after", values={value})

    assert shown.startswith("before ")
    for word in ("Brien", "rt", "heim", "quoted", "Users"):
        assert word not in shown


@given(value=st.text(st.characters(codec="utf-8"), min_size=4))
def test_each_way_to_escape_is_among_the_forms(value):
    """As Python and JSON write a value inside of other text, once and twice."""
    forms = forms_of_literal(value)

    for text in (
        repr(f"{value}'\"")[1:-4],
        json.dumps(value)[1:-1],
        repr(value.encode())[2:-1],
        json.dumps(repr(f"{value}'\"")[1:-4])[1:-1],
        repr(repr(value)[1:-1])[1:-1],
    ):
        assert text in forms


def test_plain_value_has_few_forms():
    """Each form is one more search of every text: what escapes leave alone is written once."""
    assert len(forms_of_literal("swordfish")) <= 4
    assert len(forms_of_literal(MIXED)) <= 100
