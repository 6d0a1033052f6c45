"""What cannot be stored is refused with the place and with what to pass instead; the docs have a table of it."""

from pathlib import Path

import pytest

from tests.payload.bad_payloads import messages, table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "bad-payloads.md"


@pytest.mark.parametrize(("what", "message"), messages(), ids=[what for what, _ in messages()])
def test_a_bad_payload_is_told_by_its_place(what, message):
    """The message begins with the path of the bad value."""
    path, _, problem = message.partition(": ")

    assert path.startswith(("args", "kwargs['"))
    assert problem


def test_the_page_has_every_message():
    """As it is printed today, by the command that is on it."""
    assert table() in PAGE.read_text("utf-8")
