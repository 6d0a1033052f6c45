"""Discard: a person says that a dead letter needs nothing more."""

import pytest

from django_jobqueue.exceptions import Refused
from django_jobqueue.models import AuditEntry
from django_jobqueue.store.discard import discard
from tests.factories import make_dead_letter
from tests.races import race

pytestmark = pytest.mark.django_db


def discard_it(letter_id, by="ada"):
    return discard(letter_id, by=by, reason="the customer is gone", using="default")


def test_an_open_letter_is_discarded_with_a_note():
    """The reason of a discard is kept as the letter's note and in the audit; the job stays FAILED."""
    letter = discard_it(make_dead_letter().pk)

    assert (letter.status, letter.note, letter.job.status) == ("DISCARDED", "the customer is gone", "FAILED")
    entry = AuditEntry.objects.get(object=f"job:{letter.job_id}")
    assert (entry.actor, entry.action, entry.reason) == ("ada", "discard", "the customer is gone")
    assert entry.before == {"dead_letter": letter.pk, "letter_status": "OPEN", "note": ""}
    assert entry.after == {"dead_letter": letter.pk, "letter_status": "DISCARDED", "note": "the customer is gone"}


@pytest.mark.parametrize(
    ("status", "code"),
    [("DISCARDED", "already_discarded"), ("REPLAYED", "already_replayed"), ("RESOLVED", "already_resolved")],
)
def test_only_an_open_letter_can_be_discarded(status, code):
    """A letter that was answered keeps its answer and its note."""
    letter = make_dead_letter(status, note="as it was")

    with pytest.raises(Refused) as refused:
        discard_it(letter.pk)

    assert refused.value.code == code
    letter.refresh_from_db()
    assert (letter.status, letter.note) == (status, "as it was")
    assert not AuditEntry.objects.exists()


def test_a_letter_that_is_gone_is_refused():
    """Discarding a letter that does not exist says so."""
    with pytest.raises(Refused) as refused:
        discard_it(10**12)

    assert refused.value.code == "not_found"


@pytest.mark.django_db(transaction=True)
def test_of_two_discards_at_once_one_wins():
    """Two people who discard the same letter at the same moment leave one note and one entry."""
    letter = make_dead_letter()

    answers = race(*[lambda by=by: discard_it(letter.pk, by).status for by in ("ada", "bob")])

    assert sorted(answers) == ["DISCARDED", "already_discarded"]
    assert AuditEntry.objects.count() == 1
