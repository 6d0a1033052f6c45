"""Dead letters: the daily page. What failed for good, why, and the two answers to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from django_jobqueue import operations, registry
from django_jobqueue.admin import display, filters
from django_jobqueue.admin.acts import Act, ActingAdmin
from django_jobqueue.admin.attempts import last_error, timeline, with_last_error
from django_jobqueue.admin.audit import history_of
from django_jobqueue.admin.covers import secrets_of
from django_jobqueue.admin.display import cell
from django_jobqueue.admin.job_facts import TEXTS, TIMES, payload, status_badge, task_link_text
from django_jobqueue.admin.paging import Keyset
from django_jobqueue.admin.reasons import explain
from django_jobqueue.admin.rows import brief, fragile, readable
from django_jobqueue.any_task import runbook_of
from django_jobqueue.models import DeadLetter, Job
from django_jobqueue.policy.lifecycle import Reason
from django_jobqueue.shown import ALL_IS_HIDDEN, text, veil_named

REPLAY = Act(
    name="replay",
    model_name="deadletter",
    verb=gettext_lazy("Replay"),
    done=gettext_lazy("replayed"),
    perform=operations.replay,
    permission="django_jobqueue.replay_deadletter",
    what_happens=gettext_lazy(
        "The same job becomes ready again at once, with the same arguments and a fresh budget of attempts. "
        "Its history stays. If it succeeds, the letter is resolved; if it dies again, the letter opens again."
    ),
    needs_reason=False,
    default_reason=gettext_lazy("Replayed in the admin"),
)

DISCARD = Act(
    name="discard",
    model_name="deadletter",
    verb=gettext_lazy("Discard"),
    done=gettext_lazy("discarded"),
    perform=operations.discard,
    permission="django_jobqueue.discard_deadletter",
    what_happens=gettext_lazy(
        "The job stays failed and nobody is asked about it again. A discarded letter can still be replayed. "
        "Your reason is kept as its note."
    ),
    needs_reason=True,
    is_grave=True,
)

_FITS = {
    REPLAY: (DeadLetter.Status.OPEN, DeadLetter.Status.DISCARDED),
    DISCARD: (DeadLetter.Status.OPEN,),
}

ALL = "all"


class StatusFilter(filters.ChoiceFilter):
    """Open ones unless asked for others: the list is what is left to do."""

    title = gettext_lazy("status")
    parameter_name = column = "status"
    is_tabs = True
    is_served_by_index = True

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        """Return the closed set, and all of it."""
        return [*DeadLetter.Status.choices, (ALL, _("All"))]

    def value(self) -> str:
        """Return the chosen status, Open by default."""
        return super().value() or DeadLetter.Status.OPEN.value

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the letters in the chosen state."""
        return queryset if self.value() == ALL else super().queryset(request, queryset)

    @property
    def options(self) -> list[filters.Choice]:
        """Offer no "any" besides All."""
        return super().options[1:]


class ReasonFilter(filters.ChoiceFilter):
    """Why they died."""

    title = gettext_lazy("reason")
    parameter_name = column = "reason"
    any_label = gettext_lazy("All reasons")

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        """Return the closed set."""
        return [(reason.value, display.words(reason.value)) for reason in Reason]


class TaskFilter(filters.ChoiceFilter):
    """Tasks among the newest letters."""

    title = gettext_lazy("task")
    parameter_name = "task"
    column = "job__task"
    any_label = gettext_lazy("All tasks")

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        """Return what occurs among the newest letters."""
        return filters.newest(model_admin.all_rows(), "job__task")


class OwnerFilter(filters.ChoiceFilter):
    """Owners among the newest letters."""

    title = gettext_lazy("owner")
    parameter_name = column = "owner"
    any_label = gettext_lazy("All owners")

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        """Return what occurs among the newest letters."""
        return filters.newest(model_admin.all_rows(), "owner")


@admin.register(DeadLetter)
class DeadLetterAdmin(ActingAdmin):
    """The list of dead letters, and a letter's page."""

    acts = (REPLAY, DISCARD)
    has_acts_on_list = True
    keyset = Keyset("last_died_at")
    # Each letter looked at costs a look at its job; for more of them PostgreSQL would rather read all jobs.
    search_depth = 10_000
    list_display = [
        "task_cell",
        "error_cell",
        "reason_cell",
        "died_cell",
        "attempts_cell",
        "arguments_cell",
        "owner_cell",
        "status_cell",
    ]
    list_display_links = ["task_cell"]
    list_filter = [StatusFilter, ReasonFilter, TaskFilter, OwnerFilter]
    search_fields = ["pk"]
    search_placeholder = gettext_lazy("Job id or task:name")
    empty_text = gettext_lazy("No dead letters here. All is well.")
    page_template = "admin/django_jobqueue/letter.html"

    # --- The list

    def rows_of_page(self, pks: Sequence[Any]) -> list[Any]:
        """Fetch letters, each with its job and that one's last error. A letter whose job is gone is shown too."""
        letters = readable(self.all_rows().filter(pk__in=pks), times=["first_died_at", "last_died_at"])
        by_pk = {letter.pk: letter for letter in letters}
        rows = [by_pk[pk] for pk in pks if pk in by_pk]
        jobs = _jobs(self.all_rows().db, [letter.job_id for letter in rows])
        for letter in rows:
            letter.shown_job = jobs.get(letter.job_id)
        return rows

    def rows_to_search(self, changelist: Any) -> QuerySet[Any] | None:
        """Look through the letters of the chosen status: there is an index on the order of the open ones."""
        rows = super().rows_to_search(changelist)
        if rows is None:
            return None
        status = next(spec for spec in changelist.filter_specs if isinstance(spec, StatusFilter))
        return status.queryset(status.request, rows)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find by the exact id of the job, else by the beginning, else by a part of its task's name."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if term.isdecimal() and term.isascii():
            return queryset.filter(job_id=int(term) if len(term) < 19 else 0), False
        if term.startswith("task:"):
            return queryset.filter(job__task__startswith=term.removeprefix("task:").strip()), False
        return queryset.filter(job__task__icontains=term), False

    @cell(gettext_lazy("task"))
    def task_cell(self, letter: Any) -> str:
        """Show the task's name, or that the job is gone."""
        job = letter.shown_job
        return task_link_text(job.task) if job else _("job %d is gone") % letter.job_id

    @cell(gettext_lazy("error"))
    def error_cell(self, letter: Any) -> str:
        """Show the class and first line of the last attempt's error."""
        return last_error(letter.shown_job).in_list() if letter.shown_job else ""

    @cell(gettext_lazy("reason"))
    def reason_cell(self, letter: Any) -> str:
        """Show why, with the sentence in the title."""
        return format_html('<span title="{}">{}</span>', explain(letter.reason).what, display.words(letter.reason))

    @cell(gettext_lazy("died"))
    def died_cell(self, letter: Any) -> str:
        """Show the last death, and the first one where there were several."""
        last = display.moment(letter.last_died_at_epoch, letter.now_epoch)
        if letter.deaths == 1:
            return last
        first = display.moment(letter.first_died_at_epoch, letter.now_epoch)
        times = ngettext("%d death", "%d deaths", letter.deaths) % letter.deaths
        since = _("since")
        return format_html('{} <span class="jq-second">{} {} {}</span>', last, times, since, first)

    @cell(gettext_lazy("attempts"))
    def attempts_cell(self, letter: Any) -> str:
        """Show all attempts of all its lives."""
        job = letter.shown_job
        return format_html('<span class="jq-number">{}</span>', job.attempt_count) if job else ""

    @cell(gettext_lazy("arguments"))
    def arguments_cell(self, letter: Any) -> str:
        """Show the arguments in short."""
        job = letter.shown_job
        if not job:
            return ""
        veil = veil_named(job.task)
        shown = display.call(job.args_text, job.kwargs_text, veil=veil)
        why = format_html(' title="{}"', _(ALL_IS_HIDDEN)) if veil.hides_all else ""
        return format_html('<code class="jq-call"{}>{}</code>', why, shown)

    @cell(gettext_lazy("owner"))
    def owner_cell(self, letter: Any) -> str:
        """Show who is asked."""
        return display.clip(letter.owner, 60)

    @cell(gettext_lazy("status"))
    def status_cell(self, letter: Any) -> str:
        """Show the state as a word."""
        return letter_badge(letter)

    # --- The page

    def page_of(self, request: HttpRequest, pk: Any) -> dict[str, Any] | None:
        """Show the error first, then what to do, then everything else."""
        letters = readable(self.all_rows().filter(pk=pk), times=["first_died_at", "last_died_at"], texts=["note"])
        letter: Any = letters.first()
        if letter is None:
            return None
        job: Any = readable(
            Job.objects.using(letter._state.db).filter(pk=letter.job_id), times=TIMES, texts=TEXTS
        ).first()
        secrets = secrets_of(job) if job else set()
        steps = timeline(job, secrets) if job else []
        name = display.task_name(job.task if job else _("job %d is gone") % letter.job_id)
        return {
            "title": _("Dead letter: %s") % name.full,
            "original": _("%(task)s, job %(id)d") % {"task": display.clip(name.short, 60), "id": letter.job_id},
            "task_name": name,
            "letter": letter,
            "job": job,
            "badge": letter_badge(letter),
            "job_badge": status_badge(job) if job else "",
            "error": next((step for step in steps if step.error), None),
            "reason": display.words(letter.reason),
            "words": explain(letter.reason),
            "note": display.visible(text(letter.note_text, secrets)),
            "runbook": display.with_links(text(runbook_of(registry.find(job.task)))) if job else "",
            "facts": _facts(letter),
            "payload": payload(job) if job else [],
            "steps": steps,
            "history": history_of(letter, secrets),
            "acts": [act for act in self.acts_open_to(request) if letter.status in _FITS[act]],
            "chosen": letter.pk,
            "filters": request.GET.get("_changelist_filters", ""),
        }

    def describe(self, pks: Sequence[Any]) -> list[dict[str, Any]]:
        """Describe letters for a confirmation."""
        return [
            {
                "title": self.task_cell(letter),
                "detail": self.arguments_cell(letter),
                "error": self.error_cell(letter),
            }
            for letter in self.rows_of_page(pks)
        ]


def letter_badge(letter: Any) -> str:
    """Show the state as a word."""
    return display.badge(
        letter.status, dict(DeadLetter.Status.choices).get(letter.status, display.words(letter.status))
    )


def _jobs(using: str, ids: Sequence[int]) -> dict[int, Any]:
    jobs = with_last_error(Job.objects.using(using).filter(pk__in=ids).defer(*fragile(Job)))
    return {job.pk: job for job in brief(jobs, texts=["args", "kwargs"])}


def _facts(letter: Any) -> list[tuple[str, list[tuple[str, Any]]]]:
    died = [
        (_("Deaths"), letter.deaths),
        (_("First"), display.moment_in_full(letter.first_died_at_epoch, letter.now_epoch)),
        (_("Last"), display.moment_in_full(letter.last_died_at_epoch, letter.now_epoch)),
    ]
    kept = [
        (_("Owner"), display.clip(letter.owner, 255)),
        (_("Fingerprint"), display.clip(letter.fingerprint, 16)),
        (_("Letter"), letter.pk),
    ]
    return [(_("Died"), died), (_("Filed"), [(name, value) for name, value in kept if value not in ("", None)])]
