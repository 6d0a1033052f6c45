"""Pauses: what no worker starts for now, who said so and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_jobqueue import operations, registry, until_when
from django_jobqueue.admin import display
from django_jobqueue.admin.acts import Act, ActingAdmin
from django_jobqueue.admin.display import cell
from django_jobqueue.admin.paused import TEXTS, TIMES, end_of, name_of, reason_of
from django_jobqueue.admin.rows import readable
from django_jobqueue.database import queue_database
from django_jobqueue.exceptions import Refused
from django_jobqueue.models import Pause
from django_jobqueue.shown import text
from django_jobqueue.store.pause import live
from django_jobqueue.watch.names import hints_for, queue_names, task_names

PERMISSION = "django_jobqueue.pause_queue"

WHAT_HAPPENS = gettext_lazy(
    "From the moment on that this is saved, workers start nothing of it. What runs, runs on. Its jobs keep their "
    "place, and go on when it is resumed."
)


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


class PauseForm(forms.Form):
    """What to pause, until when, and why."""

    kind = forms.ChoiceField(
        label=gettext_lazy("What"), choices=Pause.Kind.choices, widget=forms.RadioSelect, initial=Pause.Kind.QUEUE
    )
    target = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=256,
        help_text=gettext_lazy("A name, or the beginning of several and an asterisk, as in mail-*; * is all of them."),
        widget=forms.TextInput(attrs={"list": "jq-names", "autocomplete": "off", "spellcheck": "false"}),
    )
    until = forms.CharField(
        label=gettext_lazy("Until"),
        required=False,
        max_length=64,
        help_text=gettext_lazy("30m, 2h, 1d12h, or a moment as in 2026-12-01 08:00. Empty: until somebody resumes it."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    reason = forms.CharField(
        label=gettext_lazy("Why?"),
        max_length=1_000,
        help_text=gettext_lazy("Whoever wonders at night why nothing runs will read this."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def clean_until(self) -> Any:
        """Read a duration or a moment."""
        typed = self.cleaned_data["until"]
        try:
            return until_when.read(typed) if typed else None
        except ValueError as error:
            raise ValidationError(str(error)) from None


@admin.register(Pause)
class PauseAdmin(ActingAdmin):
    """The list of what is paused, a form to pause more, and a pause's page."""

    acts = (RESUME,)
    has_acts_on_list = True
    list_display = ["what_cell", "paused_reason_cell", "by_cell", "since_cell", "until_cell"]
    list_display_links = ["what_cell"]
    page_template = "admin/django_jobqueue/pause.html"
    empty_text = gettext_lazy("Nothing is paused.")

    def all_rows(self) -> QuerySet[Any]:
        """Return what is paused: one that is over by its end is not, though its row may be there yet."""
        return live(queue_database())

    def has_add_permission(self, request: HttpRequest) -> bool:
        """To pause has the same permission as to resume. Who may not see what is paused may do neither."""
        return self.has_view_permission(request) and bool(request.user.has_perm(PERMISSION))

    # --- The list

    def rows_of_page(self, pks: Sequence[Any]) -> list[Any]:
        """Fetch pauses."""
        by_pk = {row.pk: row for row in readable(self.all_rows().filter(pk__in=pks), times=TIMES, texts=TEXTS)}
        return [by_pk[pk] for pk in pks if pk in by_pk]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Show the list, with a way to the form for whoever may use it."""
        url = reverse("admin:django_jobqueue_pause_add", current_app=self.admin_site.name)
        own = {"add_url": url if self.has_add_permission(request) else "", "add_label": _("Pause a queue or a task…")}
        return super().changelist_view(request, own | (extra_context or {}))

    @cell(gettext_lazy("paused"))
    def what_cell(self, pause: Any) -> str:
        """Show the queue or the task."""
        return format_html('<span class="jq-task">{}</span>', name_of(pause))

    @cell(gettext_lazy("because"))
    def paused_reason_cell(self, pause: Any) -> str:
        """Show the reason."""
        return display.clip(reason_of(pause), 300)

    @cell(gettext_lazy("by"))
    def by_cell(self, pause: Any) -> str:
        """Show who."""
        return display.clip(pause.paused_by, 80)

    @cell(gettext_lazy("since"))
    def since_cell(self, pause: Any) -> str:
        """Show the age."""
        return display.moment(pause.paused_at_epoch, pause.now_epoch)

    @cell(gettext_lazy("ends"))
    def until_cell(self, pause: Any) -> str:
        """Show when it ends by itself."""
        return end_of(pause)

    # --- The form

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Ask what to pause, or do it."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return self._ask_what(request, PauseForm(initial=_asked_for(request), label_suffix=""))
        form = PauseForm(request.POST, label_suffix="")
        if form.is_valid() and self._pause(request, form):
            return self._back(request)
        return self._ask_what(request, form)

    def _pause(self, request: HttpRequest, form: PauseForm) -> bool:
        given = form.cleaned_data
        words = {"until": given["until"], "by": request.user, "reason": given["reason"]}
        try:
            done = operations.pause(**_named(given["kind"], given["target"]), **words)
        except Refused as refusal:
            fields = {"until_has_passed": "until", "reason_required": "reason"}
            form.add_error(fields.get(refusal.code, "target"), text(str(refusal)))
            return False
        self.log(request, _("paused"), [done.pk], done.reason)
        # The words of the message go through a template, which escapes them.
        self.message_user(request, _("%s is paused.") % name_of(done), messages.SUCCESS)
        for hint in hints_for(done, queue_database()):
            self.message_user(request, display.visible(text(hint)), messages.WARNING)
        return True

    def _ask_what(self, request: HttpRequest, form: PauseForm) -> HttpResponse:
        title = _("Pause a queue or a task")
        context = {
            "title": title,
            "original": title,
            "form": form,
            "names": _known_names(),
            "what_happens": WHAT_HAPPENS,
            "back_url": self._list_url(request),
            "filters": request.POST.get("_changelist_filters", ""),
        }
        return self.render(request, "admin/django_jobqueue/pause_form.html", context)

    # --- The page

    def page_of(self, request: HttpRequest, pk: Any) -> dict[str, Any] | None:
        """Show one pause."""
        pause: Any = readable(self.all_rows().filter(pk=pk), times=TIMES, texts=TEXTS).first()
        if pause is None:
            return None
        until = _("when somebody resumes it")
        if pause.until_epoch is not None:
            until = display.moment_in_full(pause.until_epoch, pause.now_epoch)
        facts = [
            (_("By"), display.clip(pause.paused_by, 255)),
            (_("Since"), display.moment_in_full(pause.paused_at_epoch, pause.now_epoch)),
            (_("Ends"), until),
        ]
        return {
            "title": name_of(pause),
            "original": name_of(pause),
            "heading": name_of(pause),
            "badge": display.badge("paused", _("Paused")),
            "reason": reason_of(pause),
            "facts": [(_("Paused"), facts)],
            "acts": self.acts_open_to(request),
            "chosen": pause.pk,
            "filters": request.GET.get("_changelist_filters", ""),
        }

    def describe(self, pks: Sequence[Any]) -> list[dict[str, Any]]:
        """Describe pauses for a confirmation."""
        return [
            {"title": name_of(pause), "detail": self.paused_reason_cell(pause), "error": ""}
            for pause in self.rows_of_page(pks)
        ]


def _named(kind: str, target: str) -> dict[str, Any]:
    return {"queue_name": target} if kind == Pause.Kind.QUEUE else {"task": target}


def _asked_for(request: HttpRequest) -> dict[str, str]:
    """Fill the form in as a link asked: `?queue=mail` or `?task=…`."""
    for kind in Pause.Kind.values:
        if name := request.GET.get(kind):
            return {"kind": kind, "target": name}
    return {}


def _known_names() -> list[str]:
    """Offer the names of the code. Those of jobs would take a look at them."""
    try:
        tasks = registry.known_tasks()
    except ImportError:
        return []
    return [display.clip(name, 256) for name in (*sorted(queue_names(tasks)), *sorted(task_names(tasks)))]
