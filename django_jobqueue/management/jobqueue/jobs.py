"""`jobqueue jobs …`: list, show, explain and cancel jobs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from functools import partial
from typing import Any

from django.db.models import Q, QuerySet

from django_jobqueue import operations
from django_jobqueue.exceptions import Refused
from django_jobqueue.management.jobqueue import check
from django_jobqueue.management.jobqueue.many import Told, do_to_each
from django_jobqueue.management.jobqueue.options import (
    add_act_options,
    add_choice_options,
    add_common_options,
    add_list_options,
    chosen,
    filter_hints,
    given,
    is_no_task,
)
from django_jobqueue.management.jobqueue.story import tell
from django_jobqueue.management.jobqueue.terminal import Terminal, Usage, printable
from django_jobqueue.models import DeadLetter, Job
from django_jobqueue.policy.lifecycle import DUE_BY_TIME, WaitingFor
from django_jobqueue.shown import text, veil_named
from django_jobqueue.store.session import PLAN_GUARD
from django_jobqueue.watch.glance import glance
from django_jobqueue.watch.why import why

# Live jobs are read in the order of their index: what is next comes first.
_ORDERS = {
    Job.Status.READY: ("-priority", "run_after", "id"),
    Job.Status.WAITING: ("run_after", "id"),
    Job.Status.RUNNING: ("last_attempted_at", "id"),
}
_ASIDE: dict[str, tuple[Q, tuple[str, ...]]] = {
    Job.Status.READY: (
        Q(rate_key__isnull=False),
        ("backend", "queue_name", "task", "rate_key", "-priority", "run_after", "id"),
    ),
    Job.Status.WAITING: (Q(waiting_for=WaitingFor.WORKER), ("task",)),
}
_NEWEST_FIRST = ("-id",)

SEARCHED_IDS = 500_000
"""Ids that a filtered list by id is searched in: finished jobs are in no index but the primary key."""

_COLUMNS = (
    "id", "backend", "task", "queue_name", "priority", "status", "waiting_for", "attempt_count", "failure_count",
    "max_attempts", "enqueued_at", "run_after", "started_at", "finished_at",
)  # fmt: skip
"""Without what may be large: arguments, result, progress. `jobs show` has them."""


def add_parsers(subjects: Any) -> None:
    """Add `jobs list`, `jobs show`, `jobs why`, `jobs check` and `jobs cancel`."""
    verbs = subjects.add_parser("jobs", help="jobs").add_subparsers(required=True)

    parser: argparse.ArgumentParser = verbs.add_parser("list", help="newest first; with a live --status, next first")
    parser.add_argument("--status", type=str.lower, choices=[status.lower() for status in Job.Status.values])
    _add_filters(parser)
    add_list_options(parser)
    add_common_options(parser, list_jobs)

    parser = verbs.add_parser("show", help="one job, with its attempts, letter and audit trail")
    parser.add_argument("id", type=int, help="of the job")
    add_common_options(parser, show_job)

    parser = verbs.add_parser("why", help="what stands in the way of a job that does not run")
    parser.add_argument("id", type=int, help="of the job")
    add_common_options(parser, tell_why)

    check.add_parser(verbs)

    parser = verbs.add_parser("cancel", help="cancel jobs; one that runs is asked to stop")
    parser.add_argument("ids", nargs="*", metavar="ID", help="of jobs; or give a filter")
    parser.add_argument("--status", type=str.lower, choices=["waiting", "ready"], help="only those")
    parser.add_argument("--force", action="store_true", help="stop a running one with its process")
    _add_filters(parser)
    add_choice_options(parser)
    add_act_options(parser)
    add_common_options(parser, cancel_jobs)


def list_jobs(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """List jobs, of one state or of all."""
    status = options["status"] and options["status"].upper()
    order = _ORDERS.get(status, _NEWEST_FIRST)
    if options["before"] is not None and order is not _NEWEST_FIRST:
        raise Usage("--before goes on in lists by id; live jobs are listed from the next one on")
    filters = Q(**_filters(options)) & (_in(status) if status else Q())
    with glance(using, settings=PLAN_GUARD):
        jobs, floor = Job.objects.using(using).order_by(*order), 0
        if order is _NEWEST_FIRST:
            newest = jobs.values_list("pk", flat=True).first() or 0
            top = newest + 1 if options["before"] is None else options["before"]
            floor = top - SEARCHED_IDS if filters else 0
            jobs = jobs.filter(pk__lt=top, pk__gte=floor)
        rows = list(jobs.filter(filters).values(*_COLUMNS)[: options["limit"]])
        if status in _ASIDE:
            aside = _aside(status, using, **_filters(options)).values(*_COLUMNS)
            rows += aside[: options["limit"] - len(rows)]
    ends_at = floor if floor > 1 and len(rows) < options["limit"] else None
    lines = [*_lines(terminal, rows, ends_at), *([] if rows else filter_hints(options))]
    terminal.answer({"jobs": rows, "searched_from": ends_at}, lines)
    return True


def show_job(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """Show one job and all that belongs to it."""
    with glance(using):
        jobs = Job.objects.using(using)
        job = jobs.filter(pk=options["id"]).first()
        if job is None:
            raise Refused("not_found", f"there is no job {options['id']}")
        tell(terminal, job, DeadLetter.objects.using(using).filter(job=job).first(), using)
    return True


def tell_why(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """Say what stands in the way of a job, the nearest first."""
    try:
        found = why(options["id"], using=using)
    except Job.DoesNotExist:
        raise Refused("not_found", f"there is no job {options['id']}") from None
    job = Job.objects.using(using).filter(pk=options["id"]).only("task", "args", "kwargs").first()
    secrets = veil_named(job.task).secrets_in(job.args, job.kwargs) if job else ()
    told = [{"code": reason.code, "text": text(reason.text, secrets)} for reason in found]
    terminal.answer(
        {"id": options["id"], "reasons": told}, [f"{one['code']}: {printable(one['text'])}" for one in told]
    )
    return True


def cancel_jobs(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """Cancel the jobs that were named, or the ones that a filter finds."""

    def cancel(job_id: int | str) -> Told:
        words = {"by": options["by"], "reason": options["reason_text"], "force": options["force"]}
        job = operations.cancel(job_id, using=using, **words)
        document = {"id": job.pk, "task": job.task, "status": job.status}
        is_over = job.status == Job.Status.CANCELLED
        return Told(f"job {job.pk} {job.task}", document, "cancelled" if is_over else f"is {stopped}")

    stopped = "stopped with its process" if options["force"] else "asked to stop"
    hints: dict[str, Any] = {"hints": partial(filter_hints, options), "is_mistyped": partial(is_no_task, options)}
    in_all = f"cancelled, or {stopped}"
    return do_to_each(terminal, _ids(using, options), cancel, done="cancelled", in_all=in_all, **hints)


def _add_filters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--task", metavar="NAME", help="stored name of the task")
    parser.add_argument("--queue", metavar="NAME")


def _filters(options: dict[str, Any]) -> dict[str, Any]:
    return given(options, task="task", queue="queue_name")


def _in(status: str) -> Q:
    # What has an index of its own is found by `_aside`.
    match status:
        case Job.Status.WAITING:
            return Q(status=status, waiting_for__in=DUE_BY_TIME)
        case Job.Status.READY:
            return Q(status=status, rate_key__isnull=True)
    return Q(status=status)


def _ids(using: str, options: dict[str, Any]) -> Iterable[int | str]:
    filters = _filters(options)
    narrowed = filters | given(options, status="status")
    if chosen(options["ids"], narrowed, everything=options["all"], sure=options["yes"]):
        return dict.fromkeys(options["ids"])
    statuses = [options["status"].upper()] if options["status"] else [Job.Status.READY, Job.Status.WAITING]
    found: list[int] = []
    with glance(using, settings=PLAN_GUARD):
        for status in statuses:
            jobs = Job.objects.using(using).filter(_in(status), **filters).order_by(*_ORDERS[status])
            found += jobs.values_list("pk", flat=True)[: options["limit"] - len(found)]
            if status in _ASIDE:
                aside = _aside(status, using, **filters).values_list("pk", flat=True)
                found += aside[: options["limit"] - len(found)]
    return found


def _aside(status: str, using: str, **filters: Any) -> QuerySet[Job]:
    """What waits for a worker, or is ready under a rate, has an index of its own, in an order of its own."""
    where, order = _ASIDE[status]
    return Job.objects.using(using).filter(where, status=status, **filters).order_by(*order)


def _lines(terminal: Terminal, rows: list[dict[str, Any]], searched_from: int | None) -> list[str]:
    more = [f"searched from job {searched_from} on; go on with --before {searched_from}"] if searched_from else []
    return [*(_table(terminal, rows) if rows else ["no jobs"]), *more]


def _table(terminal: Terminal, rows: list[dict[str, Any]]) -> list[str]:
    headings = ["id", "task", "queue", "status", "attempts", "enqueued", "run after", "finished"]
    cells = [
        [
            job["id"], job["task"], job["queue_name"], _status(job), job["attempt_count"],
            job["enqueued_at"], job["run_after"], job["finished_at"],
        ]
        for job in rows
    ]  # fmt: skip
    return terminal.table(headings, cells)


def _status(job: dict[str, Any]) -> str:
    return f"{job['status']} ({job['waiting_for']})" if job["waiting_for"] else job["status"]
