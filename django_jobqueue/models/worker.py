"""A worker: a keeper with its runners, as it last spoke."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Worker(models.Model):
    """A keeper with its runners.

    For people: leases decide. A rescue reads the rescuer's own: is this request as young as I think? And a worker that
    does not know a task asks whether another one does, before it puts the job aside.
    """

    id = models.UUIDField(primary_key=True)
    backend = models.CharField(max_length=64)
    hostname = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    queues = models.JSONField(default=list, help_text=_("Names and prefixes it serves; empty for all."))
    tasks = models.JSONField(
        default=dict, help_text=_("Names of the tasks that it knows, and the newest version of each.")
    )
    processes = models.PositiveIntegerField()
    threads = models.PositiveIntegerField()
    coroutines = models.PositiveIntegerField()
    running = models.PositiveIntegerField(db_default=0, help_text=_("Jobs in its hands when it last spoke."))
    stale_refused = models.PositiveIntegerField(db_default=0, help_text=_("Writes refused because the lease was gone."))
    started_at = models.DateTimeField(db_default=Now())
    last_seen_at = models.DateTimeField(db_default=Now())
    stopped_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("worker")
        verbose_name_plural = _("workers")

    def __str__(self) -> str:
        return f"{self.hostname}:{self.pid}"
