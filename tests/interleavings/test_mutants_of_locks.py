"""The orders have eyes: a verb that forgets a lock is caught by a pair, though alone it answers as it should."""

import pytest

from django_jobqueue.store import admit, control, limits, locked
from tests.interleavings import gates, people, workers
from tests.interleavings.deeds import admit_all
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


LOCK, EARLY = "SELECT pg_advisory_xact_lock(%s)", "SELECT pg_advisory_lock(%s), pg_advisory_unlock_all()"

UNKEPT = "(pg_try_advisory_lock_shared(%(lock)s) AND pg_advisory_unlock_shared(%(lock)s))"

GATE = [
    code("a pause waits for no claim", control.exclusively, "advisory_xact_lock(", "advisory_xact_lock_shared("),
    code("a pause lets claims in before it commits", control.exclusively, LOCK, EARLY),
    sql(
        "a claim does not look at the gate",
        ("ready_in_order", "<> 'true'", "<> 'never'"),
        ("ready_by_group", "<> 'true'", "<> 'never'"),
    ),
    sql("a claim does not keep the gate", ("hold", "pg_try_advisory_xact_lock_shared(%(lock)s)", UNKEPT)),
]


@pytest.mark.parametrize("pair", people.PAUSING, ids=lambda pair: pair.__name__)
@pytest.mark.parametrize("mutant", GATE, ids=lambda mutant: mutant.name)
def test_a_gate_that_does_not_close_is_noticed(sides, mutant, pair):
    """Some order commits a claim after the pause, where one of the two takes the lock in another way."""
    with mutant.make(), pytest.raises(AssertionError, match="claimed after the pause"):
        Meeting(sides, pair).check_pause()


TRIED, ALONE = (
    "pg_try_advisory_xact_lock(%(lock)s)",
    "(pg_try_advisory_lock(%(lock)s) AND pg_advisory_unlock(%(lock)s))",
)

NO_LOCK = sql("who admits does not ask for the lock", ("admit_lock", TRIED, "true"))
DROPPED = sql("who admits does not keep the lock", ("admit_lock", TRIED, ALONE))
SLOTS = sql("slots are given without a lock of the row", ("admit_limited", "FOR UPDATE SKIP LOCKED", ""))
TURNS = sql("turns are given without a lock of the row", ("admit_ordered", "FOR UPDATE SKIP LOCKED", ""))
IMPATIENT = code("a limit waits for nobody who admits", admit.exclusively, LOCK, "SELECT %s::bigint")
UNLOCKED = code("a limit is changed beside who admits", limits.set_limit, "admit.exclusively(using)", "pass")

ADMISSION = [
    (NO_LOCK, gates.admit_beside_a_more_urgent_one),
    (NO_LOCK, gates.enqueue_late),
    (DROPPED, gates.admit_beside_a_more_urgent_one),
    (DROPPED, gates.enqueue_late),
    (SLOTS, gates.admit_cancel),
    (TURNS, gates.admit_cancel_in_line),
    (IMPATIENT, gates.admit_lower),
    (UNLOCKED, gates.admit_lower),
]


@pytest.mark.parametrize(
    ("mutant", "pair"),
    [pytest.param(mutant, pair, id=f"{mutant.name}: {pair.__name__}") for mutant, pair in ADMISSION],
)
def test_a_lock_that_admission_forgets_is_noticed(sides, mutant, pair):
    """Some order of two who admit, or of one and a person, has more run at once than may, or breaks the law."""
    meeting = Meeting(sides, pair, then=admit_all)

    with mutant.make(), pytest.raises(AssertionError):
        meeting.check_laws() if pair in gates.LATE else meeting.check()
