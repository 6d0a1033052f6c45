"""The failpoints themselves: every moment is somewhere in the code, and none does anything unless it is armed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

import django_jobqueue
from django_jobqueue import failpoint
from django_jobqueue.models import Job
from django_jobqueue.store import statement
from django_jobqueue.store.promote import promote
from django_jobqueue.store.renew import renew
from django_jobqueue.store.session import Session
from tests.store.hands import COMMITS, add_job, at

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


@pytest.fixture
def arm(monkeypatch, tmp_path):
    """Arm a moment in this process; answer with the evidence that it will leave."""

    def arm(moment, action):
        monkeypatch.setattr(failpoint, "is_armed", True)
        monkeypatch.setattr(failpoint, "_armed", moment)
        monkeypatch.setattr(failpoint, "_action", action)
        monkeypatch.setattr(failpoint, "_once", str(tmp_path / "happened"))
        return tmp_path / "happened"

    return arm


@pytest.fixture
def session(transactional_db):
    """A worker's connection."""
    session = Session("default")
    yield session
    session.close()


@COMMITS
@pytest.mark.parametrize(("moment", "status"), [("before promote", "WAITING"), ("after promote", "READY")])
def test_a_line_that_drops_takes_the_answer_with_it(session, arm, moment, status):
    """Before a statement it is not sent; after it what it did is committed, and the worker hears nothing of it."""
    job_id = add_job(status="WAITING", waiting_for="time", run_after=at(-60))
    happened = arm(moment, "drop")
    with pytest.raises(psycopg.OperationalError):
        session.run(promote())

    assert happened.exists()
    assert Job.objects.get(pk=job_id).status == status
    assert session.run(promote())[0].moved == (status == "WAITING")


@COMMITS
@pytest.mark.parametrize("moment", ["before renew", "after renew"])
def test_a_statement_without_a_row_is_no_moment(session, arm, moment):
    """A worker that has just come asks for the renewal of nothing: there a fault would show nothing."""
    happened = arm(moment, "error")
    session.run(renew([], lease_seconds=30))

    assert not happened.exists()
