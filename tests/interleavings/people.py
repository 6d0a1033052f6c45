"""Producers and people who meet each other, and workers: unique keys and dead letters.

Each function sets the stage and answers with what the two sides do.
"""

from django.db import transaction

from django_jobqueue.operations import cancel_many
from django_jobqueue.store.control import hold
from tests.interleavings.deeds import (
    ANN,
    BEN,
    SIGNED,
    cancel,
    claim,
    claim_behind_the_gate,
    dead,
    discard,
    do,
    due,
    enqueue_unique,
    over,
    pause,
    pause_task,
    promote,
    ready,
    replay,
    replayed,
    rescue,
    resume,
    running,
    running_again,
    settle,
)
from tests.store.hands import BURY, FINISH, RELEASE, RETRY_NOW

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


# --- Pauses


def claim_pause():
    ready(2)
    return claim_behind_the_gate(ANN), pause()


def claim_by_group_pause():
    ready(2)
    return claim_behind_the_gate(ANN, by_group=True), pause("def*")


def claim_pause_of_a_task():
    ready(2)
    return claim_behind_the_gate(ANN), pause_task()


def claim_resume():
    ready(2)
    pause()()
    return claim_behind_the_gate(ANN), resume()


def claim_by_group_resume():
    ready(2)
    pause("*")()
    return claim_behind_the_gate(ANN, by_group=True), resume("*")


def pause_pause():
    return pause(), pause(reason="so do I")


def pause_resume():
    pause()()
    return pause(), resume()


def resume_resume():
    pause()()
    return resume(), resume()


# --- Several verbs in one transaction


def two_cycles():
    """Two keepers, each with all that a cycle may do; one is late, and the other rescues from it."""
    late, *others = over(), ready(2), due()
    assert others
    return (
        do(*settle(FINISH, *late), promote(), rescue(ANN), claim(ANN, 2)),
        do(promote(), rescue(BEN), claim(BEN, 2)),
    )


def a_cycle_and_many_cancels():
    """A keeper writes successes before all else; a person changes the same rows in the order of their ids."""
    first, second = running(2)
    ready(2)

    def cancel_all():
        with transaction.atomic():
            return [
                receipt.refused is None for receipt in cancel_many([first, second, first + 2, second + 2], **SIGNED)
            ]

    return do(*settle(RELEASE, first), *settle(FINISH, second), claim(ANN, 2)), cancel_all


def a_cycle_and_a_pause_before_a_cancel():
    """A person who stops a queue and then its jobs; a keeper who settles one of them and claims."""
    (job_id,) = running()
    ready()

    def stop():
        with transaction.atomic():
            return [pause()(), cancel(job_id)()[0]]

    return do(*settle(RELEASE, job_id), hold(), claim(ANN, 2)), stop


def a_cycle_and_a_pause_after_a_cancel():
    """The same in the other order: the row first, the gate then."""
    (job_id,) = running()
    ready()

    def stop():
        with transaction.atomic():
            return [cancel(job_id)()[0], pause()()]

    return do(*settle(RELEASE, job_id), hold(), claim(ANN, 2)), stop


PAIRS = [
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
    claim_pause,
    claim_by_group_pause,
    claim_pause_of_a_task,
    claim_resume,
    claim_by_group_resume,
    pause_pause,
    pause_resume,
    resume_resume,
]

PAUSING = [claim_pause, claim_by_group_pause, claim_pause_of_a_task]
"""A claim, and the pause of what it would take."""

LONG = [replay_of_twins]
"""Each side has ten steps, and locks nothing that the other wants before the sixth."""

TOGETHER = [
    two_cycles,
    a_cycle_and_many_cancels,
    a_cycle_and_a_pause_before_a_cancel,
    a_cycle_and_a_pause_after_a_cancel,
]
"""Several verbs in one transaction."""
