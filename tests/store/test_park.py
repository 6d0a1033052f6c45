"""What no living worker knows is put aside, taken back when one knows it, and buried when nobody has for too long."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db.models.functions import Now

from django_jobqueue.models import DeadLetter, Job, Worker
from django_jobqueue.policy.fingerprint import fingerprint
from django_jobqueue.policy.outcomes import Failure
from django_jobqueue.store.cancel import cancel
from django_jobqueue.store.claim import ALL_ONE, Serving
from django_jobqueue.store.park import Parked, bury_parked, park, parked, unpark
from django_jobqueue.store.replay import replay
from django_jobqueue.store.workers import WorkerCard, announce_worker
from tests.store.hands import COMMITS, TASK, add_job, at, locked

pytestmark = COMMITS


def unknown(worker, served=(), excluded=(), versions=ALL_ONE):
    """Name what this worker does not know, of all that is due."""
    serving = Serving(tuple(served), tuple(excluded))
    (names,) = worker.session.run(
        park(backend="default", tasks=[TASK], versions=versions, serving=serving, older_than_seconds=-1)
    )
    return names


def test_due_tasks_without_a_function_are_named(worker):
    """A task that the worker does not know is named once; one that it knows is not, nor one of another backend."""
    for task, more in [(TASK, {}), ("gone", {}), ("gone", {}), ("elsewhere", {"backend": "other"})]:
        add_job(task=task, **more)

    assert unknown(worker) == {"gone"}


def test_due_versions_that_are_too_new_are_named(worker):
    """With the version, because the task is known."""
    for version in (1, 2, 3, 3):
        add_job(task=TASK, version=version)

    assert unknown(worker, versions={TASK: 2}) == {f"{TASK} v3"}


@pytest.mark.parametrize(
    ("served", "excluded", "named"),
    [((), (), {"a", "b"}), (["mail"], (), {"a"}), (["m%"], (), {"a"}), ((), ["mail"], {"b"}), (["nope"], (), set())],
)
def test_queues_of_others_are_not_this_workers_matter(worker, served, excluded, named):
    """A worker names only tasks in queues that it takes jobs from."""
    add_job(task="a", queue_name="mail")
    add_job(task="b", queue_name="web")

    assert unknown(worker, served, excluded) == named


def announce(worker, **columns):
    """Let a worker say which tasks it knows."""
    card = WorkerCard(**{**CARD, "id": uuid4(), **columns})
    worker.session.run(announce_worker(card, running=0, stale_refused=0))
    return Worker.objects.filter(pk=card.id)


CARD = {
    "backend": "default",
    "hostname": "h",
    "pid": 1,
    "queues": (),
    "tasks": {"gone": 2},
    "processes": 1,
    "threads": 1,
    "coroutines": 1,
}


def look(*ids):
    return [Job.objects.values_list("status", "waiting_for").get(pk=each) for each in ids]


READY, PARKED = ("READY", ""), ("WAITING", "worker")


def test_what_no_living_worker_knows_is_parked(worker):
    """By task and version; what is known here, or of queues that are not served, stays."""
    announce(worker, tasks={TASK: 1})
    jobs = [add_job(task="gone"), add_job(task=TASK, version=2), add_job(), add_job(task="gone", queue_name="other")]

    unknown(worker, excluded=["other"])

    assert look(*jobs) == [PARKED, PARKED, READY, READY]
    assert Job.objects.get(pk=jobs[0]).parked_at is not None
    assert Job.objects.get(pk=jobs[0]).attempt_count == 0


@pytest.mark.parametrize(
    ("columns", "more", "parked"),
    [
        ({}, {}, False),
        ({"tasks": {"gone": 1}}, {}, True),
        ({"backend": "other"}, {}, True),
        ({}, {"stopped_at": Now()}, True),
        ({}, {"last_seen_at": Now() - timedelta(seconds=61)}, True),
        ({}, {"last_seen_at": Now() - timedelta(seconds=50)}, False),
    ],
    ids=["knows it", "an older version", "of another backend", "stopped", "silent", "heard of"],
)
def test_what_another_living_worker_knows_is_left_to_it(worker, columns, more, parked):
    """It may only be slow: its backlog does not go to and fro."""
    announce(worker, **columns).update(**{"last_seen_at": Now(), **more})
    job = add_job(task="gone", version=2)

    assert unknown(worker) == {"gone"}
    assert look(job) == [PARKED if parked else READY]


def test_a_worker_takes_back_what_it_knows(worker):
    """Of its backend, up to its version; the clock of the dead letter starts anew next time."""
    parked = {"status": "WAITING", "waiting_for": "worker", "parked_at": at(-9)}
    jobs = [
        add_job(**{**parked, **more})
        for more in ({}, {"version": 2}, {"version": 3}, {"task": "gone"}, {"backend": "other"})
    ]

    (queues,) = worker.session.run(unpark(backend="default", tasks=["a", TASK], versions={TASK: 2}))

    assert queues == ["default"] * 2
    assert look(*jobs) == [READY, READY, PARKED, PARKED, PARKED]
    assert Job.objects.get(pk=jobs[0]).parked_at is None


def test_what_nobody_has_known_for_too_long_is_buried(worker):
    """With its payload and its attempts untouched; the letter says whether it is the task or the version."""
    parked = {"status": "WAITING", "waiting_for": "worker", "parked_at": at(-100), "args": [1], "attempt_count": 0}
    gone, newer, fresh = (
        add_job(**{**parked, **more})
        for more in ({"task": "gone"}, {"version": 2}, {"task": "gone", "parked_at": at(-80)})
    )

    (buried,) = worker.session.run(bury_parked(backend="default", tasks=[TASK], after_seconds=90))

    assert sorted(buried) == [(gone, "gone", "unknown_task"), (newer, TASK, "unknown_version")]
    assert look(gone, newer, fresh) == [("FAILED", ""), ("FAILED", ""), PARKED]
    letter = DeadLetter.objects.get(job=gone)
    assert (letter.status, letter.reason, letter.deaths) == ("OPEN", "unknown_task", 1)
    assert letter.fingerprint == fingerprint("gone", "unknown_task", Failure("", ""))
    assert Job.objects.get(pk=gone).args == [1]
    assert Job.objects.get(pk=gone).finished_at is not None


def test_what_is_known_by_now_is_not_buried(worker):
    """After a week-end without workers: what this one knows, or another one that lives, is taken back in its turn."""
    parked = {"status": "WAITING", "waiting_for": "worker", "parked_at": at(-100)}
    jobs = [add_job(**parked, version=2), add_job(**parked, task="gone", version=2)]
    announce(worker, tasks={"gone": 2})

    (buried,) = worker.session.run(bury_parked(backend="default", tasks=[TASK], versions={TASK: 2}, after_seconds=90))

    assert buried == []
    assert look(*jobs) == [PARKED, PARKED]


def test_a_letter_of_before_is_opened_again(worker):
    """A job that was replayed, and still nobody knows, dies once more of it."""
    gone = add_job(task="gone", status="WAITING", waiting_for="worker", parked_at=at(-100))
    worker.session.run(bury_parked(backend="default", tasks=[TASK], after_seconds=90))
    replay(DeadLetter.objects.get().pk, by="ada", reason="", using="default")
    unknown(worker)
    Job.objects.filter(pk=gone).update(parked_at=at(-100))

    worker.session.run(bury_parked(backend="default", tasks=[TASK], after_seconds=90))

    letter = DeadLetter.objects.get()
    assert (letter.status, letter.deaths) == ("OPEN", 2)


def test_a_parked_job_can_be_cancelled(worker):
    """Nobody needs it any more; it is never taken back."""
    job = add_job(task="gone", status="WAITING", waiting_for="worker", parked_at=at(-9))
    cancel(job, by="ada", reason="", using="default")

    worker.session.run(unpark(backend="default", tasks=["gone"]))

    assert look(job) == [("CANCELLED", "")]


def test_a_row_that_somebody_holds_is_passed_over(worker):
    """Parking waits for nobody."""
    job = add_job(task="gone")
    with locked(job):
        unknown(worker)

    assert look(job) == [READY]


def test_what_waits_for_a_worker_is_counted_by_task_and_version(worker):
    """The most first; what is known here, or to another living worker, is about to be taken back and does not count."""
    for task, version, number in [("gone", 1, 3), ("gone", 2, 1), ("elsewhere", 1, 2), (TASK, 2, 1), (TASK, 1, 1)]:
        for _ in range(number):
            add_job(task=task, version=version, status="WAITING", waiting_for="worker", parked_at=Now())
    add_job(task="gone", version=1, backend="other", status="WAITING", waiting_for="worker", parked_at=Now())
    announce(worker, tasks={"elsewhere": 1})

    (found,) = worker.session.run(parked(backend="default", tasks=[TASK]))
    (bounded,) = worker.session.run(parked(backend="default", tasks=[TASK], limit=2))

    assert sorted(found) == [Parked("gone", 1, 3), Parked("gone", 2, 1), Parked(TASK, 2, 1)]
    assert found[0] == Parked("gone", 1, 3)
    assert sum(each.jobs for each in bounded) <= 2
