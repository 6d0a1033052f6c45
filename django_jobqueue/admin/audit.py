"""Audit entries: who decided what, when and why."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_jobqueue.admin import display, filters
from django_jobqueue.admin.base import QueueAdmin
from django_jobqueue.admin.display import cell
from django_jobqueue.admin.rows import PAGE_TEXT, readable
from django_jobqueue.models import AuditEntry, Job
from django_jobqueue.shown import Veil, text, veil_named, veil_of

SHOWN = 50


@dataclass(frozen=True, slots=True)
class Deed:
    """One entry, as a line of a history."""

    pk: int
    at: Any
    actor: str
    action: str
    reason: str


def history_of(letter: Any, secrets: Collection[str]) -> list[Deed]:
    """Return what people did to a letter and its job, newest first. Both are filed under the job."""
    entries = AuditEntry.objects.using(letter._state.db).filter(object=f"job:{letter.job_id}")
    shown = readable(entries, times=["at"], texts=["reason"]).order_by("-pk")[:SHOWN]
    return [
        Deed(
            pk=entry.pk,
            at=display.moment_in_full(entry.at_epoch, entry.now_epoch),
            actor=display.clip(entry.actor, 100),
            action=display.words(entry.action),
            reason=display.clip(text(entry.reason_text, secrets), 1_000),
        )
        for entry in shown
    ]


class ActionFilter(filters.ChoiceFilter):
    """Verbs among the newest entries."""

    title = gettext_lazy("action")
    parameter_name = column = "action"
    any_label = gettext_lazy("All actions")

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        """Return what occurs among the newest entries."""
        return filters.newest(model_admin.all_rows(), "action")


@admin.register(AuditEntry)
class AuditEntryAdmin(QueueAdmin):
    """The list of entries, and an entry's page."""

    list_display = ["at_cell", "actor_cell", "action_cell", "object_cell", "reason_cell"]
    list_display_links = ["at_cell"]
    list_filter = [ActionFilter]
    search_fields = ["pk"]
    search_placeholder = gettext_lazy("Object, as in job:42, or actor")
    page_template = "admin/django_jobqueue/record.html"

    def rows_of_page(self, pks: Sequence[Any]) -> list[Any]:
        """Fetch entries without what changed."""
        shown = readable(self.all_rows().filter(pk__in=pks), times=["at"], texts=["reason"])
        by_pk = {entry.pk: entry for entry in shown}
        return [by_pk[pk] for pk in pks if pk in by_pk]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find by the exact object, else by the actor's name."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if ":" in term:
            return queryset.filter(object=term), False
        return queryset.filter(actor__iexact=term), False

    @cell(gettext_lazy("when"))
    def at_cell(self, entry: Any) -> str:
        """Show the age."""
        return display.moment(entry.at_epoch, entry.now_epoch)

    @cell(gettext_lazy("who"))
    def actor_cell(self, entry: Any) -> str:
        """Show the actor."""
        return display.clip(entry.actor, 80)

    @cell(gettext_lazy("did"))
    def action_cell(self, entry: Any) -> str:
        """Show the verb."""
        return display.words(entry.action)

    @cell(gettext_lazy("to"))
    def object_cell(self, entry: Any) -> str:
        """Show the object."""
        return format_html('<span class="jq-id">{}</span>', display.clip(entry.object, 80))

    @cell(gettext_lazy("because"))
    def reason_cell(self, entry: Any) -> str:
        """Show the reason."""
        return display.first_line(text(entry.reason_text))

    def page_of(self, request: HttpRequest, pk: Any) -> dict[str, Any] | None:
        """Show one entry, with what it changed."""
        found = readable(self.all_rows().filter(pk=pk), times=["at"], texts=["reason", "before", "after"])
        entry: Any = found.first()
        if entry is None:
            return None
        heading = f"{display.words(entry.action)} {display.clip(entry.object, 80)}"
        facts = [
            (_("When"), display.moment_in_full(entry.at_epoch, entry.now_epoch)),
            (_("Who"), display.clip(entry.actor, 255)),
            (_("Reason"), display.clip(text(entry.reason_text), 2_000) or display.NOTHING),
        ]
        veil = _veil_of(entry)
        before, after = (
            display.pretty(words, size, limit=PAGE_TEXT, veil=veil, cover=veil.record)
            for words, size in ((entry.before_text, entry.before_size), (entry.after_text, entry.after_size))
        )
        return {
            "title": heading,
            "original": heading,
            "heading": heading,
            "facts": [(_("Entry"), facts)],
            "payload": [(_("Before"), before), (_("After"), after)],
        }


def _veil_of(entry: Any) -> Veil:
    """Return the veil of the job that an entry is filed under; a replay with other arguments has them in its entry."""
    kind, _colon, number = entry.object.partition(":")
    if kind != "job" or not (number.isascii() and number.isdecimal() and len(number) < 19):
        return Veil()
    # Of a job that is gone nobody knows more than of one whose task is.
    name = Job.objects.using(entry._state.db).filter(pk=int(number)).values_list("task", flat=True).first()
    return veil_named(name) if name else veil_of(None)
