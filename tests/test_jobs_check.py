"""`jobqueue jobs check` tells a deploy pipeline whether what is stored fits the code that is about to run it."""

import json

import pytest
from django.core.management import call_command

from django_jobqueue.models import Job
from django_jobqueue.watch.stored_arguments import stored_arguments
from tests import tasks as cast
from tests.factories import make_dead_letter, make_job
from tests.races import race

pytestmark = pytest.mark.django_db

PAY, TAKE = cast.pay.module_path, cast.take.module_path


def check(capsys, *words):
    """Run it; answer with its exit code, and what it says."""
    code = 0
    try:
        call_command("jobqueue", "jobs", "check", *words)
    except SystemExit as error:
        code = error.code
    return code, capsys.readouterr().out


def test_what_fits_is_counted_by_task_and_version(capsys):
    """Upgrades included; jobs that are over are nobody's concern."""
    make_job("READY", task=PAY, version=1, args=[5])
    make_job("WAITING", task=PAY, version=1, args=[6])
    make_job("RUNNING", task=PAY, version=3, kwargs={"amount": 1, "currency": "EUR"})
    make_job("SUCCESSFUL", task="gone")
    make_dead_letter(task=TAKE, args=[1])
    make_dead_letter("DISCARDED", task="gone")

    code, text = check(capsys, "--json")

    document = json.loads(text)
    assert (code, document["fits"]) == (0, True)
    rows = {(row["task"], row["version"]): (row["jobs"], row["unfit"]) for row in document["tasks"]}
    assert rows == {(PAY, 1): (2, 0), (PAY, 3): (1, 0), (TAKE, 1): (1, 0)}
    assert "4 jobs alive or in open dead letters, all fit" in check(capsys)[1]


@pytest.mark.django_db(transaction=True)
def test_a_job_that_moves_meanwhile_is_read_once():
    """All states are of one moment: a job that falls due while others are read is not left out."""
    make_job("READY", task=TAKE, args=[1])
    waiting = make_job("WAITING", task=TAKE, args=[2])

    class Meanwhile:
        def get(self, name):
            race(lambda: Job.objects.filter(pk=waiting.pk).update(status="READY", waiting_for=""))
            return cast.take

    (fit,) = stored_arguments("default", Meanwhile())

    assert fit.jobs == 2


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"task": "gone"}, "no task has this name"),
        ({"task": PAY, "version": 4}, "the code here knows version 3 at most"),
        ({"task": PAY, "version": 1}, "args and kwargs: upgrade 1 raised IndexError"),
        ({"task": TAKE, "kwargs": {"first": 1, "secund": 2}}, "kwargs['secund']: is no argument of take()"),
        ({"task": TAKE, "args": {"first": 1}}, "args and kwargs: are of type dict and dict, not list and dict"),
    ],
)
@pytest.mark.parametrize("make", [lambda **columns: make_job("READY", **columns), make_dead_letter])
def test_what_does_not_fit_ends_with_1(capsys, make, columns, problem):
    """Each task and version says how many, and what is wrong, and with which."""
    make_job("READY", task=TAKE, args=[1])
    made = make(**columns)

    code, text = check(capsys, "--json")

    (row,) = [row for row in json.loads(text)["tasks"] if row["unfit"]]
    (told,) = row["problems"]
    assert (code, row["unfit"], told["jobs"]) == (1, 1, 1)
    assert told["examples"] == [getattr(made, "job_id", made.pk)]
    assert told["problem"].startswith(problem)
    assert "1 of 2 jobs do not fit" in check(capsys)[1]
