"""The demo as a whole: it rehearses, counts, and leaves nothing running."""

import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from django.core.management import CommandError

from demo_project.shop.management.commands.demo import only_demo
from demo_project.shop.rehearsal.figures import EXPECTED, differences, table
from tests.demo.family import has_ended
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]


def demo(*words, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "manage.py", "demo", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )


@pytest.mark.parametrize("figure", ["enqueued", "succeeded", "dead", "effects"])
@pytest.mark.parametrize("by", [-1, 1])
def test_any_other_figure_is_a_difference(figure, by):
    """One job or effect more or less than expected is named, with both numbers."""
    billing = EXPECTED["billing"]
    got = getattr(billing, figure) + by

    (difference,) = differences(EXPECTED | {"billing": replace(billing, **{figure: got})})

    assert str(difference) == f"Billing {figure}: expected {got - by}, got {got}"


def test_more_retries_are_no_difference():
    """A slow machine may add a try, but none may be missing."""
    mail = EXPECTED["mail"]

    assert differences(EXPECTED) == []
    assert differences(EXPECTED | {"mail": replace(mail, retried=mail.retried + 3)}) == []
    assert differences(EXPECTED | {"mail": replace(mail, retried=mail.retried - 1)}) != []


def test_table_has_a_row_for_each_kind():
    """The summary is one table: a head, a rule, and six kinds of work."""
    head, _, *rows = table(EXPECTED).splitlines()

    assert re.split(r"\s{2,}", head)[0] == "kind"
    assert [row.split()[0] for row in rows] == [
        "mail",
        "billing",
        "pictures",
        "leads",
        "reports",
        "poison",
    ]


@pytest.mark.scenario
def test_demo_once_comes_to_the_expected_figures(database_url):
    """`manage.py demo --once` ends with 0 in under two minutes, and leaves no process behind."""
    process = demo("--once", env=os.environ | {"DATABASE_URL": database_url})
    family = psutil.Process(process.pid)
    children = wait_until(lambda: family.children(recursive=True), seconds=60)

    output, _ = process.communicate(timeout=120)

    assert process.returncode == 0, output
    assert "All figures are as they must be" in output
    assert all(has_ended(child) for child in children)


@pytest.mark.scenario
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_demo_leaves_nothing_running(number, tmp_path, database_url):
    """Whatever ends the demo ends its site, workers and partners too."""
    env = os.environ | {"SHOP_STATE_DIR": str(tmp_path), "DATABASE_URL": database_url}
    # As a shell starts background jobs: with Ctrl-C ignored.
    process = demo(env=env, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    for line in process.stdout:
        if "Log in with" in line:
            break
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 14  # seven on leashes, and the workers' own

    process.send_signal(number)
    process.communicate(timeout=30)

    wait_until(lambda: all(has_ended(child) for child in children), seconds=20)


def test_a_second_demo_is_refused(tmp_path):
    """A demo that runs keeps its admin's password: a second one leaves, and says where the first is."""
    with only_demo(tmp_path / "shop") as address:
        address.write_text("http://127.0.0.1:8000/")
        refused = pytest.raises(CommandError, match=r"already, at http://127\.0\.0\.1:8000/; stop it first")
        with refused, only_demo(tmp_path / "shop"):
            pass

    with only_demo(tmp_path / "shop") as address:
        assert address.read_text() == ""
