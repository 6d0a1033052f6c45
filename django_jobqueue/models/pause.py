"""A pause: what no worker claims until somebody resumes it, or a moment has come."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Pause(models.Model):
    """Queues or tasks, by name or by the beginning of it, that are not claimed while this row is there.

    One that is over by `until` counts as gone. What is running when it begins runs on.
    """

    class Kind(models.TextChoices):
        QUEUE = "queue", _("Queue")
        TASK = "task", _("Task")

    id = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    target = models.CharField(max_length=256, help_text=_("A name, or the beginning of names and an asterisk."))
    pattern = models.CharField(max_length=1024, help_text=_("The target as LIKE takes it."))
    reason = models.TextField()
    paused_by = models.CharField(max_length=255)
    paused_at = models.DateTimeField(db_default=Now())
    until = models.DateTimeField(null=True, blank=True, help_text=_("When it ends by itself; empty is never."))

    class Meta:
        verbose_name = _("pause")
        verbose_name_plural = _("pauses")
        default_permissions = ("view",)
        permissions = [("pause_queue", "Can pause and resume queues and tasks")]
        constraints = [
            models.UniqueConstraint(fields=["kind", "target"], name="jobqueue_pause_unique_target"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.target}"

    def covers(self, *, queue_name: str | None = None, task: str | None = None) -> bool:
        """Say whether a queue, a task, or a job that has both, is kept from being claimed by this."""
        name = queue_name if self.kind == self.Kind.QUEUE else task
        if name is None:
            return False
        return name.startswith(self.target[:-1]) if self.target.endswith("*") else name == self.target
