"""A bucket of tokens: what is left of a rate. A start of a job under it takes one."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from django_jobqueue.models.limit import Limit


class RateBucket(models.Model):
    """The tokens of a queue, of a task or of a key, as a claim left them. No row is a full bucket.

    How fast it fills, and how many it holds, is not here: that is what code and people say at the moment of a claim.
    """

    id = models.BigAutoField(primary_key=True)
    backend = models.CharField(max_length=64)
    kind = models.CharField(max_length=8, choices=Limit.Kind.choices)
    target = models.CharField(max_length=255)
    tokens = models.PositiveIntegerField()
    refilled_at = models.DateTimeField(help_text=_("From this moment on the next token grows."))
    full_at = models.DateTimeField(help_text=_("From this moment on it is as good as no row."))

    class Meta:
        verbose_name = _("rate bucket")
        verbose_name_plural = _("rate buckets")
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(fields=["backend", "kind", "target"], name="jobqueue_bucket_unique_target"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.target}: {self.tokens}"
