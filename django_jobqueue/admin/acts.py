"""Confirm, act, tell: the one road of every button, from the list and from a page, on every Django.

    POST ids                    →  a page that says what will happen, to which rows, and asks for a reason
    POST ids, confirm, reason   →  the verb of `operations`, once per row; back to the same list, with a message

A list also takes an act as Django's own lists take an action: POST action=replay, _selected_action=…, and post=yes to
confirm. Django's machinery behind that is not used: it lives on lists only before 6.1, and acts on a queryset of the
moment where this acts on the rows a person saw. Each act has a permission of its own, checked here; a template that
hides a button is a courtesy. A GET changes nothing, ever. One row that refuses or breaks does not stop the others.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.db import router, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from django_jobqueue.admin import display
from django_jobqueue.admin.base import QueueAdmin
from django_jobqueue.admin.covers import log_failure, secrets_of_row
from django_jobqueue.database import queue_database
from django_jobqueue.exceptions import Refused
from django_jobqueue.shown import text

logger = logging.getLogger(__name__)

CHOSEN = "_selected_action"
CONFIRMED = ("confirm", "post")
"""Either says that the person has seen what will happen; the second is the name that Django's own actions use."""
EXAMPLES = 5
MOST_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One verb of `operations` with its words and its permission."""

    name: str
    model_name: str
    verb: Any
    done: Any
    perform: Callable[..., object]
    permission: str
    what_happens: Any
    needs_reason: bool
    default_reason: Any = ""
    is_grave: bool = False

    @property
    def url_name(self) -> str:
        """Name the address of its view."""
        return f"admin:django_jobqueue_{self.model_name}_{self.name}"


class ReasonForm(forms.Form):
    """Why a person does this."""

    reason = forms.CharField(max_length=1_000, widget=forms.Textarea(attrs={"rows": 3}))

    def __init__(self, act: Act, data: QueryDict | None = None) -> None:
        super().__init__(data, label_suffix="")
        field = self.fields["reason"]
        field.required = act.needs_reason
        if not act.needs_reason:
            field.widget.attrs["placeholder"] = str(act.default_reason)
        else:
            field.widget.attrs["autofocus"] = True


@dataclass(slots=True)
class Tally:
    """What became of the rows."""

    done: list[int]
    refused: Counter[str]
    details: list[str]


class ActingAdmin(QueueAdmin):
    """A list and pages with buttons."""

    acts: ClassVar[tuple[Act, ...]] = ()
    has_acts_on_list: ClassVar[bool] = False

    def acts_open_to(self, request: HttpRequest) -> list[Act]:
        """Return the acts whose permission the user has. Who may not see the rows may not act on them."""
        if not self.has_view_permission(request):
            return []
        return [act for act in self.acts if request.user.has_perm(act.permission)]

    def describe(self, pks: Sequence[Any]) -> list[dict[str, Any]]:
        """Describe these rows for a confirmation: `title`, `detail`, `error`."""
        raise NotImplementedError

    def get_urls(self) -> list[URLPattern]:
        """Put the acts before the pages of rows, whose pattern takes anything."""
        own = []
        for act in self.acts:
            view = self.admin_site.admin_view(partial(self.act_view, act=act))
            own.append(path(f"{act.name}/", view, name=act.url_name.removeprefix("admin:")))
        return own + super().get_urls()

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        """Put a box before each row for whoever has a use for it."""
        columns = list(super().get_list_display(request))
        return ["choose_cell", *columns] if self._acts_on_list(request) else columns

    @display.cell(gettext_lazy("choose"))
    def choose_cell(self, row: Any) -> str:
        """Show a box."""
        box = '<input type="checkbox" class="jq-choose" name="{}" value="{}" aria-label="{}">'
        return format_html(box, CHOSEN, row.pk, row)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Show the list with its buttons, or take one of its acts."""
        if request.method == "POST":
            act = next((act for act in self.acts if act.name == request.POST.get("action")), None)
            if act is not None and self.has_acts_on_list:
                return self.act_view(request, act)
        return super().changelist_view(request, {"acts": self._acts_on_list(request)} | (extra_context or {}))

    def render(self, request: HttpRequest, template: str, context: dict[str, Any]) -> TemplateResponse:
        """Answer with a page that may have buttons."""
        return super().render(request, template, {"chosen_name": CHOSEN} | context)

    def _acts_on_list(self, request: HttpRequest) -> list[Act]:
        return self.acts_open_to(request) if self.has_acts_on_list else []

    def act_view(self, request: HttpRequest, act: Act) -> HttpResponse:
        """Ask, or do. Nothing happens without the permission, a POST and a confirmation."""
        if act not in self.acts_open_to(request):
            raise PermissionDenied
        if request.method != "POST":
            return self._back(request)
        pks = _ids(request.POST.getlist(CHOSEN))
        if not pks:
            self.message_user(request, _("Nothing was chosen, and nothing has changed."), messages.WARNING)
            return self._back(request)
        form = ReasonForm(act, request.POST if any(name in request.POST for name in CONFIRMED) else None)
        if not form.is_valid():
            return self._ask(request, act, pks, form)
        reason = form.cleaned_data["reason"].strip() or str(act.default_reason)
        tally = self._perform(request, act, pks, reason)
        self._tell(request, act, tally)
        return self._back(request)

    def _ask(self, request: HttpRequest, act: Act, pks: list[int], form: ReasonForm) -> HttpResponse:
        title = _("%(verb)s %(rows)s") % {"verb": act.verb, "rows": self._count_of(len(pks))}
        context = {
            "title": title,
            "original": title,
            "act": act,
            "act_url": reverse(act.url_name, current_app=self.admin_site.name),
            "pks": pks,
            "examples": self.describe(pks[:EXAMPLES]),
            "more": max(0, len(pks) - EXAMPLES),
            "form": form,
            "back_url": self._list_url(request),
            "filters": request.POST.get("_changelist_filters", ""),
        }
        return self.render(request, "admin/django_jobqueue/confirm.html", context)

    def _perform(self, request: HttpRequest, act: Act, pks: list[int], reason: str) -> Tally:
        tally = Tally([], Counter(), [])
        # By id, so that two people with overlapping pages never wait for each other in a circle.
        for pk in sorted(pks):
            try:
                act.perform(pk, by=request.user, reason=reason)
            except Refused as refusal:
                tally.refused[display.words(refusal.code).lower()] += 1
                tally.details.append(text(str(refusal)))
            except Exception as error:  # one damaged row must not keep the others from being handled
                secrets = secrets_of_row(self.model, pk, using=queue_database())
                log_failure(logger, f"{act.name} of {self.opts.model_name} {pk} failed", error, secrets)
                tally.refused[_("failed with %s") % type(error).__name__] += 1
                tally.details.append(f"{type(error).__name__}: {display.first_line(text(str(error), secrets))}")
            else:
                tally.done.append(pk)
        self.log(request, act.done, tally.done, reason)
        return tally

    def log(self, request: HttpRequest, done: Any, pks: list[int], reason: str) -> None:
        """Add the admin's own entries. The AuditEntry is the record; these are a courtesy, their loss is no error."""
        if not pks:
            return
        message = f"{done}: {text(reason)}" if reason else str(done)

        # Not a partial: Django 5.2 asks a failed robust callback for its __qualname__.
        def write() -> None:
            _write_log(request.user.pk, self.model, pks, message)

        transaction.on_commit(write, using=queue_database(), robust=True)

    def _tell(self, request: HttpRequest, act: Act, tally: Tally) -> None:
        """Say what happened to how many, and why to the others not."""
        parts = []
        if tally.done:
            parts.append(f"{self._count_of(len(tally.done))} {act.done}")
        if len(tally.done) + tally.refused.total() == 1 and tally.details:
            parts.append(_("Refused: %s") % tally.details[0])
        else:
            parts += [_("%(count)d refused: %(why)s") % {"count": n, "why": why} for why, n in tally.refused.items()]
        level = messages.SUCCESS if not tally.refused else messages.WARNING if tally.done else messages.ERROR
        self.message_user(request, ", ".join(parts) + ".", level)

    def _count_of(self, count: int) -> str:
        return ngettext("%(count)d %(one)s", "%(count)d %(many)s", count) % {
            "count": count,
            "one": self.opts.verbose_name,
            "many": self.opts.verbose_name_plural,
        }

    def _back(self, request: HttpRequest) -> HttpResponseRedirect:
        return HttpResponseRedirect(self._list_url(request))

    def _list_url(self, request: HttpRequest) -> str:
        """Return the list as the person left it. Only filters come from the request, never an address."""
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"
        url = reverse(name, current_app=self.admin_site.name)
        filters = QueryDict(request.POST.get("_changelist_filters", "")).urlencode()
        return f"{url}?{filters}" if filters else url


def _ids(texts: Sequence[str]) -> list[int]:
    ids = dict.fromkeys(int(text) for text in texts if text.isascii() and text.isdecimal() and len(text) < 19)
    return list(ids)[:MOST_AT_ONCE]


def _write_log(user_id: Any, model: Any, pks: list[int], message: str) -> None:
    with transaction.atomic(using=router.db_for_write(LogEntry)):
        kind = ContentType.objects.get_for_model(model).pk
        LogEntry.objects.bulk_create(
            LogEntry(
                user_id=user_id,
                content_type_id=kind,
                object_id=str(pk),
                object_repr=f"{model._meta.verbose_name} {pk}",
                action_flag=CHANGE,
                change_message=message,
            )
            for pk in pks
        )
