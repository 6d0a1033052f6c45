"""What a task says of its dead letters, on the page of one."""

from dataclasses import replace

import pytest

from django_jobqueue.admin.display import with_links
from tests import tasks as cast

from .conftest import pages_of

RUNBOOK = "Ask Ada, or read https://wiki.example/charge?a=1&b=2.\n<script>alert(1)</script> javascript:alert(1)"


def test_a_letters_page_shows_the_runbook_of_its_task(boss, letter, monkeypatch):
    """It is text, escaped; an address of http or https is a link, without the full stop behind it."""
    known = replace(cast.fail, runbook=RUNBOOK)
    monkeypatch.setattr("django_jobqueue.registry.find", lambda name: known)

    page = boss.get(pages_of(letter())[1]).content.decode()

    address = "https://wiki.example/charge?a=1&amp;b=2"
    link = f'<a href="{address}" rel="noopener noreferrer">{address}</a>'
    assert f"Ask Ada, or read {link}.\n&lt;script&gt;alert(1)&lt;/script&gt; javascript:alert(1)" in page


def test_a_task_without_a_runbook_shows_none(boss, letter):
    """Nor does one that nobody knows any more."""
    for task in (cast.fail.module_path, "gone"):
        assert "Runbook" not in boss.get(pages_of(letter(task=task))[1]).content.decode()


@pytest.mark.parametrize(
    ("words", "href"),
    [
        ("see http://wiki/x.", "http://wiki/x"),
        ("(https://wiki/x)", "https://wiki/x"),
        ('https://wiki/"onclick=alert(1)', "https://wiki/"),
        ("HTTPS://wiki", None),
        ("javascript:alert(1)//https:", None),
        ("data:text/html,x //wiki ftp://wiki", None),
        ("https://wiki/\u202egpj", "https://wiki/"),
    ],
)
def test_only_addresses_of_the_web_are_links(words, href):
    """No other scheme is one, and what ends an address ends the link."""
    shown = with_links(words)

    assert shown.count("<a ") == (href is not None)
    if href:
        assert f'<a href="{href}" rel=' in shown
