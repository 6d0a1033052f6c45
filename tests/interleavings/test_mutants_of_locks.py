"""The orders have eyes: a verb that forgets a lock is caught by a pair, though alone it answers as it should."""

import pytest

from django_jobqueue.store import locked
from tests.interleavings import people, workers
from tests.interleavings.orders import Meeting
from tests.model.mutants import code, sql
from tests.store.hands import COMMITS

pytestmark = COMMITS

CLAIM = sql("claim without a lock", ("ready_in_order", "FOR UPDATE SKIP LOCKED", ""))
RESCUE = sql("rescue scans without a lock", ("rescue", "FOR UPDATE SKIP LOCKED", ""))
PROMOTE = sql("promote without a lock", ("promote", "FOR UPDATE SKIP LOCKED", ""))
RENEW = sql("renew without a lock", ("renew", "FOR NO KEY UPDATE OF job SKIP LOCKED", ""))
RECOVER = sql("recover without a lock", ("recover", "FOR UPDATE SKIP LOCKED", ""))
JOB = code("a person changes a job without a lock", locked.job, ".select_for_update(no_key=True)", "")
LETTER = code("a person changes a letter without a lock", locked.letter, ".select_for_update(no_key=True)", "")

CAUGHT = [
    (CLAIM, workers.claim_claim),
    (CLAIM, workers.claim_cancel),
    (RESCUE, workers.finish_rescue),
    (RESCUE, workers.renew_rescue),
    (RESCUE, workers.give_back_rescue),
    (RESCUE, workers.release_rescue),
    (RESCUE, workers.atomic_rescue),
    (PROMOTE, workers.promote_cancel),
    (RENEW, workers.finish_renew),
    (RENEW, workers.atomic_renew),
    (RECOVER, workers.recover_rescue),
    (JOB, workers.claim_cancel),
    (JOB, workers.cancel_cancel),
    (JOB, workers.claim_cancel_by_force),
    (JOB, workers.atomic_cancel),
    (JOB, workers.give_back_cancel),
    (LETTER, people.discard_discard),
]


@pytest.mark.parametrize(
    ("mutant", "pair"),
    [pytest.param(mutant, pair, id=f"{mutant.name}: {pair.__name__}") for mutant, pair in CAUGHT],
)
def test_a_forgotten_lock_is_noticed(sides, mutant, pair):
    """Some order of these two verbs ends like no serial one, or breaks the law, when a lock is missing."""
    with mutant.make(), pytest.raises(AssertionError):
        Meeting(sides, pair).check()
