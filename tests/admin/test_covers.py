"""What no text about a row may quote, by whatever way the row was read."""

from types import SimpleNamespace

import pytest

from django_jobqueue.admin.covers import secrets_of, secrets_of_row, words_in_list
from django_jobqueue.models import DeadLetter, Job, Worker
from django_jobqueue.payload.masking import MASK
from tests import tasks as cast
from tests.factories import make_dead_letter, make_job

TASK = cast.keep_quiet.module_path


def row(args_text, kwargs_text):
    return SimpleNamespace(task=TASK, args_text=args_text, kwargs_text=kwargs_text)


@pytest.mark.parametrize("unread", [None, "[" * 5_000 + "]" * 5_000, '["cut in tw', "9" * 20_000])
def test_a_half_that_cannot_be_read_hides_nothing_of_the_other(unread):
    """Too large for a list, too deep or too long for Python, or cut: what the other half has is known all the same."""
    assert secrets_of(row(unread, '{"iban": "DE42-quiet"}')) == {"DE42-quiet"}
    assert secrets_of(row('[{"iban": "DE42-quiet"}]', unread)) == {"DE42-quiet"}
    assert secrets_of(row(unread, unread)) == set()


def test_words_about_arguments_that_a_list_does_not_read_are_hidden():
    """What they may quote is not known there."""
    assert words_in_list(row(None, "{}"), "no account DE42-quiet") == MASK
    assert words_in_list(row("[]", '{"iban": "DE42-quiet"}'), "no account DE42-quiet") == f"no account {MASK}"


@pytest.mark.django_db
def test_a_row_that_is_named_is_read_by_the_same_rule(by_hand):
    """A job, the job of a letter; nothing of what is gone or is neither."""
    stored = {"task": TASK, "args": [], "kwargs": {"iban": "DE42-quiet"}}
    job, letter = make_job("READY", **stored), make_dead_letter(**stored)
    for damaged in (False, True):
        if damaged:
            by_hand("UPDATE django_jobqueue_job SET args = %s::jsonb", "[" * 5_000 + "]" * 5_000)

        assert secrets_of_row(Job, job.pk, using=None) == {"DE42-quiet"}
        assert secrets_of_row(DeadLetter, letter.pk, using=None) == {"DE42-quiet"}
        assert secrets_of_row(Job, -1, using=None) == secrets_of_row(Worker, job.pk, using=None) == set()
        assert secrets_of_row(Job, job.pk, using="nowhere") == set()
