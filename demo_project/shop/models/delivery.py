"""A mail that somebody is owed."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class Delivery(models.Model):
    """One mail about one thing. Asking twice finds the same row.

    `sent_at` is written when the server has taken the mail.
    """

    template_id = models.CharField(max_length=40)
    about = models.CharField(max_length=80, help_text="Model and id, as in order:42.")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    job_id = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True, blank=True)
    bounced_at = models.DateTimeField(null=True, blank=True)
    bounce = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name_plural = "deliveries"
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["template_id", "about"], name="shop_delivery_once")]

    def __str__(self) -> str:
        return f"{self.template_id} about {self.about}"
