"""A running job may replay, discard and cancel: what its secrets stand for gets into no row by that."""

import pytest

from django_jobqueue import Secret, operations
from django_jobqueue.models import AuditEntry, DeadLetter, Job
from django_jobqueue.testing import run_jobs
from tests import tasks as cast
from tests.factories import make_dead_letter, make_job
from tests.planted import LOOKED_UP as VALUE
from tests.stage import keyholders as keys

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _the_project(settings):
    settings.STAGE_PARTNER = VALUE


def act(verb, pk, **words):
    """Have a job act on a row, with its secret in place of KEY; answer with its attempt."""
    keys.act_with_key.enqueue(Secret("settings:STAGE_PARTNER"), verb, pk, **words)
    (ran,) = [ran for ran in run_jobs("default") if ran.job.task == keys.act_with_key.module_path]
    return ran


@pytest.mark.parametrize("task", [cast.take.module_path, "gone.task"])
@pytest.mark.parametrize(
    ("edit", "place"), [({"args": ["KEY"]}, "args[0]"), ({"kwargs": {"first": ["no KEY"]}}, "kwargs['first'][0]")]
)
def test_arguments_of_a_replay_hold_none(task, edit, place):
    """Whether the task is known here or not."""
    letter = make_dead_letter(task=task)

    ran = act("replay", letter.pk, by="ada", reason="", **edit)

    assert ran.message == f"{place}: has the value of the secret 'settings:STAGE_PARTNER' in it; pass the Secret itself"
    letter.refresh_from_db()
    assert letter.status == DeadLetter.Status.OPEN


def test_what_was_stored_before_is_no_fault_of_the_edit():
    """Somebody else has put it there; the job brings nothing of it."""
    letter = make_dead_letter(task=cast.take.module_path, args=[VALUE])

    assert act("replay", letter.pk, by="ada", reason="", kwargs={"value": 1}).outcome == "succeeded"


@pytest.mark.parametrize("verb", ["replay", "discard", "cancel", "replay_many", "discard_many", "cancel_many"])
@pytest.mark.parametrize(("words", "place"), [({"reason": "has KEY"}, "reason"), ({"by": "the KEY"}, "by")])
def test_who_and_why_hold_none(verb, words, place):
    """Both are kept in the audit entry, and a reason in the note of a letter."""
    row = make_job("READY", queue_name="other") if verb.startswith("cancel") else make_dead_letter()
    pk = [row.pk] if verb.endswith("many") else row.pk

    ran = act(verb, pk, **{"by": "ada", "reason": "old", **words})

    assert ran.message.startswith(f"{place}: has the value of the secret 'settings:STAGE_PARTNER' in it; ")
    assert not AuditEntry.objects.exists()
    row.refresh_from_db()
    assert row.status in (DeadLetter.Status.OPEN, Job.Status.READY)


def test_outside_of_a_job_nothing_is_compared():
    """A person's words are a person's own."""
    operations.replay(make_dead_letter(), by="ada", reason=VALUE)

    assert AuditEntry.objects.get().reason == VALUE
