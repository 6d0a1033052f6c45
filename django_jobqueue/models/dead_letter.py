"""A dead letter: a failed job that waits for a person."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from django_jobqueue.models.job import Job
from django_jobqueue.policy import lifecycle


class DeadLetter(models.Model):
    """The one letter of a job that died, however often it died.

    A FAILED job's letter is OPEN or DISCARDED. A replay makes it REPLAYED; it is RESOLVED when the job succeeds or
    is cancelled, and OPEN again, with one death more, when the job dies again.
    """

    class Status(models.TextChoices):
        OPEN = lifecycle.LetterStatus.OPEN.value, _("Open")
        REPLAYED = lifecycle.LetterStatus.REPLAYED.value, _("Replayed")
        RESOLVED = lifecycle.LetterStatus.RESOLVED.value, _("Resolved")
        DISCARDED = lifecycle.LetterStatus.DISCARDED.value, _("Discarded")

    id = models.BigAutoField(primary_key=True)
    job = models.OneToOneField(Job, models.CASCADE, related_name="dead_letter")
    status = models.CharField(max_length=16, choices=Status.choices, db_default=Status.OPEN)
    reason = models.CharField(max_length=32, choices=[(r.value, r.value.replace("_", " ")) for r in lifecycle.Reason])
    fingerprint = models.CharField(max_length=64, db_default="", blank=True, help_text=_("Same for deaths of a kind."))
    owner = models.CharField(max_length=255, db_default="", blank=True)
    deaths = models.PositiveIntegerField(db_default=1)
    first_died_at = models.DateTimeField()
    last_died_at = models.DateTimeField()
    note = models.TextField(db_default="", blank=True)

    class Meta:
        verbose_name = _("dead letter")
        verbose_name_plural = _("dead letters")
        permissions = [
            ("replay_deadletter", "Can replay dead letters"),
            ("discard_deadletter", "Can discard dead letters"),
        ]
        indexes = [
            # The daily page, the depth of the dead-letter queue, and alerts.
            models.Index(fields=["last_died_at", "id"], condition=Q(status="OPEN"), name="jobqueue_letter_open"),
            # A job that succeeds looks here for a letter to resolve. It hardly ever holds more than a few rows.
            models.Index(fields=["job"], condition=Q(status="REPLAYED"), name="jobqueue_letter_replayed"),
        ]

    def __str__(self) -> str:
        return f"dead letter of job {self.job_id}"
