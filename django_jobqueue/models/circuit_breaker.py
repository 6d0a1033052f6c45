"""A circuit breaker: how a dependency of tasks fares, and whether their jobs are claimed."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class CircuitBreaker(models.Model):
    """Where a breaker that code declares stands. While it is open no worker claims jobs of its tasks.

    A worker that knows the breaker makes the row when it starts.
    """

    class State(models.TextChoices):
        CLOSED = "closed", _("Closed")
        OPEN = "open", _("Open")
        HALF_OPEN = "half_open", _("Half-open")

    id = models.BigAutoField(primary_key=True)
    name = models.CharField(max_length=255, unique=True)
    state = models.CharField(max_length=9, choices=State.choices, db_default=State.CLOSED.value)
    generation = models.BigIntegerField(
        db_default=0, help_text=_("Grows with each change of state; an attempt counts for the one that it began in.")
    )
    ended = models.PositiveIntegerField(db_default=0, help_text=_("Attempts that were counted."))
    tripped = models.PositiveIntegerField(db_default=0, help_text=_("Those of them that the dependency failed."))
    last_failure = models.CharField(max_length=255, blank=True, db_default="")
    window_started_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())
    opened_at = models.DateTimeField(null=True, blank=True, help_text=_("Since when it is not closed."))
    openings = models.PositiveIntegerField(db_default=0, help_text=_("How often it has opened since it was closed."))
    next_probe_at = models.DateTimeField(null=True, blank=True)
    reason = models.TextField(blank=True, db_default="")
    set_by = models.CharField(max_length=255, blank=True, db_default="", help_text=_("Empty: it changed by itself."))

    class Meta:
        verbose_name = _("circuit breaker")
        verbose_name_plural = _("circuit breakers")
        default_permissions = ("view",)
        permissions = [("set_breaker", "Can open and close circuit breakers")]

    def __str__(self) -> str:
        return self.name
