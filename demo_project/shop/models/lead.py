"""Somebody who might buy, heard of through a webhook."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class Lead(models.Model):
    """One lead, however often its sender tells of it."""

    source = models.CharField(max_length=40)
    external_id = models.CharField(max_length=80)
    name = models.CharField(max_length=120)
    company = models.CharField(max_length=120)
    job_id = models.CharField(max_length=64, blank=True, help_text="The job of the first delivery.")
    deliveries = models.PositiveIntegerField(default=1, help_text="How often the webhook told of it.")
    received_at = models.DateTimeField(db_default=Now())
    industry = models.CharField(max_length=80, blank=True)
    employees = models.PositiveIntegerField(null=True, blank=True)
    crm_reference = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["source", "external_id"], name="shop_lead_once")]

    def __str__(self) -> str:
        return f"{self.name}, {self.company}"
