"""Pauses: what no worker starts for now, who said so and why."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_jobqueue import operations, until_when
from django_jobqueue.admin import display
from django_jobqueue.admin.acts import Act
from django_jobqueue.admin.controls import ControlAdmin, ControlForm
from django_jobqueue.admin.display import cell
from django_jobqueue.admin.paused import TEXTS, TIMES, end_of, name_of
from django_jobqueue.database import queue_database
from django_jobqueue.exceptions import Refused
from django_jobqueue.models import Pause
from django_jobqueue.store.pause import live
from django_jobqueue.watch.names import hints_for

PERMISSION = "django_jobqueue.pause_queue"


def _resume(pk: int, *, by: Any, reason: str) -> Pause:
    named = live(queue_database()).filter(pk=pk).values_list("kind", "target").first()
    if named is None:
        raise Refused("not_paused", _("it is over, or somebody has resumed it"))
    kind, target = named
    return operations.resume(**_named(kind, target), by=by, reason=reason)


RESUME = Act(
    name="resume",
    model_name="pause",
    verb=gettext_lazy("Resume"),
    done=gettext_lazy("ended"),
    perform=_resume,
    permission=PERMISSION,
    what_happens=gettext_lazy("Workers start its jobs again at once, those that waited meanwhile first."),
    needs_reason=False,
    default_reason=gettext_lazy("Resumed in the admin"),
)


class PauseForm(ControlForm):
    """What to pause, until when, and why."""

    until = forms.CharField(
        label=gettext_lazy("Until"),
        required=False,
        max_length=64,
        help_text=gettext_lazy("30m, 2h, 1d12h, or a moment as in 2026-12-01 08:00. Empty: until somebody resumes it."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    field_order = ["kind", "target", "until", "reason"]
    kinds = Pause.Kind.choices
    target_help = gettext_lazy("A name, or the beginning of several and an asterisk, as in mail-*; * is all of them.")
    fields_of_refusals = {"until_has_passed": "until", "reason_required": "reason"}

    def clean_until(self) -> Any:
        """Read a duration or a moment."""
        typed = self.cleaned_data["until"]
        try:
            return until_when.read(typed) if typed else None
        except ValueError as error:
            raise ValidationError(str(error)) from None


@admin.register(Pause)
class PauseAdmin(ControlAdmin):
    """The list of what is paused, a form to pause more, and a pause's page."""

    acts = (RESUME,)
    list_display = ["what_cell", "because_cell", "by_cell", "since_cell", "until_cell"]
    list_display_links = ["what_cell"]
    empty_text = gettext_lazy("Nothing is paused.")

    permission = PERMISSION
    form_class = PauseForm
    set_label = gettext_lazy("Pause a queue or a task")
    set_verb = gettext_lazy("Pause")
    set_done = gettext_lazy("paused")
    what_happens = gettext_lazy(
        "From the moment on that this is saved, workers start nothing of it. What runs, runs on. Its jobs keep their "
        "place, and go on when it is resumed."
    )
    by_column, at_column = "paused_by", "paused_at"
    times, texts = TIMES, TEXTS

    def all_rows(self) -> QuerySet[Any]:
        """Return what is paused: one that is over by its end is not, though its row may be there yet."""
        return live(queue_database())

    def put(self, given: dict[str, Any], *, by: Any) -> tuple[Pause, str]:
        """Pause it."""
        named = _named(given["kind"], given["target"])
        done = operations.pause(**named, until=given["until"], by=by, reason=given["reason"])
        return done, _("%s is paused.") % name_of(done)

    def hints_of(self, row: Any) -> list[str]:
        """Say that nothing has the name."""
        return hints_for(row, queue_database())

    def name_of(self, row: Any) -> str:
        """Name the queue or the task."""
        return name_of(row)

    def badge_of(self, row: Any) -> str:
        """Show that it is paused."""
        return display.badge("paused", _("Paused"))

    def facts_of(self, row: Any) -> list[tuple[Any, Any]]:
        """Show when it ends by itself."""
        until = _("when somebody resumes it")
        if row.until_epoch is not None:
            until = display.moment_in_full(row.until_epoch, row.now_epoch)
        return [(_("Ends"), until)]

    @cell(gettext_lazy("ends"))
    def until_cell(self, pause: Any) -> str:
        """Show when it ends by itself."""
        return end_of(pause)


def _named(kind: str, target: str) -> dict[str, Any]:
    return {"queue_name": target} if kind == Pause.Kind.QUEUE else {"task": target}
