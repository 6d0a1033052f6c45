"""A limit that a person has set while the queue runs: it stands for the one that code declares."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Limit(models.Model):
    """How many jobs of a queue, of a task or of a concurrency key may run at once, or start in a time.

    It stands for what their rows say, or the code; an empty column leaves it to those.
    """

    class Kind(models.TextChoices):
        QUEUE = "queue", _("Queue")
        TASK = "task", _("Task")
        KEY = "key", _("Concurrency key")

    id = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    target = models.CharField(max_length=255, help_text=_("Name of the queue or task, or the key."))
    at_once = models.PositiveIntegerField(
        null=True, blank=True, help_text=_("So many READY and RUNNING jobs; 0 is none.")
    )
    rate = models.CharField(max_length=40, blank=True, db_default="", help_text=_("So many starts: 100/m burst 20."))
    rate_pace_microseconds = models.BigIntegerField(null=True, blank=True, help_text=_("The rate as a claim takes it."))
    rate_burst = models.PositiveIntegerField(null=True, blank=True)
    reason = models.TextField(blank=True, db_default="")
    set_by = models.CharField(max_length=255)
    set_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = _("limit")
        verbose_name_plural = _("limits")
        default_permissions = ("view",)
        permissions = [("change_limit", "Can change limits of queues, tasks and keys")]
        constraints = [
            models.UniqueConstraint(fields=["kind", "target"], name="jobqueue_limit_unique_target"),
        ]

    def __str__(self) -> str:
        words = [] if self.at_once is None else [f"{self.at_once} at once"]
        return f"{self.kind} {self.target}: {', '.join([*words, self.rate] if self.rate else words)}"
