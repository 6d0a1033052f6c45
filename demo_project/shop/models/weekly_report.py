"""The week in numbers, as a file to download."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class WeeklyReport(models.Model):
    """One week. Built again, it replaces itself."""

    week = models.CharField(max_length=8, unique=True, help_text="ISO year and week, as in 2026-W48.")
    csv = models.TextField()
    orders = models.PositiveIntegerField()
    total_cents = models.PositiveBigIntegerField()
    built_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-week"]

    def __str__(self) -> str:
        return f"week {self.week}"
