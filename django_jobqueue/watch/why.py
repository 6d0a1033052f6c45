"""Why a job does not run: the facts around it, read in one moment, for `policy.why` to judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db import connections
from django.db.models import Count, Exists, ExpressionWrapper, F, OuterRef, Q, Value, fields
from django.db.models.functions import Coalesce, Now

from django_jobqueue import registry
from django_jobqueue.any_task import breaker_of
from django_jobqueue.database import queue_options
from django_jobqueue.declared_rates import declared_rates
from django_jobqueue.models import CircuitBreaker, DeadLetter, Job, Limit, Worker
from django_jobqueue.models.job import IN_A_SHARE, UNDER_A_LIMIT
from django_jobqueue.policy.breaker import State
from django_jobqueue.policy.lifecycle import Status, WaitingFor
from django_jobqueue.policy.why import Breaking, Facts, Pausing, Reason, Share, Slots, Tokens, reasons
from django_jobqueue.store.park import ALIVE_SECONDS
from django_jobqueue.store.pause import live
from django_jobqueue.store.rates import buckets_of
from django_jobqueue.store.session import PLAN_GUARD
from django_jobqueue.store.statement import run_on
from django_jobqueue.watch.glance import glance

COUNT_CAP = 1000
"""Ready jobs before this one that are counted; beyond that the answer is "more than"."""

HOLDERS = 5
"""Jobs that hold a slot which are named."""

BLOCKING = 100
"""Dead letters of one order key that are looked at."""


def why(job_id: int, *, using: str, workers: Sequence[Worker] | None = None) -> list[Reason]:
    """Say what stands in the way of a job, the nearest first. Raises Job.DoesNotExist, and OperationalError.

    It reads, under a time-out, and takes no lock: by the time you read it the queue has moved on. What it says has
    names and reasons in it that people and producers have written: hide what is secret in them where you show it.
    `workers` are those there are, where a caller knows better than the table.
    """
    with glance(using, settings=PLAN_GUARD):
        return reasons(_facts(job_id, using, workers))


def _facts(job_id: int, using: str, workers: Sequence[Worker] | None) -> Facts:
    due_in = ExpressionWrapper(F("run_after") - Now(), output_field=fields.DurationField())
    job = Job.objects.using(using).annotate(due_in=due_in, now=Now()).defer("args", "kwargs", "result").get(pk=job_id)
    workers = [*_alive(job, using)] if workers is None else workers
    serving = [worker for worker in workers if _matches_any(job.queue_name, worker.queues or ["*"])]
    ahead = _ahead(job, using) if job.status == Status.READY else 0
    return Facts(
        status=Status(job.status),
        queue_name=job.queue_name,
        task=job.task,
        version=job.version,
        waiting_for=job.waiting_for,
        due_in_seconds=max(0.0, job.due_in.total_seconds()),
        is_expired=job.expires_at is not None and job.expires_at <= job.now,
        cancel_requested=job.cancel_requested_at is not None,
        crash_count=job.crash_count,
        failure_count=job.failure_count,
        before_in_order=_before_in_order(job, using),
        letter_in_order=_letter_in_order(job, using),
        limits=_limits(job, using),
        share=_share(job, using) if job.waiting_for == WaitingFor.SHARE else None,
        pauses=_pauses(job, using),
        breaker=_breaker(job, using),
        rates=_rates(job, using),
        workers=len(workers),
        workers_of_queue=len(serving),
        workers_that_know=sum(worker.tasks.get(job.task, 0) >= job.version for worker in serving),
        ahead=min(ahead, COUNT_CAP),
        ahead_is_all=ahead <= COUNT_CAP,
    )


def _alive(job: Job, using: str) -> Iterable[Worker]:
    found = Worker.objects.using(using).filter(backend=job.backend, stopped_at__isnull=True)
    return found.extra(
        where=["last_seen_at > statement_timestamp() - make_interval(secs => %s)"], params=[ALIVE_SECONDS]
    )


def _matches_any(name: str, targets: Iterable[str]) -> bool:
    return any(name.startswith(each[:-1]) if each.endswith("*") else name == each for each in targets)


def _before(job: Job) -> Q:
    return Q(priority__gt=job.priority) | Q(priority=job.priority) & (
        Q(run_after__lt=job.run_after) | Q(run_after=job.run_after, pk__lt=job.pk)
    )


def _ahead(job: Job, using: str) -> int:
    # Each is a stretch of the index of claims. As one condition they would be a walk through all that is ready.
    stretches = (
        Q(priority__gt=job.priority),
        Q(priority=job.priority, run_after__lt=job.run_after),
        Q(priority=job.priority, run_after=job.run_after, pk__lt=job.pk),
    )
    ready = Job.objects.using(using).filter(status=Status.READY, backend=job.backend)
    if job.rate_key is None:
        in_order = ready.filter(rate_key__isnull=True).order_by("-priority", "run_after", "id")
    else:
        # Of those that wait for the same tokens.
        of_its_own = ready.filter(queue_name=job.queue_name, task=job.task, rate_key=job.rate_key)
        in_order = of_its_own.order_by("queue_name", "task", "rate_key", "-priority", "run_after", "id")
    return sum(in_order.filter(stretch)[: COUNT_CAP + 1].count() for stretch in stretches)


def _pauses(job: Job, using: str) -> list[Pausing]:
    return [
        Pausing(
            str(pause),
            pause.reason,
            pause.paused_by,
            pause.until.isoformat(timespec="minutes") if pause.until else "",
            pause.pk,
        )
        for pause in live(using)
        if pause.covers(queue_name=job.queue_name, task=job.task)
    ]


def _breaker(job: Job, using: str) -> Breaking | None:
    task = registry.find(job.task)
    rules = breaker_of(task) if task is not None else None
    if rules is None:
        return None
    probe_in = ExpressionWrapper(F("next_probe_at") - Now(), output_field=fields.DurationField())
    found = CircuitBreaker.objects.using(using).annotate(probe_in=probe_in)
    row = found.filter(name=rules.name).exclude(state=State.CLOSED).first()
    if row is None:
        return None
    since = row.opened_at.isoformat(timespec="seconds") if row.opened_at else ""
    seconds = row.probe_in.total_seconds() if row.probe_in is not None else None
    return Breaking(row.name, row.state, since, row.reason, row.set_by, seconds)


def _limits(job: Job, using: str) -> list[Slots]:
    declared = [
        ("key", job.concurrency_key, job.key_limit, Q(concurrency_key=job.concurrency_key, key_limit__isnull=False)),
        ("task", job.task, job.task_limit, Q(task=job.task, task_limit__isnull=False)),
        ("queue", job.queue_name, job.queue_limit, Q(queue_name=job.queue_name, queue_limit__isnull=False)),
    ]
    slots = []
    for kind, target, at_once, of_it in declared:
        if at_once is None or target is None:
            continue
        set_by_hand = (
            Limit.objects.using(using).filter(kind=kind, target=target).values_list("at_once", flat=True).first()
        )
        taken = Job.objects.using(using).filter(
            UNDER_A_LIMIT, of_it, backend=job.backend, status__in=[Status.READY, Status.RUNNING]
        )
        holders = taken.order_by("-status", "pk").values_list("pk", flat=True)
        slots.append(
            Slots(
                kind, target, at_once if set_by_hand is None else set_by_hand, taken.count(), tuple(holders[:HOLDERS])
            )
        )
    return slots


def _share(job: Job, using: str) -> Share:
    of_queue = Job.objects.using(using).filter(IN_A_SHARE, backend=job.backend, queue_name=job.queue_name)
    taken = dict(
        of_queue.filter(status__in=[Status.READY, Status.RUNNING])
        .values_list(Coalesce("concurrency_key", Value("")))
        .annotate(places=Count("pk"))
    )
    key = job.concurrency_key or ""
    ahead = (
        of_queue.annotate(tenant=Coalesce("concurrency_key", Value("")))
        .filter(_before(job), tenant=key, task=job.task, status=Status.WAITING, waiting_for=WaitingFor.SHARE)
        .order_by("-priority", "run_after", "id")[:COUNT_CAP]
    )
    return Share(key, taken.get(key, 0), sum(taken.values()), len(taken), ahead.count())


def _rates(job: Job, using: str) -> list[Tokens]:
    if job.status != Status.READY or job.rate_key is None:
        return []
    task = registry.find(job.task)
    rates = declared_rates({} if task is None else {job.task: task}, queue_options(job.backend))
    declared = {("queue", name): rate for name, rate in rates.queues.items()}
    declared |= {
        ("key", job.rate_key) if each.by_key else ("task", each.target): each.rate for each in rates.tasks.values()
    }
    job_of = {"backend": job.backend, "queue_name": job.queue_name, "task": job.task, "rate_key": job.rate_key}
    return [
        Tokens(each.kind, each.target, each.set_rate or str(declared[each.kind, each.target]), each.next_seconds)
        for each in run_on(connections[using], buckets_of(**job_of, rates=rates))
    ]


def _before_in_order(job: Job, using: str) -> int | None:
    if job.order_key is None or job.waiting_for != WaitingFor.ORDER:
        return None
    of_key = Job.objects.using(using).filter(backend=job.backend, order_key=job.order_key)
    has_turn = of_key.filter(
        Q(status__in=[Status.READY, Status.RUNNING]) | Q(status=Status.WAITING) & ~Q(waiting_for=WaitingFor.ORDER)
    )
    first = of_key.filter(status=Status.WAITING, waiting_for=WaitingFor.ORDER, pk__lt=job.pk).order_by("pk")
    # One has the turn, so no order is asked for: a plan without sorting would walk through every job to keep it.
    for found in (has_turn.order_by(), first):
        for pk in found.values_list("pk", flat=True)[:1]:
            return int(pk)
    return None


def _letter_in_order(job: Job, using: str) -> int | None:
    if job.order_key is None or job.waiting_for != WaitingFor.ORDER:
        return None
    is_open = Exists(DeadLetter.objects.using(using).filter(job=OuterRef("pk"), status=DeadLetter.Status.OPEN))
    blocking = Job.objects.using(using).filter(
        is_open, backend=job.backend, order_key=job.order_key, order_blocks=True, status=Status.FAILED
    )
    # Sorted here, for the same reason.
    return min(blocking.order_by().values_list("pk", flat=True)[:BLOCKING], default=None)
