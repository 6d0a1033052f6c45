"""What a person sets and takes back while the queue runs: one kind of row, one list, one form, one button.

A subclass is the page of one such model: a pause, a limit. It names its columns and its form, and says how to set and
what the row means. The row is written by a verb of `operations`, which leaves the audit entry; here it is asked for,
shown with who set it and why, and taken back by an `Act`. All of it takes the permission to see the rows, and one of
its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_jobqueue import registry
from django_jobqueue.admin import display
from django_jobqueue.admin.acts import ActingAdmin
from django_jobqueue.admin.display import cell
from django_jobqueue.admin.rows import readable
from django_jobqueue.exceptions import Refused
from django_jobqueue.shown import text
from django_jobqueue.watch.names import queue_names, task_names


class ControlForm(forms.Form):
    """What it is about, and why; a subclass adds its own fields and the order of all."""

    kind = forms.ChoiceField(label=gettext_lazy("What"), widget=forms.RadioSelect)
    target = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=256,
        widget=forms.TextInput(attrs={"list": "jq-names", "autocomplete": "off", "spellcheck": "false"}),
    )
    reason = forms.CharField(
        label=gettext_lazy("Why?"),
        max_length=1_000,
        help_text=gettext_lazy("Whoever wonders at night why nothing runs will read this."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    kinds: ClassVar[Sequence[tuple[str, Any]]]
    target_help: ClassVar[Any]
    fields_of_refusals: ClassVar[dict[str, str]] = {}
    """The field that a refusal is told beside, by its code; the target unless it is here."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["kind"].choices = self.kinds  # type: ignore[attr-defined]
        self.fields["target"].help_text = self.target_help
        self.initial.setdefault("kind", self.kinds[0][0])


class ControlAdmin(ActingAdmin):
    """The list of what is set, a form to set more, and a page for each."""

    has_acts_on_list = True
    page_template = "admin/django_jobqueue/control.html"

    permission: ClassVar[str]
    """To set, and to take back."""
    form_class: ClassVar[type[ControlForm]]
    set_label: ClassVar[Any]
    """Of the way to the form, and of the form."""
    set_verb: ClassVar[Any]
    """On the button."""
    set_done: ClassVar[Any]
    """In the history of Django's admin."""
    what_happens: ClassVar[Any]
    by_column: ClassVar[str]
    at_column: ClassVar[str]
    times: ClassVar[Sequence[str]]
    texts: ClassVar[Sequence[str]] = ["reason"]

    # --- What a subclass says

    def put(self, given: dict[str, Any], *, by: Any) -> tuple[Model, str]:
        """Set what a valid form says; answer with the row, and a sentence that it is so. Raises Refused."""
        raise NotImplementedError

    def hints_of(self, row: Any) -> list[str]:
        """Say what whoever has just set it should know, as that nothing has its name."""
        return []

    def name_of(self, row: Any) -> str:
        """Name what it is about: `Queue mail`."""
        raise NotImplementedError

    def facts_of(self, row: Any) -> list[tuple[Any, Any]]:
        """Return what its page says besides who, since when and why."""
        return []

    def badge_of(self, row: Any) -> str:
        """Show on its page what it is."""
        raise NotImplementedError

    # --- The list

    def has_add_permission(self, request: HttpRequest) -> bool:
        """To set takes the permission to take back. Who may not see what is set may do neither."""
        return self.has_view_permission(request) and bool(request.user.has_perm(self.permission))

    def rows_of_page(self, pks: Sequence[Any]) -> list[Any]:
        """Fetch rows."""
        found = readable(self.all_rows().filter(pk__in=pks), times=self.times, texts=self.texts)
        by_pk = {row.pk: row for row in found}
        return [by_pk[pk] for pk in pks if pk in by_pk]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Show the list, with a way to the form for whoever may use it."""
        url = self.add_url if self.has_add_permission(request) else ""
        own = {"add_url": url, "add_label": f"{self.set_label}…"}
        return super().changelist_view(request, own | (extra_context or {}))

    @property
    def add_url(self) -> str:
        """The address of the form."""
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_add"
        return reverse(name, current_app=self.admin_site.name)

    @cell(gettext_lazy("what"))
    def what_cell(self, row: Any) -> str:
        """Show what it is about."""
        return format_html('<span class="jq-task">{}</span>', self.name_of(row))

    @cell(gettext_lazy("because"))
    def because_cell(self, row: Any) -> str:
        """Show the reason."""
        return display.clip(reason_of(row), 300)

    @cell(gettext_lazy("by"))
    def by_cell(self, row: Any) -> str:
        """Show who."""
        return display.clip(getattr(row, self.by_column), 80)

    @cell(gettext_lazy("since"))
    def since_cell(self, row: Any) -> str:
        """Show the age."""
        return display.moment(getattr(row, f"{self.at_column}_epoch"), row.now_epoch)

    # --- The form

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Ask what to set, or do it."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return self._ask_what(request, self.form_class(initial=self.asked_for(request), label_suffix=""))
        form = self.form_class(request.POST, label_suffix="")
        if form.is_valid() and self._put(request, form):
            return self._back(request)
        return self._ask_what(request, form)

    def asked_for(self, request: HttpRequest) -> dict[str, Any]:
        """Fill the form in as a link asked: `?queue=mail` or `?task=…`."""
        for kind, _label in self.model._meta.get_field("kind").choices or ():
            if name := request.GET.get(kind):
                return {"kind": kind, "target": name}
        return {}

    def _put(self, request: HttpRequest, form: ControlForm) -> bool:
        try:
            done, sentence = self.put(form.cleaned_data, by=request.user)
        except Refused as refusal:
            form.add_error(form.fields_of_refusals.get(refusal.code, "target"), text(str(refusal)))
            return False
        self.log(request, self.set_done, [done.pk], form.cleaned_data["reason"])
        # The words of the message go through a template, which escapes them.
        self.message_user(request, sentence, messages.SUCCESS)
        for hint in self.hints_of(done):
            self.message_user(request, display.visible(text(hint)), messages.WARNING)
        return True

    def _ask_what(self, request: HttpRequest, form: ControlForm) -> HttpResponse:
        context = {
            "title": self.set_label,
            "original": self.set_label,
            "form": form,
            "names": _known_names(),
            "what_happens": self.what_happens,
            "set_verb": self.set_verb,
            "back_url": self._list_url(request),
            "filters": request.POST.get("_changelist_filters", ""),
        }
        return self.render(request, "admin/django_jobqueue/control_form.html", context)

    # --- The page

    def page_of(self, request: HttpRequest, pk: Any) -> dict[str, Any] | None:
        """Show one row."""
        row: Any = readable(self.all_rows().filter(pk=pk), times=self.times, texts=self.texts).first()
        if row is None:
            return None
        name = self.name_of(row)
        facts = [
            (_("By"), display.clip(getattr(row, self.by_column), 255)),
            (_("Since"), display.moment_in_full(getattr(row, f"{self.at_column}_epoch"), row.now_epoch)),
            *self.facts_of(row),
        ]
        return {
            "title": name,
            "original": name,
            "heading": name,
            "badge": self.badge_of(row),
            "reason": reason_of(row),
            "facts": [(_("Set by a person"), facts)],
            "acts": self.acts_open_to(request),
            "chosen": row.pk,
            "audit_object": f"{row.kind}:{row.target}"[:255],
            "filters": request.GET.get("_changelist_filters", ""),
        }

    def describe(self, pks: Sequence[Any]) -> list[dict[str, Any]]:
        """Describe rows for a confirmation."""
        return [
            {"title": self.name_of(row), "detail": self.because_cell(row), "error": ""}
            for row in self.rows_of_page(pks)
        ]


def reason_of(row: Any) -> str:
    """Write why, without secrets and not too long."""
    return display.clip(text(row.reason_text), 1_000)


def _known_names() -> list[str]:
    """Offer the names of the code. Those of jobs would take a look at them."""
    try:
        tasks = registry.known_tasks()
    except ImportError:
        return []
    return [display.clip(name, 256) for name in (*sorted(queue_names(tasks)), *sorted(task_names(tasks)))]
