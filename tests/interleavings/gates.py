"""Those who admit, and those who give slots and turns back, change limits, or come late.

Each function sets the stage and answers with what the two sides do. What is compared is what is left when the next
cycles have admitted whom there is room for: a look that found another one at it is as good as one that came later.
"""

from django.db import transaction

from tests.interleavings.deeds import (
    ANN,
    BEN,
    admit,
    admit_all,
    at_once,
    cancel,
    claim,
    claim_behind_the_gate,
    dead,
    discard,
    do,
    due,
    enqueue_in_line,
    give_back,
    look_for_admission,
    over,
    parked,
    promote,
    ready,
    replay,
    rescue,
    rescue_and_settle,
    run_the_atomic_task,
    running,
    set_limit,
    settle,
    unpark,
    waiting,
)
from tests.model import invariants, state
from tests.store.hands import BURY, FINISH, RELEASE, RETRY_NOW, TASK

ONE = {"task_limit": 1}
TWO = {"concurrency_key": "k", "key_limit": 2}
LINE = {"order_key": "k"}
BLOCKING = {"order_key": "k", "order_blocks": True}

# --- Slots


def admit_admit():
    waiting(3, **TWO)
    return look_for_admission(), look_for_admission()


def admit_beside_a_more_urgent_one():
    """The other has just asked for a job that goes before all that waits, and admits too."""
    waiting(2, **ONE)

    def enqueue_and_admit():
        waiting(priority=9, **ONE)
        at_once(*admit())

    return look_for_admission(), enqueue_and_admit


def admit_claim():
    ready(**TWO)
    waiting(2, **TWO)
    return look_for_admission(), do(claim(ANN, 2))


def admit_finish():
    (job_id,) = running(**ONE)
    waiting(2, **ONE)
    return look_for_admission(), do(*settle(FINISH, job_id))


def admit_retry():
    (job_id,) = running(**ONE)
    waiting(**ONE)
    return look_for_admission(), do(*settle(RETRY_NOW, job_id))


def admit_bury():
    (job_id,) = running(**ONE)
    waiting(**ONE)
    return look_for_admission(), do(*settle(BURY, job_id))


def admit_release():
    (job_id,) = running(**ONE)
    waiting(**ONE)
    return look_for_admission(), do(*settle(RELEASE, job_id))


def admit_give_back():
    (job_id,) = running(**ONE)
    waiting(**ONE)
    return look_for_admission(), do(give_back(job_id))


def admit_atomic():
    (job_id,) = running(**ONE)
    waiting(**ONE)
    return look_for_admission(), run_the_atomic_task(job_id)


def admit_rescue():
    over(**ONE)
    waiting(**ONE)
    return look_for_admission(), do(rescue(BEN))


def admit_rescue_and_settle():
    over(**ONE)
    waiting(**ONE)
    return look_for_admission(), rescue_and_settle(BEN)


def admit_promote():
    due(**ONE)
    waiting(**ONE)
    return look_for_admission(), do(promote())


def admit_unpark():
    parked(**ONE)
    waiting(**ONE)
    return look_for_admission(), do(unpark())


def admit_replay():
    job_id = dead(**ONE)
    waiting(**ONE)
    return look_for_admission(), replay(job_id)


def admit_cancel():
    job_id, _ = waiting(2, **ONE)
    return look_for_admission(), cancel(job_id)


def admit_cancel_of_who_is_ready():
    (job_id,) = ready(**ONE)
    waiting(**ONE)
    return look_for_admission(), cancel(job_id)


def admit_cancel_of_who_runs():
    (job_id,) = running(**ONE)
    waiting(**ONE)
    return look_for_admission(), cancel(job_id)


# --- Limits that people change


def admit_lower():
    waiting(4, **TWO)
    return look_for_admission(), set_limit("key", "k", 1)


def admit_raise():
    ready(2, **TWO)
    waiting(2, **TWO)
    return look_for_admission(), set_limit("key", "k", 3)


def admit_take_back():
    set_limit("task", TASK, 3)()
    ready(1, **ONE)
    waiting(3, **ONE)
    return look_for_admission(), set_limit("task", TASK, None)


def claim_lower():
    ready(2, **TWO)
    return claim_behind_the_gate(ANN), set_limit("key", "k", 0)


def claim_by_group_lower():
    ready(2, **TWO)
    return claim_behind_the_gate(ANN, by_group=True), set_limit("key", "k", 0)


def release_lower():
    (job_id, *_) = running(2, **TWO)
    return do(*settle(RELEASE, job_id)), set_limit("key", "k", 1)


def lower_lower():
    ready(2, **TWO)
    return set_limit("key", "k", 1), set_limit("key", "k", 0)


def lower_cancel():
    job_id, _ = ready(2, **TWO)
    return set_limit("key", "k", 1), cancel(job_id)


# --- Turns


def admit_admit_in_line():
    waiting(2, **LINE)
    waiting(order_key="another")
    return look_for_admission(), look_for_admission()


def admit_claim_in_line():
    waiting(2, **LINE)
    return look_for_admission(), do(claim(ANN))


def admit_finish_in_line():
    (job_id,) = running(**LINE)
    waiting(**LINE)
    return look_for_admission(), do(*settle(FINISH, job_id))


def admit_retry_in_line():
    (job_id,) = running(**LINE)
    waiting(**LINE)
    return look_for_admission(), do(*settle(RETRY_NOW, job_id))


def admit_release_in_line():
    (job_id,) = running(**LINE, **ONE)
    waiting(**LINE, **ONE)
    return look_for_admission(), do(*settle(RELEASE, job_id))


def admit_rescue_in_line():
    over(**LINE)
    waiting(**LINE)
    return look_for_admission(), rescue_and_settle(BEN)


def admit_promote_in_line():
    due(**LINE, **ONE)
    waiting(**LINE, **ONE)
    return look_for_admission(), do(promote())


def admit_bury_in_line():
    (job_id,) = running(**LINE)
    waiting(**LINE)
    return look_for_admission(), do(*settle(BURY, job_id))


def admit_bury_what_blocks():
    (job_id,) = running(**BLOCKING)
    waiting(**BLOCKING)
    return look_for_admission(), do(*settle(BURY, job_id))


def admit_discard_what_blocks():
    job_id = dead(**BLOCKING)
    waiting(**BLOCKING)
    return look_for_admission(), discard(job_id)


def admit_replay_what_blocks():
    job_id = dead(**BLOCKING)
    waiting(**BLOCKING)
    return look_for_admission(), replay(job_id)


def admit_cancel_in_line():
    job_id, _ = waiting(2, **LINE)
    return look_for_admission(), cancel(job_id)


def admit_lower_in_line():
    waiting(2, **LINE, **TWO)
    return look_for_admission(), set_limit("key", "k", 0)


def admit_enqueue_in_line():
    waiting(**LINE)
    return look_for_admission(), enqueue_in_line("k")


PAIRS = [
    admit_admit,
    admit_beside_a_more_urgent_one,
    admit_claim,
    admit_finish,
    admit_retry,
    admit_bury,
    admit_release,
    admit_give_back,
    admit_atomic,
    admit_rescue,
    admit_rescue_and_settle,
    admit_promote,
    admit_unpark,
    admit_replay,
    admit_cancel,
    admit_cancel_of_who_is_ready,
    admit_cancel_of_who_runs,
    admit_lower,
    admit_raise,
    admit_take_back,
    claim_lower,
    claim_by_group_lower,
    release_lower,
    lower_lower,
    lower_cancel,
    admit_admit_in_line,
    admit_claim_in_line,
    admit_finish_in_line,
    admit_retry_in_line,
    admit_release_in_line,
    admit_rescue_in_line,
    admit_promote_in_line,
    admit_bury_in_line,
    admit_bury_what_blocks,
    admit_discard_what_blocks,
    admit_replay_what_blocks,
    admit_cancel_in_line,
    admit_lower_in_line,
    admit_enqueue_in_line,
]

LOWERING = [claim_lower, claim_by_group_lower]
"""A claim, and the change of a limit to none of what it would take."""


# --- Who commits late


def enqueue_late():
    """The one has its id first and may commit last; each admits when it has."""

    def enqueue_and_admit():
        enqueue_in_line("k")()
        at_once(*admit()[:2])

    return enqueue_and_admit, enqueue_and_admit


def enqueue_late_while_one_ends():
    """The one may commit when the turn goes on from the job that ran to the one that waits."""
    (job_id,) = running(**LINE)

    def enqueue_and_go_on():
        enqueue_in_line("k")()
        at_once(*settle(FINISH, job_id), *admit()[:2])

    return enqueue_in_line("k"), enqueue_and_go_on


LATE = [enqueue_late, enqueue_late_while_one_ends]


def run_in_line():
    """Run all that there is: whoever has its turn first, uninterrupted, and then the others by their ids."""
    started = []
    while True:
        admit_all()
        invariants.check(state.read(), state.limits())
        (claimed,) = at_once(claim(BEN, 100))
        if not claimed:
            break
        started += [job.id for job in claimed]
        at_once(*settle(FINISH, *[job.id for job in claimed], token=BEN))
    assert {job.status for job in state.read().values()} == {"SUCCESSFUL"}
    assert started[1:] == sorted(started[1:])


# --- Several verbs in one transaction


def two_cycles_that_admit():
    """Two keepers that each end a job, admit and claim: who admits does not wait for who does."""
    one, two = running(2, **TWO)
    waiting(3, **TWO)
    return (
        do(*settle(FINISH, one), *admit(), claim(ANN, 2)),
        do(*settle(RETRY_NOW, two), *admit(), claim(BEN, 2)),
    )


def a_cycle_and_a_lower_limit_after_a_cancel():
    """A person who cancels a job and lowers its limit; a keeper who settles it, and admits the next."""
    job_id, _ = running(2, **TWO)
    waiting(2, **TWO)

    def throttle():
        with transaction.atomic():
            return [cancel(job_id)()[0], set_limit("key", "k", 1)()]

    return do(*settle(RELEASE, job_id), *admit()), throttle


TOGETHER = [two_cycles_that_admit, a_cycle_and_a_lower_limit_after_a_cancel]
"""Several verbs in one transaction."""
