"""An effect: the record that something was done, under a key, so that it is not done twice."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Effect(models.Model):
    """What `once` has done, or an attempt is about to do elsewhere.

    While it is being done `token` is the lease of the attempt that does it; that attempt is gone when no job has the
    token any more.
    """

    id = models.BigAutoField(primary_key=True)
    key = models.CharField(max_length=255)
    request = models.CharField(max_length=64, help_text=_("SHA-256 of what was called, and with which arguments."))
    job_id = models.BigIntegerField(null=True, blank=True, help_text=_("The job that did it; none for other code."))
    token = models.UUIDField(null=True, blank=True, help_text=_("The lease under which it is being done."))
    result = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    done_at = models.DateTimeField(null=True, blank=True)
    keep_until = models.DateTimeField(help_text=_("Until when a second call is answered, at least."))

    class Meta:
        verbose_name = _("effect")
        verbose_name_plural = _("effects")
        constraints = [
            # Not unique=True, which adds a second index for LIKE.
            models.UniqueConstraint(fields=["key"], name="jobqueue_effect_unique_key"),
            models.CheckConstraint(
                condition=Q(done_at__isnull=True, token__isnull=False) | Q(done_at__isnull=False, token__isnull=True),
                name="jobqueue_effect_done_or_held",
            ),
        ]
        indexes = [
            # prune, from its low end.
            models.Index(fields=["keep_until"], name="jobqueue_effect_keep"),
        ]

    def __str__(self) -> str:
        return self.key
