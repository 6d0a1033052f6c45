"""Jobs: what was asked for, and how each attempt ended."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy

from django_jobqueue import operations
from django_jobqueue.admin import display, filters
from django_jobqueue.admin.acts import Act, ActingAdmin
from django_jobqueue.admin.attempts import (
    SHOWN,
    last_error,
    timeline,
    with_last_error,
)
from django_jobqueue.admin.covers import secrets_of
from django_jobqueue.admin.display import cell
from django_jobqueue.admin.job_facts import (
    TEXTS,
    TIMES,
    attempts_used,
    facts,
    payload,
    prospect,
    result,
    status_badge,
    task_link_text,
    when,
)
from django_jobqueue.admin.paging import COUNT_CAP
from django_jobqueue.admin.paused import names_of, pauses_now, pauses_over
from django_jobqueue.admin.rows import brief, readable
from django_jobqueue.admin.why import why_it_waits
from django_jobqueue.models import DeadLetter, Job
from django_jobqueue.policy.lifecycle import Status
from django_jobqueue.watch.workers import worker_names

CANCEL = Act(
    name="cancel",
    model_name="job",
    verb=gettext_lazy("Cancel"),
    done=gettext_lazy("cancelled, or asked to stop where it runs"),
    perform=operations.cancel,
    permission="django_jobqueue.cancel_job",
    what_happens=gettext_lazy(
        "It will not run. One that runs is asked to stop: a coroutine at its next await, a function when it looks. If "
        "it succeeds all the same, that stands. A cancelled job cannot be brought back; whoever wants its work done "
        "enqueues a new one."
    ),
    needs_reason=False,
    default_reason=gettext_lazy("Cancelled in the admin"),
    is_grave=True,
)

FORCE = Act(
    name="force_stop",
    model_name="job",
    verb=gettext_lazy("Stop by force"),
    done=gettext_lazy("being stopped"),
    perform=partial(operations.cancel, force=True),
    permission="django_jobqueue.cancel_job",
    what_happens=gettext_lazy(
        "Its process is killed, whatever it is doing. Other jobs in that process start again from the beginning, "
        "uncharged. What the job has done outside of a transaction stays done."
    ),
    needs_reason=True,
    is_grave=True,
)


def _is_open(act: Act, job: Any) -> bool:
    if job.status != Job.Status.RUNNING:
        return act is CANCEL and job.status in (Job.Status.WAITING, Job.Status.READY)
    return not job.cancel_forced if act is FORCE else job.cancel_requested_at_epoch is None


class StatusFilter(filters.ChoiceFilter):
    """One tab per status."""

    title = gettext_lazy("status")
    parameter_name = column = "status"
    is_tabs = True

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        """Return the closed set."""
        return Job.Status.choices


class TaskFilter(filters.ChoiceFilter):
    """Tasks among the newest jobs."""

    title = gettext_lazy("task")
    parameter_name = column = "task"
    any_label = gettext_lazy("All tasks")

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        """Return what occurs among the newest jobs."""
        return filters.newest(model_admin.all_rows(), "task")


class QueueFilter(filters.ChoiceFilter):
    """Queues among the newest jobs."""

    title = gettext_lazy("queue")
    parameter_name = "queue"
    column = "queue_name"
    any_label = gettext_lazy("All queues")

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        """Return what occurs among the newest jobs."""
        return filters.newest(model_admin.all_rows(), "queue_name")


@admin.register(Job)
class JobAdmin(ActingAdmin):
    """The list of jobs, and a job's page."""

    acts = (CANCEL, FORCE)
    list_display = [
        "task_cell",
        "id_cell",
        "status_cell",
        "queue_cell",
        "priority_cell",
        "attempts_cell",
        "enqueued_cell",
        "when_cell",
        "worker_cell",
        "error_cell",
    ]
    list_display_links = ["task_cell"]
    list_filter = [StatusFilter, TaskFilter, QueueFilter]
    search_fields = ["pk"]
    search_placeholder = gettext_lazy("Job id, task:name or queue:name")
    page_template = "admin/django_jobqueue/job.html"

    # --- The list

    def rows_of_page(self, pks: Sequence[Any]) -> list[Any]:
        """Fetch jobs with their last error and the names of their workers."""
        found = readable(self.all_rows().filter(pk__in=pks), times=TIMES)
        by_pk: dict[Any, Any] = {job.pk: job for job in brief(with_last_error(found), texts=["args", "kwargs"])}
        rows = [by_pk[pk] for pk in pks if pk in by_pk]
        names = worker_names(self.all_rows().db, [job.worker_id for job in rows])
        pauses = pauses_now(self.all_rows().db)
        for job in rows:
            job.worker_name = display.worker_name(job.worker_id, names)
            job.is_paused = bool(pauses_over(job, pauses))
        return rows

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Show the list, and what is paused: jobs of that wait for nothing else."""
        pauses = pauses_now(self.all_rows().db) if request.method == "GET" else []
        own = {"paused": names_of(pauses) if pauses else ""}
        return super().changelist_view(request, own | (extra_context or {}))

    def rows_to_search(self, changelist: Any) -> QuerySet[Any] | None:
        """Let an index lead to the few that run, are ready or have failed; look through the newest jobs for others."""
        few = None if changelist.query else self._few_of_status(changelist)
        if few is None:
            return super().rows_to_search(changelist)
        changelist.queryset = changelist.queryset.filter(pk__in=few)
        return None

    def _few_of_status(self, changelist: Any) -> QuerySet[Any] | None:
        status = next(spec.value() for spec in changelist.filter_specs if isinstance(spec, StatusFilter))
        ids: QuerySet[Any, Any]
        match status:
            case Status.RUNNING:
                ids = self.all_rows().filter(status=status).values("pk")
            case Status.READY:
                # Those under a rate are in an index of their own.
                plain, rated = (self.all_rows().filter(status=status, rate_key__isnull=has) for has in (True, False))
                ids = plain.order_by().values("pk").union(rated.order_by().values("pk"), all=True)
            case Status.FAILED:
                dead = Q(status=DeadLetter.Status.OPEN) | Q(status=DeadLetter.Status.DISCARDED)
                ids = DeadLetter.objects.using(self.all_rows().db).filter(dead).values("job_id")
            case _:
                return None
        few = ids.order_by()[: COUNT_CAP + 1]
        return few if few.count() <= COUNT_CAP else None

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find by exact id, by the beginning of a task's or queue's name, else by part of the task's name."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if term.isdecimal() and term.isascii():
            return queryset.filter(pk=int(term[:18]) if len(term) < 19 else 0), False
        kind, _colon, rest = term.partition(":")
        match kind, rest.strip():
            case "task", name:
                condition = Q(task__startswith=name)
            case "queue", name:
                condition = Q(queue_name__startswith=name)
            case _:
                condition = Q(task__icontains=term)
        return queryset.filter(condition), False

    @cell(gettext_lazy("task"))
    def task_cell(self, job: Any) -> str:
        """Show the name, then where it lives."""
        return task_link_text(job.task)

    @cell(gettext_lazy("id"))
    def id_cell(self, job: Any) -> str:
        """Show the number that logs name."""
        return format_html('<span class="jq-id">{}</span>', job.pk)

    @cell(gettext_lazy("status"))
    def status_cell(self, job: Any) -> str:
        """Show the state as a word, and what a waiting job waits for."""
        return status_badge(job)

    @cell(gettext_lazy("queue"))
    def queue_cell(self, job: Any) -> str:
        """Show the queue."""
        return display.clip(job.queue_name, 60)

    @cell(gettext_lazy("priority"))
    def priority_cell(self, job: Any) -> str:
        """Show a priority that somebody chose; nothing for the usual one."""
        return format_html('<span class="{}">{}</span>', "jq-number" if job.priority else "jq-quiet", job.priority)

    @cell(gettext_lazy("attempts"))
    def attempts_cell(self, job: Any) -> str:
        """Show charged attempts of those allowed, as the retry policy counts them."""
        return attempts_used(job)

    @cell(gettext_lazy("enqueued"))
    def enqueued_cell(self, job: Any) -> str:
        """Show the age."""
        return display.moment(job.enqueued_at_epoch, job.now_epoch)

    @cell(gettext_lazy("runs"))
    def when_cell(self, job: Any) -> str:
        """Show when it will run, since when it runs, or how long it ran."""
        return when(job)

    @cell(gettext_lazy("worker"))
    def worker_cell(self, job: Any) -> str:
        """Show who has it, or had it last."""
        return format_html('<span class="jq-worker">{}</span>', job.worker_name)

    @cell(gettext_lazy("error"))
    def error_cell(self, job: Any) -> str:
        """Show the first line of the last attempt's error."""
        return last_error(job).in_list()

    # --- The page

    def page_of(self, request: HttpRequest, pk: Any) -> dict[str, Any] | None:
        """Show one job: what it is, what it was given, and each attempt."""
        job: Any = readable(self.all_rows().filter(pk=pk), times=TIMES, texts=TEXTS).first()
        if job is None:
            return None
        before = _number(request.GET.get("before"))
        secrets = secrets_of(job)
        steps = timeline(job, secrets, before=before)
        name = display.task_name(job.task)
        return {
            "title": f"{name.full} #{job.pk}",
            "original": f"{display.clip(name.short, 60)} #{job.pk}",
            "task_name": name,
            "job": job,
            "badge": status_badge(job),
            "facts": facts(job, secrets),
            "payload": payload(job),
            "result": result(job),
            "prospect": prospect(job),
            "steps": steps,
            "older_before": steps[-1].number if len(steps) >= SHOWN and steps[-1].number > 1 else None,
            "waits": why_it_waits(job, secrets, may_view=self._may_view(request), site_name=self.admin_site.name),
            "letter": DeadLetter.objects.using(job._state.db).filter(job_id=pk).only("pk", "status").first(),
            "acts": [act for act in self.acts_open_to(request) if _is_open(act, job)],
            "chosen": job.pk,
            "filters": request.GET.get("_changelist_filters", ""),
        }

    def describe(self, pks: Sequence[Any]) -> list[dict[str, Any]]:
        """Describe jobs for a confirmation."""
        return [
            {"title": f"{display.task_name(job.task).full} #{job.pk}", "detail": status_badge(job), "error": ""}
            for job in self.rows_of_page(pks)
        ]


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else None
