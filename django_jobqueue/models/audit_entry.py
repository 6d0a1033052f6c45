"""An audit entry: who did what to which row, when and why."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class AuditEntry(models.Model):
    """One act of a person, or of a program in a person's name, written in the transaction of the act.

    Append-only by permissions and grants. No foreign key: users may live in another database or be deleted, rows
    may be pruned; what was done stays done.
    """

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField(db_default=Now())
    actor = models.CharField(max_length=255)
    action = models.CharField(max_length=64, help_text=_("The verb, as in replay, discard, cancel."))
    object = models.CharField(max_length=255, help_text=_("Model and id, as in job:42."))
    reason = models.TextField(blank=True, db_default="")
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        indexes = [models.Index(fields=["object", "id"], name="jobqueue_audit_object")]

    def __str__(self) -> str:
        return f"{self.actor}: {self.action} {self.object}"
