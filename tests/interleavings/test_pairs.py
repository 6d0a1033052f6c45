"""Whatever the order of their statements, two verbs leave what one after the other would have left.

Each function below sets the stage and answers with what the two sides do; a verb's refusal or its empty answer is part
of what is compared. A new verb meets here those that touch the same rows.
"""

import pytest

from tests.interleavings.deeds import (
    ANN,
    BEN,
    cancel,
    claim,
    dead,
    discard,
    do,
    due,
    enqueue_unique,
    give_back,
    over,
    promote,
    ready,
    recover,
    renew,
    replay,
    replayed,
    rescue,
    rescue_and_settle,
    running,
    running_again,
    settle,
)
from tests.interleavings.orders import Meeting
from tests.interleavings.stepping import WRITES_OR_LOCKS
from tests.store.hands import BURY, COMMITS, FINISH, RELEASE, RETRY_NOW

pytestmark = COMMITS

# --- Claims


def claim_claim():
    ready(3)
    return do(claim(ANN, 2)), do(claim(BEN, 2))


def claim_claim_by_group():
    ready(3)
    return do(claim(ANN, 2)), do(claim(BEN, 2, by_group=True))


def claim_cancel():
    (job_id,) = ready()
    return do(claim(ANN)), cancel(job_id)


def claim_by_group_cancel():
    (job_id,) = ready()
    return do(claim(ANN, by_group=True)), cancel(job_id)


def claim_promote():
    due()
    return do(claim(ANN)), do(promote())


def claim_replay():
    return do(claim(ANN)), replay(dead())


def claim_give_back():
    (job_id,) = running()
    return do(claim(ANN)), do(give_back(job_id))


def claim_release():
    (job_id,) = running()
    return do(claim(ANN)), do(*settle(RELEASE, job_id))


# --- Rescues


def finish_rescue():
    (job_id,) = over()
    return do(*settle(FINISH, job_id)), do(rescue(BEN))


def retry_rescue():
    (job_id,) = over()
    return do(*settle(RETRY_NOW, job_id)), do(rescue(BEN))


def bury_rescue():
    (job_id,) = over()
    return do(*settle(BURY, job_id)), do(rescue(BEN))


def finish_half_a_batch_rescue():
    ids = over(2)
    return do(*settle(FINISH, *ids)), do(rescue(BEN, 1))


def renew_rescue():
    (job_id,) = over()
    return do(renew(job_id)), do(rescue(BEN))


def give_back_rescue():
    (job_id,) = over()
    return do(give_back(job_id)), do(rescue(BEN))


def recover_rescue():
    over()
    return do(recover(ANN)), do(rescue(BEN))


def rescue_rescue():
    over(2)
    return do(rescue(ANN, 1)), do(rescue(BEN, 1))


def rescue_and_settle_twice():
    over()
    return rescue_and_settle(ANN), rescue_and_settle(BEN)


# --- The end of an attempt


def finish_cancel():
    (job_id,) = running()
    return do(*settle(FINISH, job_id)), cancel(job_id)


def release_cancel():
    (job_id,) = running()
    return do(*settle(RELEASE, job_id)), cancel(job_id)


def retry_cancel_of_a_replayed_job():
    job_id = running_again()
    return do(*settle(RETRY_NOW, job_id)), cancel(job_id)


def the_same_batch_twice():
    one, two = running(2)
    return do(*settle(FINISH, one), *settle(RETRY_NOW, two)), do(*settle(FINISH, one, two))


def finish_renew():
    (job_id,) = running()
    return do(*settle(FINISH, job_id)), do(renew(job_id))


def finish_recover():
    (job_id,) = running()
    return do(*settle(FINISH, job_id)), do(recover(BEN))


def promote_promote():
    due()
    due()
    return do(promote()), do(promote())


def promote_cancel():
    job_id = due()
    return do(promote()), cancel(job_id)


def cancel_cancel():
    (job_id,) = ready()
    return cancel(job_id), cancel(job_id)


# --- Unique keys


def enqueue_unique_twice():
    return enqueue_unique(), enqueue_unique()


def enqueue_unique_finish():
    (job_id,) = running(unique_key="k")
    return enqueue_unique(), do(*settle(FINISH, job_id))


def enqueue_unique_retry():
    (job_id,) = running(unique_key="k")
    return enqueue_unique(), do(*settle(RETRY_NOW, job_id))


def enqueue_unique_bury():
    (job_id,) = running(unique_key="k")
    return enqueue_unique(), do(*settle(BURY, job_id))


def enqueue_unique_cancel():
    (job_id,) = ready(unique_key="k")
    return enqueue_unique(), cancel(job_id)


def enqueue_unique_replay():
    return enqueue_unique(), replay(dead(unique_key="k"))


def replay_of_twins():
    return replay(dead(unique_key="k")), replay(dead(unique_key="k"))


# --- Dead letters


def replay_replay():
    job_id = dead()
    return replay(job_id), replay(job_id)


def replay_discard():
    job_id = dead()
    return replay(job_id), discard(job_id)


def discard_discard():
    job_id = dead()
    return discard(job_id), discard(job_id)


def replay_cancel():
    job_id = dead()
    return replay(job_id), cancel(job_id)


def cancel_replay_of_a_replayed_job():
    job_id = replayed()
    return cancel(job_id), replay(job_id)


def bury_replay():
    job_id = running_again()
    return do(*settle(BURY, job_id)), replay(job_id)


def bury_discard():
    job_id = running_again()
    return do(*settle(BURY, job_id)), discard(job_id)


def finish_replay():
    job_id = running_again()
    return do(*settle(FINISH, job_id)), replay(job_id)


def finish_discard():
    job_id = running_again()
    return do(*settle(FINISH, job_id)), discard(job_id)


PAIRS = [
    claim_claim,
    claim_claim_by_group,
    claim_cancel,
    claim_by_group_cancel,
    claim_promote,
    claim_replay,
    claim_give_back,
    claim_release,
    finish_rescue,
    retry_rescue,
    bury_rescue,
    finish_half_a_batch_rescue,
    renew_rescue,
    give_back_rescue,
    recover_rescue,
    rescue_rescue,
    rescue_and_settle_twice,
    finish_cancel,
    release_cancel,
    retry_cancel_of_a_replayed_job,
    the_same_batch_twice,
    finish_renew,
    finish_recover,
    promote_promote,
    promote_cancel,
    cancel_cancel,
    enqueue_unique_twice,
    enqueue_unique_finish,
    enqueue_unique_retry,
    enqueue_unique_bury,
    enqueue_unique_cancel,
    enqueue_unique_replay,
    replay_of_twins,
    replay_replay,
    replay_discard,
    discard_discard,
    replay_cancel,
    cancel_replay_of_a_replayed_job,
    bury_replay,
    bury_discard,
    finish_replay,
    finish_discard,
]


LONG = [replay_of_twins]
"""Each side has ten steps, and locks nothing that the other wants before the sixth."""


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.__name__)
def test_every_order_ends_like_a_serial_one(sides, counted, pair):
    """Two verbs that meet leave the rows, and give the answers, of one after the other, and break no invariant."""
    if pair in LONG:
        for side in sides.values():
            side.steps = WRITES_OR_LOCKS

    counted[pair.__name__] = Meeting(sides, pair).check()

    assert counted[pair.__name__] > 1
