"""Secrets that were planted in a job are found in no place where the job is shown."""

import logging
import random
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from django_jobqueue import guard, operations
from django_jobqueue.compat import task_backends
from django_jobqueue.models import Attempt, DeadLetter, Job
from django_jobqueue.testing import run_jobs
from tests import planted
from tests.factories import make_dead_letter
from tests.stage import tasks

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _the_project(settings, monkeypatch):
    """Have the planted settings, and a process that has warned of nothing."""
    for name, value in planted.SETTINGS.items():
        setattr(settings, name, value)
    monkeypatch.setattr(guard, "_told", {})


@pytest.fixture
def boss(client):
    """The client of somebody who may see and do everything."""
    client.force_login(get_user_model().objects.create_superuser("boss", password="x"))
    return client


@pytest.fixture
def log(caplog):
    """All that is logged, whoever logs it."""
    caplog.set_level(logging.DEBUG)
    for name in ("django_jobqueue", "django_jobqueue.worker", "django_jobqueue.jobs"):
        caplog.set_level(logging.DEBUG, name)
    # Not the SQL: that a project has its statements logged is its own doing.
    caplog.set_level(logging.INFO, "django.db.backends")
    return caplog


def run_all():
    return run_jobs(within=timedelta(hours=1))


def test_nowhere_is_a_planted_secret_shown(boss, log, django_capture_on_commit_callbacks):
    """In no page of the admin, no answer of the command line, no log, before and after a person has acted."""
    tasks.spill.enqueue(*planted.ARGS, **planted.KWARGS)
    tasks.repeat.enqueue(*planted.ARGS, **planted.KWARGS)
    waiting = tasks.spill.using(queue_name="later").enqueue(*planted.ARGS, **planted.KWARGS)
    run_jobs("default", within=timedelta(hours=1))
    letter = DeadLetter.objects.get()

    shown = planted.pages(boss) | planted.commands()
    operations.cancel(waiting.id, by="ada", reason=f"they used {planted.TOKEN}")
    edited = {"args": [f"{planted.PERSON}!"], "kwargs": planted.KWARGS | {"n": 1}}
    operations.replay(letter, by="ada", reason=f"with {planted.SETTING}", **edited)
    run_all()
    discard = {"_selected_action": letter.pk, "confirm": "1", "reason": f"password={planted.TOKEN}"}
    with django_capture_on_commit_callbacks(execute=True):
        boss.post(reverse("admin:django_jobqueue_deadletter_discard"), discard)
    assert DeadLetter.objects.get().status == "DISCARDED"
    shown |= {f"later: {place}": words for place, words in (planted.pages(boss) | planted.commands()).items()}

    assert "ValueError" in shown[f"jobqueue jobs show {letter.job_id}"]
    assert "Dear ••••••," in "".join(shown.values())
    assert len(shown) > 90
    assert planted.leaks(shown | {"log": log.text}) == []


def test_what_is_written_of_a_failure_has_none(log):
    """The attempt's row has the error, without the secrets that it quotes."""
    tasks.spill.enqueue(*planted.ARGS, **planted.KWARGS)
    run_all()

    rows = Attempt.objects.values_list("message", "traceback")
    assert len(rows) == 1
    assert planted.leaks({f"{n} {part}": words for n, row in enumerate(rows) for part, words in enumerate(row)}) == []
    assert all("spill" in traceback and message.startswith("bad ") for message, traceback in rows)


def test_a_name_that_is_declared_later_covers_what_was_written_before(boss):
    """On the pages and in the story of a job an older error is searched for the arguments of its row."""
    columns = {"task": tasks.spill.module_path, "args": [planted.PERSON], "kwargs": {"options": {}}}
    letter = make_dead_letter(**columns, unique_key=f"person:{planted.PERSON}", note=f"call {planted.PERSON}")
    words = f"ValueError: bad {planted.PERSON}"
    Attempt.objects.update(message=words, traceback=f"Traceback\n{words}")
    shown = planted.commands() | planted.pages(boss)

    places = [f"/admin/django_jobqueue/job/{letter.job_id}/change/ ", f"jobqueue jobs show {letter.job_id} --json"]
    places += [f"/admin/django_jobqueue/deadletter/{letter.pk}/change/ ", f"jobqueue dead show {letter.pk}"]
    assert planted.leaks({place: shown[place] for place in places}) == []
    assert all("ValueError: bad ••" in shown[place] or r"bad \u2022" in shown[place] for place in places)


@pytest.mark.parametrize("padding", [0, 100_000], ids=["small", "large"])
def test_a_name_that_is_declared_later_covers_what_lists_show(boss, padding):
    """The first line of an older error, in the lists of the admin and of the command line; of what is large no word."""
    noise = "".join(random.Random(7).choices("abcdefgh", k=padding))
    letter = make_dead_letter(
        task=tasks.spill.module_path, args=[planted.PERSON], kwargs={"options": {"noise": noise}},
        note=f"call {planted.PERSON}",
    )  # fmt: skip
    Attempt.objects.update(message=f"bad {planted.PERSON}")

    shown = planted.pages(boss) | planted.commands()

    places = ["/admin/django_jobqueue/job/ ", "/admin/django_jobqueue/deadletter/ "]
    places += ["/admin/django_jobqueue/deadletter/replay/", "/admin/django_jobqueue/deadletter/discard/"]
    places += [f"jobqueue dead list --status all{more}" for more in ("", " --json")]
    assert planted.leaks({place: shown[place] for place in places}) == []
    assert all("ValueError" in shown[place] for place in places)
    assert all(("bad ••" in shown[place]) is not (padding and "admin" in place) for place in places[:4])
    assert str(letter.pk) in shown[places[-2]]


def test_what_an_act_or_a_cell_raises_is_logged_without_them(boss, log, monkeypatch):
    """An error of the database, say, quotes the row: neither the log nor the message to the person has the value."""

    def fail(*args, **kwargs):
        raise ValueError(f"Failing row contains ({planted.PERSON}, {planted.TOKEN})")

    letter = make_dead_letter(task=tasks.spill.module_path, args=[planted.PERSON], kwargs={"options": {}})
    monkeypatch.setattr("django_jobqueue.operations._replay", fail)
    monkeypatch.setattr("django_jobqueue.admin.dead_letters.explain", fail)
    data = {"_selected_action": letter.pk, "confirm": "1", "reason": ""}
    told = boss.post(reverse("admin:django_jobqueue_deadletter_replay"), data, follow=True).content.decode()

    assert planted.leaks({"log": log.text, "told": told}) == []
    assert f"replay of deadletter {letter.pk} failed: builtins.ValueError: Failing row contains (••••••, " in log.text
    assert f"column reason_cell of DeadLetter {letter.pk} cannot be shown: builtins.ValueError: Failing" in log.text
    assert "in fail" in log.text
    assert "failed with ValueError" in told or "ValueError: Failing row contains (••••••" in told


def test_what_is_stored_and_what_a_task_gets_is_the_real_value():
    """Through the enqueue, a failure and a replay the arguments stay what they were; so does the result."""
    failing = tasks.spill.enqueue(*planted.ARGS, **planted.KWARGS)
    repeating = tasks.repeat.enqueue(*planted.ARGS, **planted.KWARGS)
    run_all()
    Job.objects.filter(pk=int(failing.id)).update(task=tasks.repeat.module_path)
    operations.replay(DeadLetter.objects.get(), by="ada", reason="")
    run_all()

    for job in Job.objects.all():
        assert (job.args, job.kwargs, job.status) == (planted.ARGS, planted.KWARGS, "SUCCESSFUL")
    for result in (failing, repeating):
        stored = task_backends["default"].get_result(result.id)
        assert stored.return_value["person"] == planted.PERSON
        assert planted.TOKEN in stored.return_value["all"][1]
