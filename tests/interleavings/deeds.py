"""What a side does, and the rows that it finds. Tokens and workers are fixed, so that two runs can be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from django_jobqueue.exceptions import LeaseLost
from django_jobqueue.models import Job
from django_jobqueue.policy.outcomes import Succeeded
from django_jobqueue.policy.retry import Decision
from django_jobqueue.store import cancel as cancel_verb
from django_jobqueue.store import claim as claim_verb
from django_jobqueue.store import discard as discard_verb
from django_jobqueue.store import limits as limits_verb
from django_jobqueue.store import pause as pause_verb
from django_jobqueue.store import replay as replay_verb
from django_jobqueue.store.admit import admit_limited, admit_lock, admit_ordered
from django_jobqueue.store.claim import Claimed, Serving
from django_jobqueue.store.control import hold
from django_jobqueue.store.enqueue import Enqueued, Gates, NewJob, enqueue
from django_jobqueue.store.give_back import give_back as give_back_verb
from django_jobqueue.store.park import BuriedUnknown
from django_jobqueue.store.park import bury_parked as bury_parked_verb
from django_jobqueue.store.park import park as park_verb
from django_jobqueue.store.park import unpark as unpark_verb
from django_jobqueue.store.promote import promote as promote_verb
from django_jobqueue.store.renew import Lease, Renewal
from django_jobqueue.store.renew import renew as renew_verb
from django_jobqueue.store.rescue import TakenOver
from django_jobqueue.store.rescue import recover as recover_verb
from django_jobqueue.store.rescue import rescue as rescue_verb
from django_jobqueue.store.session import PLAN_GUARD
from django_jobqueue.store.settle import Settlement
from django_jobqueue.store.settle import settle as settle_verb
from django_jobqueue.store.settle import settled_before as settled_before_verb
from django_jobqueue.store.statement import Statement, run_on
from django_jobqueue.store.transaction import read_committed
from django_jobqueue.worker.atomic import run_atomic
from tests.model.mirror import letter_of
from tests.stage.models import Trace
from tests.store.hands import BURY, LOST, TASK, add_job, at

Deed = Callable[[], Any]

OWNER, ANN, BEN = UUID(int=0xF), UUID(int=0xA), UUID(int=0xB)
"""Workers, and the tokens that they claim under: who had the job before, and the two who meet."""

SIGNED: dict[str, Any] = {"by": "ada", "reason": "", "using": "default"}


def at_once(*statements: Statement[Any]) -> list[Any]:
    """Run a worker's statements in one transaction, as its session does, but a step at a time."""
    with read_committed("default"):
        with connection.cursor() as cursor:
            cursor.execute(PLAN_GUARD)
        return [run_on(connection, statement) for statement in statements]


# --- What there is


def ready(count: int = 1, **columns: Any) -> list[int]:
    return [add_job(run_after=at(-60), **columns) for _ in range(count)]


def due(**columns: Any) -> int:
    """A job that waited, and whose time has come."""
    return add_job(status="WAITING", waiting_for="time", run_after=at(-60), **columns)


def waiting(count: int = 1, **columns: Any) -> list[int]:
    """Jobs that wait for their turn, or for a slot, by their columns."""
    waiting_for = "order" if "order_key" in columns else "limit"
    return ready(count, status="WAITING", waiting_for=waiting_for, **columns)


def parked(**columns: Any) -> int:
    """A job that nobody has known for too long."""
    return add_job(status="WAITING", waiting_for="worker", run_after=at(-60), parked_at=at(-100), **columns)


def running(count: int = 1, **columns: Any) -> list[int]:
    """Jobs of the owner's."""
    ids = ready(count, **columns)
    at_once(claim(OWNER, count))
    return ids


def over(count: int = 1, **columns: Any) -> list[int]:
    """Jobs of the owner's, who has not renewed their leases."""
    ids = running(count, **columns)
    Job.objects.filter(pk__in=ids).update(lease_expires_at=at(-60))
    return ids


def dead(**columns: Any) -> int:
    (job_id,) = running(**columns)
    at_once(*settle(BURY, job_id))
    return job_id


def replayed(**columns: Any) -> int:
    job_id = dead(**columns)
    replay(job_id)()
    return job_id


def running_again(**columns: Any) -> int:
    job_id = replayed(**columns)
    at_once(claim(OWNER))
    return job_id


# --- A worker's statements


def claim(worker: UUID, limit: int = 1, *, by_group: bool = False) -> Statement[Any]:
    return claim_verb.claim(
        backend="default",
        tasks=(TASK,),
        serving=Serving(),
        limit=limit,
        token=worker,
        worker_id=worker,
        lease_seconds=3600,
        by_group=by_group,
    )


def settle(decision: Decision, *ids: int, token: UUID = OWNER) -> list[Statement[Any]]:
    return settle_verb([Settlement(job_id, token, decision, TASK) for job_id in ids])


def settled_before(decision: Decision, *ids: int) -> Statement[Any]:
    """Ask what the owner has written of this, in a first attempt, without hearing of it."""
    doubtful = [Settlement(job_id, OWNER, decision, TASK, attempt_number=1) for job_id in ids]
    return settled_before_verb(doubtful, worker_id=OWNER)


def renew(*ids: int) -> Statement[Any]:
    return renew_verb([Lease(job_id, OWNER) for job_id in ids], lease_seconds=3600)


def give_back(*ids: int) -> Statement[Any]:
    return give_back_verb([Lease(job_id, OWNER) for job_id in ids])


def rescue(worker: UUID, limit: int = 100) -> Statement[Any]:
    return rescue_verb(backend="default", held_tokens=(), token=worker, lease_seconds=3600, limit=limit)


def recover(token: UUID) -> Statement[Any]:
    return recover_verb(worker_id=OWNER, lost_tokens={OWNER}, token=token, lease_seconds=3600)


def unpark() -> Statement[Any]:
    return unpark_verb(backend="default", tasks=[TASK])


def bury_parked() -> Statement[Any]:
    return bury_parked_verb(backend="default", tasks=["another.task"], after_seconds=60)


def promote() -> Statement[Any]:
    return promote_verb()


def admit() -> list[Statement[Any]]:
    """Give turns and slots, as a keeper does in its cycle."""
    return [admit_lock(), admit_ordered(), admit_limited()]


# --- Whole deeds


def do(*statements: Statement[Any]) -> Deed:
    """Run statements in one transaction."""
    return lambda: at_once(*statements)


def claim_behind_the_gate(worker: UUID, *, by_group: bool = False) -> Deed:
    """Claim as a worker does, who asks first whether somebody changes the rules. Only what it got is told.

    That the gate was closed is no loss: whoever asks again is told. For the oracle it is as if it had been asked later.
    """
    return lambda: at_once(hold(), claim(worker, by_group=by_group))[1]


def rescue_and_settle(worker: UUID) -> Deed:
    """Take over, and in a transaction of its own settle as lost: two moments, between which much may happen."""

    def deed() -> list[Any]:
        (taken,) = at_once(rescue(worker))
        return [taken, *at_once(*settle(LOST, *[job.id for job in taken], token=worker))]

    return deed


def run_the_atomic_task(job_id: int) -> Deed:
    """Have an effect and record the success in one transaction, as a runner of the owner's does.

    Answers whether it was committed, and how many effects there are then.
    """

    def call() -> Succeeded:
        Trace.objects.create(what="booked", job_id=job_id)
        return Succeeded('"booked"')

    def deed() -> tuple[bool, int]:
        try:
            run_atomic(call, lambda: None, job_id=job_id, token=OWNER, using="default")
        except LeaseLost:
            return False, Trace.objects.filter(job_id=job_id).count()
        return True, Trace.objects.filter(job_id=job_id).count()

    return deed


def park() -> Deed:
    """Put aside what a worker does not know, and no other one either; which names it has met is for the log."""

    def deed() -> None:
        at_once(park_verb(backend="default", tasks=["another.task"], serving=Serving(), older_than_seconds=0))

    return deed


def migrate() -> Deed:
    """Lock the table against everybody, as a migration does, and write rows under it."""

    def deed() -> int:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {Job._meta.db_table} IN ACCESS EXCLUSIVE MODE")
            return Job.objects.filter(status="READY").update(priority=7)

    return deed


def enqueue_unique(key: str = "k") -> Deed:
    """Ask for a job in a transaction of the caller's; answer which it is, and whether it is new."""

    def deed() -> Enqueued:
        with transaction.atomic():
            (row,) = enqueue([NewJob(TASK, unique_key=key)], using="default")
            return row

    return deed


def look_for_admission() -> Deed:
    """Admit whom there is room for. Who was admitted is seen in the rows; that another one was at it is no loss."""

    def deed() -> None:
        at_once(*admit())

    return deed


def admit_all() -> None:
    """Admit until nobody may be: what the next cycles do."""
    while True:
        _, turns, slots = at_once(*admit())
        if not (turns or slots.queues):
            return


def enqueue_in_line(order_key: str) -> Deed:
    """Ask for a job that waits for its turn, in a transaction of the caller's."""

    def deed() -> None:
        with transaction.atomic():
            enqueue([NewJob(TASK, gates=Gates(order_key=order_key))], using="default")

    return deed


def set_limit(kind: str, target: str, number: int | None) -> Deed:
    return lambda: str(limits_verb.set_limit(kind, target, number, **SIGNED))


def cancel(job_id: int, *, force: bool = False) -> Deed:
    def deed() -> tuple[str, bool]:
        job = cancel_verb.cancel(job_id, force=force, **SIGNED)
        return job.status, job.cancel_forced

    return deed


def replay(job_id: int) -> Deed:
    letter = letter_of(job_id)
    return lambda: replay_verb.replay(letter, **SIGNED).status


def discard(job_id: int) -> Deed:
    letter = letter_of(job_id)
    return lambda: discard_verb.discard(letter, **SIGNED).status


def pause(target: str = "default", **words: Any) -> Deed:
    """Pause a queue, or say so once more in other words."""
    signed = SIGNED | words
    return lambda: str(pause_verb.pause("queue", target, until=None, **signed))


def pause_task(target: str = TASK) -> Deed:
    return lambda: str(pause_verb.pause("task", target, until=None, **SIGNED))


def resume(target: str = "default") -> Deed:
    return lambda: str(pause_verb.resume("queue", target, **SIGNED))


def plain(answer: Any, places: Mapping[int, int]) -> Any:
    """Name jobs by their place among all: ids grow from run to run. Moments are left out."""
    match answer:
        case Renewal(renewed, lost, busy, unwanted):
            # Busy is no loss: whoever asks again is told. For the oracle it is as if it had been asked later.
            return plain(renewed, places), plain(lost | busy, places), plain(unwanted, places)
        case dict():
            return sorted((places[job_id], status) for job_id, status in answer.items())
        case (int(moved), _):
            return moved
        case list():
            return [plain(each, places) for each in answer]
        case frozenset():
            return sorted(places[lease.job_id] for lease in answer)
        case BuriedUnknown():
            return places[answer.id], answer.reason
        case Enqueued():
            return places[answer.id], answer.created
        case Claimed() | TakenOver():
            return places[answer.id], answer.attempt_number
    return answer
