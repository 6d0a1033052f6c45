"""Workers: who is at work, as last heard of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_jobqueue.admin import display
from django_jobqueue.admin.base import QueueAdmin
from django_jobqueue.admin.display import cell
from django_jobqueue.admin.paging import Keyset
from django_jobqueue.admin.rows import readable
from django_jobqueue.models import Worker
from django_jobqueue.shown import Veil

_TIMES = ["started_at", "last_seen_at", "stopped_at"]

SILENT_SECONDS = 60
"""A worker speaks with each renewal of its leases, every few seconds. After this long it is worth a look."""


@admin.register(Worker)
class WorkerAdmin(QueueAdmin):
    """The list of workers, and a worker's page."""

    keyset = Keyset("last_seen_at")
    list_display = [
        "name_cell",
        "state_cell",
        "seen_cell",
        "running_cell",
        "size_cell",
        "queues_cell",
        "started_cell",
    ]
    list_display_links = ["name_cell"]
    page_template = "admin/django_jobqueue/record.html"

    def rows_of_page(self, pks: Sequence[Any]) -> list[Any]:
        """Fetch workers."""
        by_pk = {w.pk: w for w in readable(self.all_rows().filter(pk__in=pks), times=_TIMES, texts=["queues"])}
        return [by_pk[pk] for pk in pks if pk in by_pk]

    @cell(gettext_lazy("worker"))
    def name_cell(self, worker: Any) -> str:
        """Show the host and the process."""
        return format_html('<span class="jq-task">{}:{}</span>', display.clip(worker.hostname, 80), worker.pid)

    @cell(gettext_lazy("state"))
    def state_cell(self, worker: Any) -> str:
        """Show whether it works, has stopped, or has not been heard of."""
        return _state(worker)

    @cell(gettext_lazy("last heard of"))
    def seen_cell(self, worker: Any) -> str:
        """Show the age of its last word."""
        return display.moment(worker.last_seen_at_epoch, worker.now_epoch)

    @cell(gettext_lazy("running"))
    def running_cell(self, worker: Any) -> str:
        """Show the jobs in its hands when it last spoke."""
        return format_html('<span class="jq-number">{}</span>', worker.running)

    @cell(gettext_lazy("size"))
    def size_cell(self, worker: Any) -> str:
        """Show its processes, threads and coroutines."""
        return _size(worker)

    @cell(gettext_lazy("queues"))
    def queues_cell(self, worker: Any) -> str:
        """Show what it serves."""
        return _queues(worker)

    @cell(gettext_lazy("started"))
    def started_cell(self, worker: Any) -> str:
        """Show the age."""
        return display.moment(worker.started_at_epoch, worker.now_epoch)

    def page_of(self, request: HttpRequest, pk: Any) -> dict[str, Any] | None:
        """Show one worker."""
        worker: Any = readable(self.all_rows().filter(pk=pk), times=_TIMES, texts=["queues"]).first()
        if worker is None:
            return None
        heading = f"{display.clip(worker.hostname, 120)}:{worker.pid}"

        def time(name: str) -> Any:
            return display.moment_in_full(getattr(worker, f"{name}_epoch"), worker.now_epoch)

        times = [(_("Started"), time("started_at")), (_("Last heard of"), time("last_seen_at"))]
        if worker.stopped_at_epoch is not None:
            times.append((_("Stopped"), time("stopped_at")))
        work = [
            (_("Queues"), _queues(worker)),
            (_("Size"), _size(worker)),
            (_("Running"), worker.running),
            (_("Late writes refused"), worker.stale_refused),
        ]
        identity = [(_("Id"), str(worker.pk)), (_("Backend"), display.clip(worker.backend, 64))]
        return {
            "title": heading,
            "original": heading,
            "heading": heading,
            "badge": _state(worker),
            "facts": [(_("Times"), times), (_("Work"), work), (_("Identity"), identity)],
        }


def _state(worker: Any) -> str:
    if worker.stopped_at_epoch is not None:
        return display.badge("stopped", _("Stopped"))
    if worker.now_epoch - worker.last_seen_at_epoch > SILENT_SECONDS:
        return display.badge("silent", _("Silent"))
    return display.badge("working", _("Working"))


def _size(worker: Any) -> str:
    size = _("%(processes)d \u00d7 %(threads)d threads, %(coroutines)d coroutines")
    return size % {
        "processes": worker.processes,
        "threads": worker.threads,
        "coroutines": worker.coroutines,
    }


def _queues(worker: Any) -> str:
    """Show names as a list; anything else as it is stored."""
    listed = display.call(worker.queues_text, "{}", veil=Veil())
    return _("all") if worker.queues_text == "[]" else display.clip(listed.replace('"', ""), 120)
