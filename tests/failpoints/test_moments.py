"""The failpoints themselves: every moment is somewhere in the code, and none does anything unless it is armed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import django_jobqueue
from django_jobqueue import failpoint
from django_jobqueue.store import statement

ROOT = Path(django_jobqueue.__file__).parent


def test_every_moment_is_in_the_code():
    """A moment that nothing hits would be swept in vain, and one that is hit and not listed would not be swept."""
    text = "\n".join(path.read_text() for path in ROOT.rglob("*.py"))
    hit = set(re.findall(r'failpoint\.hit\("([^"]+)"', text))
    around = {moment for moment in failpoint.MOMENTS if moment.split()[0] in ("before", "after")} - hit

    assert hit <= set(failpoint.MOMENTS)
    assert set(failpoint.MOMENTS) - hit == around
    for moment in around:
        # Those come with the statement of that name.
        assert statement.load(moment.split()[1], "ready_in_order" if moment.endswith("claim") else "")


def test_off_is_off():
    """Without the environment's word no moment is armed."""
    assert not failpoint.is_armed
    failpoint.hit("claimed")


@pytest.mark.parametrize(
    ("action", "code"), [("kill", -9), ("exit", 0), ("error", 1), ("sleep:0", 7), ("drop", 7), ("dance", 1)]
)
def test_an_armed_moment_happens_once(tmp_path, action, code):
    """It does what was asked for, the first time; an action that there is not is an error."""
    program = (
        "from django_jobqueue import failpoint; failpoint.hit('told'); failpoint.hit('claimed'); raise SystemExit(7)"
    )
    once = tmp_path / "once"
    environment = os.environ | {
        "DJANGO_JOBQUEUE_FAILPOINT": f"claimed={action}",
        "DJANGO_JOBQUEUE_FAILPOINT_ONCE": str(once),
    }
    codes = [
        subprocess.run(
            [sys.executable, "-c", program], env=environment, cwd=ROOT.parent, capture_output=True
        ).returncode
        for _ in range(2)
    ]

    assert codes == [code, 7]
    assert once.exists()
