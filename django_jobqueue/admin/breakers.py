"""Circuit breakers: how each stands and why, and opening and closing one by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_jobqueue import breakers, operations
from django_jobqueue.admin import display
from django_jobqueue.admin.acts import Act, ActingAdmin
from django_jobqueue.admin.display import cell
from django_jobqueue.admin.rows import readable
from django_jobqueue.database import queue_database
from django_jobqueue.exceptions import Refused
from django_jobqueue.models import CircuitBreaker
from django_jobqueue.policy.breaker import State
from django_jobqueue.shown import text
from django_jobqueue.store.breakers import known

PERMISSION = "django_jobqueue.set_breaker"

TIMES, TEXTS = ["window_started_at", "changed_at", "opened_at", "next_probe_at"], ["reason"]


def _by_pk(verb: Callable[..., CircuitBreaker]) -> Callable[..., CircuitBreaker]:
    """Make a verb that goes by the name of a breaker go by its row."""

    def act(pk: int, *, by: Any, reason: str) -> CircuitBreaker:
        name = known(queue_database()).filter(pk=pk).values_list("name", flat=True).first()
        if name is None:
            raise Refused("unknown_breaker", _("it is gone"))
        return verb(name, by=by, reason=reason)

    return act


OPEN = Act(
    name="open",
    model_name="circuitbreaker",
    verb=gettext_lazy("Open"),
    done=gettext_lazy("opened"),
    perform=_by_pk(operations.open_breaker),
    permission=PERMISSION,
    what_happens=gettext_lazy(
        "From the moment on that this is saved, workers start no job of its tasks, until somebody closes it. What "
        "runs, runs on. Jobs keep their place, and no attempt is spent."
    ),
    needs_reason=True,
)

CLOSE = Act(
    name="close",
    model_name="circuitbreaker",
    verb=gettext_lazy("Close"),
    done=gettext_lazy("closed"),
    perform=_by_pk(operations.close_breaker),
    permission=PERMISSION,
    what_happens=gettext_lazy(
        "Workers start jobs of its tasks again, a few at first. If what they depend on is still down, it opens again "
        "by itself."
    ),
    needs_reason=True,
)


@admin.register(CircuitBreaker)
class CircuitBreakerAdmin(ActingAdmin):
    """The list of breakers, and a page for each."""

    acts = (CLOSE, OPEN)
    has_acts_on_list = True
    list_display = ["name_cell", "state_cell", "counts_cell", "breaker_reason_cell", "since_cell", "probe_cell"]
    list_display_links = ["name_cell"]
    page_template = "admin/django_jobqueue/breaker.html"
    empty_text = gettext_lazy("No worker knows of a circuit breaker. A task has one by @task(breaker=…).")

    # --- The list

    def rows_of_page(self, pks: Sequence[Any]) -> list[Any]:
        """Fetch breakers."""
        by_pk = {row.pk: row for row in readable(self.all_rows().filter(pk__in=pks), times=TIMES, texts=TEXTS)}
        return [by_pk[pk] for pk in pks if pk in by_pk]

    @cell(gettext_lazy("breaker"))
    def name_cell(self, breaker: Any) -> str:
        """Show the name."""
        return format_html('<span class="jq-task">{}</span>', display.clip(breaker.name, 80))

    @cell(gettext_lazy("state"))
    def state_cell(self, breaker: Any) -> str:
        """Show the state."""
        return _badge(breaker)

    @cell(gettext_lazy("failed"))
    def counts_cell(self, breaker: Any) -> str:
        """Show what was counted."""
        return _counts(breaker) if breaker.ended else display.NOTHING

    @cell(gettext_lazy("because"))
    def breaker_reason_cell(self, breaker: Any) -> str:
        """Show why it changed."""
        return display.clip(_reason(breaker), 300) or display.NOTHING

    @cell(gettext_lazy("since"))
    def since_cell(self, breaker: Any) -> str:
        """Show the age of its state."""
        return display.moment(breaker.changed_at_epoch, breaker.now_epoch) if breaker.generation else display.NOTHING

    @cell(gettext_lazy("next probe"))
    def probe_cell(self, breaker: Any) -> str:
        """Show when it is tried."""
        return str(_next_probe(breaker))

    # --- The page

    def page_of(self, request: HttpRequest, pk: Any) -> dict[str, Any] | None:
        """Show one breaker."""
        breaker: Any = readable(self.all_rows().filter(pk=pk), times=TIMES, texts=TEXTS).first()
        if breaker is None:
            return None
        facts = [
            (_("Failed"), _counts(breaker)),
            (_("Last failure"), display.clip(breaker.last_failure, 255) or display.NOTHING),
            (_("Counted since"), display.moment_in_full(breaker.window_started_at_epoch, breaker.now_epoch)),
        ]
        story = [
            (_("Changed"), display.moment_in_full(breaker.changed_at_epoch, breaker.now_epoch)),
            (_("By"), display.clip(breaker.set_by, 255) or _("itself")),
            (_("Not closed since"), _since(breaker.opened_at_epoch, breaker.now_epoch)),
            (_("Openings"), breaker.openings),
            (_("Next probe"), _next_probe(breaker)),
            (_("Tasks"), ", ".join(display.clip(name, 256) for name in _tasks(breaker.name)) or display.NOTHING),
        ]
        return {
            "title": display.clip(breaker.name, 80),
            "original": display.clip(breaker.name, 80),
            "heading": display.clip(breaker.name, 80),
            "badge": _badge(breaker),
            "reason": _reason(breaker) or display.NOTHING,
            "facts": [(_("State"), story), (_("Attempts"), facts)],
            "acts": self.acts_open_to(request),
            "chosen": breaker.pk,
            "filters": request.GET.get("_changelist_filters", ""),
        }

    def describe(self, pks: Sequence[Any]) -> list[dict[str, Any]]:
        """Describe breakers for a confirmation."""
        return [
            {
                "title": display.clip(breaker.name, 80),
                "detail": f"{_state(breaker)}: {self.breaker_reason_cell(breaker)}",
                "error": "",
            }
            for breaker in self.rows_of_page(pks)
        ]


def _state(breaker: Any) -> str:
    return str(dict(CircuitBreaker.State.choices).get(breaker.state, display.clip(breaker.state, 9)))


def _badge(breaker: Any) -> SafeString:
    return display.badge(breaker.state, _state(breaker))


def _counts(breaker: Any) -> str:
    return str(_("%(tripped)d of %(ended)d")) % {"tripped": breaker.tripped, "ended": breaker.ended}


def _reason(breaker: Any) -> str:
    return display.clip(text(breaker.reason_text), 1_000)


def _since(epoch: float | None, now: float) -> Any:
    return display.NOTHING if epoch is None else display.moment_in_full(epoch, now)


def _next_probe(breaker: Any) -> Any:
    if breaker.state == State.HALF_OPEN:
        return _("now")
    if breaker.state != State.OPEN:
        return display.NOTHING
    if breaker.next_probe_at_epoch is None:
        return _("when somebody closes it")
    return display.moment(breaker.next_probe_at_epoch, breaker.now_epoch)


def _tasks(name: str) -> list[str]:
    with suppress(ImportError):
        _rules, tasks = breakers.declared().get(name, (None, []))
        return tasks
    return []
