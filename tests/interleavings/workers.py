"""Workers who meet workers: claims, rescues, and the end of an attempt.

Each function sets the stage and answers with what the two sides do.
"""

from tests.interleavings.deeds import (
    ANN,
    BEN,
    cancel,
    claim,
    dead,
    do,
    due,
    give_back,
    over,
    promote,
    ready,
    recover,
    renew,
    replay,
    rescue,
    rescue_and_settle,
    running,
    running_again,
    settle,
)
from tests.store.hands import BURY, FINISH, RELEASE, RETRY_NOW

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
]
