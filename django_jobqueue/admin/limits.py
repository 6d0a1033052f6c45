"""Limits: how many jobs run at once, how many slots are taken, and what a person has set."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_jobqueue import operations
from django_jobqueue.admin import display
from django_jobqueue.admin.acts import Act
from django_jobqueue.admin.controls import ControlAdmin, ControlForm
from django_jobqueue.admin.covers import log_failure
from django_jobqueue.admin.display import cell
from django_jobqueue.database import queue_database
from django_jobqueue.exceptions import Refused
from django_jobqueue.models import Limit
from django_jobqueue.queue_policy import MAX_AT_ONCE
from django_jobqueue.shown import text
from django_jobqueue.watch.limits import Standing, hints_for, limits_now

logger = logging.getLogger(__name__)

PERMISSION = "django_jobqueue.change_limit"

SHOWN = 200
"""Limits that have live jobs under them which the list shows; the command shows all."""


def _clear(pk: int, *, by: Any, reason: str) -> None:
    named = Limit.objects.using(queue_database()).filter(pk=pk).values_list("kind", "target").first()
    if named is None:
        raise Refused("not_set", _("somebody has taken it back"))
    operations.set_limit(**_named(*named), at_once=None, by=by, reason=reason)


CLEAR = Act(
    name="clear",
    model_name="limit",
    verb=gettext_lazy("Take back"),
    done=gettext_lazy("taken back"),
    perform=_clear,
    permission=PERMISSION,
    what_happens=gettext_lazy("What the code declares holds again: what each job was enqueued with, from now on."),
    needs_reason=False,
    default_reason=gettext_lazy("Taken back in the admin"),
)


class LimitForm(ControlForm):
    """What to limit, to how many, and why."""

    at_once = forms.IntegerField(
        label=gettext_lazy("Jobs at once"),
        min_value=0,
        max_value=MAX_AT_ONCE,
        help_text=gettext_lazy("In all workers together. 0: none is started until this is taken back."),
    )

    field_order = ["kind", "target", "at_once", "reason"]
    kinds = Limit.Kind.choices
    target_help = gettext_lazy("The whole name of a queue or of a task, or a concurrency key as it is in the jobs.")
    fields_of_refusals = {"limit_out_of_range": "at_once"}


@dataclass(frozen=True, slots=True)
class Line:
    """A limit as it stands, ready to be shown."""

    name: str
    at_once: str
    taken: str
    waiting: str
    declared: str
    is_full: bool
    page_url: str
    """Of the row that a person has set; empty where none was, or may not be seen."""
    change_url: str
    """Of the form, filled in; empty where it may not be used."""


@admin.register(Limit)
class LimitAdmin(ControlAdmin):
    """The list of what holds and what was set, a form to set more, and a page of what was set."""

    acts = (CLEAR,)
    list_display = ["what_cell", "at_once_cell", "because_cell", "by_cell", "since_cell"]
    list_display_links = ["what_cell"]
    change_list_template = "admin/django_jobqueue/limit_list.html"
    empty_text = gettext_lazy("Nobody has set a limit by hand: what the code declares holds.")

    permission = PERMISSION
    form_class = LimitForm
    set_label = gettext_lazy("Set a limit")
    set_verb = gettext_lazy("Set the limit")
    set_done = gettext_lazy("set")
    what_happens = gettext_lazy(
        "So many of its jobs run at once, whatever the code declares, until this is taken back. What runs, runs on: "
        "nothing starts until the running ones are fewer. It stands for a limit that is declared; jobs under none are "
        "not held up."
    )
    by_column, at_column = "set_by", "set_at"
    times = ["set_at"]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Show what holds now above what was set."""
        own = self._standings(request) if request.method == "GET" and self.has_view_permission(request) else {}
        return super().changelist_view(request, own | (extra_context or {}))

    def asked_for(self, request: HttpRequest) -> dict[str, Any]:
        """Fill in the number too, so that whoever changes it sees what holds."""
        number = request.GET.get("at_once", "")
        is_one = number.isascii() and number.isdecimal() and len(number) < 8
        return super().asked_for(request) | ({"at_once": number} if is_one else {})

    def put(self, given: dict[str, Any], *, by: Any) -> tuple[Limit, str]:
        """Set it."""
        named = _named(given["kind"], given["target"])
        done = operations.set_limit(**named, at_once=given["at_once"], by=by, reason=given["reason"])
        assert done is not None  # noqa: S101 - None is what taking one back answers with
        return done, _("%(what)s runs %(count)d at once from now on.") % {
            "what": self.name_of(done),
            "count": done.at_once,
        }

    def hints_of(self, row: Any) -> list[str]:
        """Say that it holds up nothing, or that nothing has the name."""
        return hints_for(row, queue_database())

    def name_of(self, row: Any) -> str:
        """Name the queue, the task or the key."""
        return _name(row.kind, text(row.target))

    def badge_of(self, row: Any) -> str:
        """Show the number."""
        return display.badge("paused" if row.at_once == 0 else "limit", _("%d at once") % row.at_once)

    def facts_of(self, row: Any) -> list[tuple[Any, Any]]:
        """Show the number."""
        return [(_("Jobs at once"), row.at_once)]

    @cell(gettext_lazy("at once"))
    def at_once_cell(self, limit: Any) -> str:
        """Show the number."""
        return format_html('<span class="jq-number">{}</span>', limit.at_once)

    def _standings(self, request: HttpRequest) -> dict[str, Any]:
        try:
            found = limits_now(queue_database())
        except Exception as error:  # the list of what was set, and its buttons, are needed just then
            log_failure(logger, "the limits that hold cannot be told", error)
            return {"trouble": _("What holds now cannot be told: %s. The log has more.") % type(error).__name__}
        live = [row for row in found.rows if row.declared]
        # Those that jobs wait for first: they are what somebody looks for.
        live.sort(key=lambda row: not row.waiting)
        may_set = self.has_add_permission(request)
        return {
            "lines": [self._line(row, may_set=may_set) for row in live[:SHOWN]],
            "are_all": found.is_all and len(live) <= SHOWN,
        }

    def _line(self, row: Standing, *, may_set: bool) -> Line:
        name, limit = f"admin:{self.opts.app_label}_{self.opts.model_name}", row.set_by_hand
        page = reverse(f"{name}_change", args=[limit.pk], current_app=self.admin_site.name) if limit else ""
        filled_in = urlencode({row.kind: row.target, "at_once": row.at_once[-1]})
        change = f"{self.add_url}?{filled_in}" if may_set and not row.is_secret else ""
        backend = f" ({display.clip(row.backend, 64)})" if row.backend not in ("", "default") else ""
        return Line(
            name=_name(row.kind, row.shown_target) + backend,
            at_once=_numbers(row.at_once),
            taken=_count(row, "taken"),
            waiting=_count(row, "waiting"),
            declared=_numbers(row.declared),
            is_full=bool(row.waiting) and row.taken >= row.at_once[0],
            page_url=page,
            change_url=change,
        )


def _name(kind: str, target: str) -> str:
    """Write `Queue mail`."""
    return f"{dict(Limit.Kind.choices).get(kind, display.clip(kind, 8))} {display.clip(target, 80)}"


def _named(kind: str, target: str) -> dict[str, Any]:
    return {"queue_name" if kind == Limit.Kind.QUEUE else kind: target}


def _numbers(numbers: Sequence[int]) -> str:
    """Write one number, or two where jobs of before and after a deploy say different ones."""
    return "\u2013".join(map(str, dict.fromkeys(numbers)))


def _count(row: Standing, name: str) -> str:
    return f"{getattr(row, name):,}{'+' if name in row.lower_bounds else ''}"
