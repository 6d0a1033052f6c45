"""Room under a depth limit: how many due jobs may still be enqueued."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Credit(models.Model):
    """A slice of the room that a queue, a task or a concurrency key has left under its `max_depth`.

    An enqueue takes credits from a slice that nobody has locked, so that nobody waits for another's transaction. All
    slices of a scope and the jobs that hold a credit never add up to more than `max_depth`. A slice that is not there
    counts as full: it is written when it is first needed.
    """

    class Kind(models.TextChoices):
        QUEUE = "queue", _("Queue")
        TASK = "task", _("Task")
        KEY = "key", _("Concurrency key")

    id = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    backend = models.CharField(max_length=64, help_text=_("Alias in TASKS."))
    target = models.CharField(max_length=255, help_text=_("Name of the queue or task, or the key."))
    slot = models.PositiveSmallIntegerField(help_text=_("Number of the slice; from 0."))
    amount = models.PositiveIntegerField(help_text=_("Due jobs that it has room for."))
    max_depth = models.PositiveIntegerField(help_text=_("The limit that it is a slice of."))
    writes = models.BigIntegerField(db_default=0, help_text=_("Grows with every change."))
    drained = models.FloatField(db_default=0.0, help_text=_("Claims; a minute later two thirds are forgotten."))
    drained_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = _("credit")
        verbose_name_plural = _("credits")
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(fields=["kind", "backend", "target", "slot"], name="jobqueue_credit_unique_slot"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.target} #{self.slot}: {self.amount}"
