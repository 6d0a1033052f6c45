"""Workers who meet workers: claims, rescues, and the end of an attempt.

Each function sets the stage and answers with what the two sides do.
"""

from tests.interleavings.deeds import (
    ANN,
    BEN,
    at_once,
    bury_parked,
    cancel,
    claim,
    dead,
    do,
    due,
    give_back,
    migrate,
    over,
    park,
    parked,
    promote,
    ready,
    recover,
    renew,
    replay,
    rescue,
    rescue_and_settle,
    run_the_atomic_task,
    running,
    running_again,
    settle,
    settled_before,
    unpark,
)
from tests.store.hands import BURY, FINISH, LOST, RELEASE, RETRY_NOW

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


def claim_cancel_by_force():
    (job_id,) = ready()
    return do(claim(ANN)), cancel(job_id, force=True)


def claim_migrate():
    ready(2)
    return do(claim(ANN)), migrate()


def claim_by_group_migrate():
    ready(2)
    return do(claim(ANN, by_group=True)), migrate()


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


def release_rescue():
    (job_id,) = over()
    return do(*settle(RELEASE, job_id)), do(rescue(BEN))


def atomic_rescue():
    (job_id,) = over()
    return run_the_atomic_task(job_id), do(rescue(BEN))


def atomic_rescue_and_settle():
    (job_id,) = over()
    return run_the_atomic_task(job_id), rescue_and_settle(BEN)


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


def atomic_cancel():
    (job_id,) = running()
    return run_the_atomic_task(job_id), cancel(job_id)


def atomic_cancel_by_force():
    (job_id,) = running()
    return run_the_atomic_task(job_id), cancel(job_id, force=True)


def atomic_of_a_replayed_job_cancel():
    job_id = running_again()
    return run_the_atomic_task(job_id), cancel(job_id)


def atomic_renew():
    (job_id,) = running()
    return run_the_atomic_task(job_id), do(renew(job_id))


def atomic_twice():
    """The same order in two runners: a copy of the process has come back."""
    (job_id,) = running()
    return run_the_atomic_task(job_id), run_the_atomic_task(job_id)


def give_back_cancel():
    (job_id,) = running()
    return do(give_back(job_id)), cancel(job_id)


def give_back_cancel_by_force():
    (job_id,) = running()
    return do(give_back(job_id)), cancel(job_id, force=True)


# --- An outcome that may have been written


def ask_whether_written_lost():
    """It was not: the rescuer who settles meanwhile writes in the name of the one who asks, but other words."""
    (job_id,) = over()
    at_once(rescue(BEN))
    return do(settled_before(RETRY_NOW, job_id)), do(*settle(LOST, job_id, token=BEN))


def ask_whether_written_rescue_and_settle():
    (job_id,) = over()
    return do(settled_before(FINISH, job_id)), rescue_and_settle(BEN)


def ask_whether_written_finish():
    """It was, and the job has gone on: its next attempt ends meanwhile."""
    (job_id,) = running()
    at_once(*settle(RELEASE, job_id))
    at_once(claim(ANN))
    return do(settled_before(RELEASE, job_id)), do(*settle(FINISH, job_id, token=ANN))


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


# --- Tasks that nobody knows


def park_park():
    ready(2)
    return park(), park()


def park_claim():
    ready(2)
    return park(), do(claim(ANN))


def park_cancel():
    (job_id,) = ready()
    return park(), cancel(job_id)


def unpark_unpark():
    parked()
    parked()
    return do(unpark()), do(unpark())


def unpark_cancel():
    return do(unpark()), cancel(parked())


def unpark_bury():
    parked()
    return do(unpark()), do(bury_parked())


def bury_parked_twice():
    parked()
    parked()
    return do(bury_parked()), do(bury_parked())


def bury_parked_cancel():
    return do(bury_parked()), cancel(parked())


PAIRS = [
    park_park,
    park_claim,
    park_cancel,
    unpark_unpark,
    unpark_cancel,
    unpark_bury,
    bury_parked_twice,
    bury_parked_cancel,
    claim_claim,
    claim_claim_by_group,
    claim_cancel,
    claim_by_group_cancel,
    claim_cancel_by_force,
    claim_migrate,
    claim_by_group_migrate,
    claim_promote,
    claim_replay,
    claim_give_back,
    claim_release,
    finish_rescue,
    retry_rescue,
    bury_rescue,
    finish_half_a_batch_rescue,
    release_rescue,
    atomic_rescue,
    atomic_rescue_and_settle,
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
    atomic_cancel,
    atomic_cancel_by_force,
    atomic_of_a_replayed_job_cancel,
    atomic_renew,
    atomic_twice,
    give_back_cancel,
    give_back_cancel_by_force,
    ask_whether_written_lost,
    ask_whether_written_rescue_and_settle,
    ask_whether_written_finish,
    promote_promote,
    promote_cancel,
    cancel_cancel,
]
