"""An attempt: one try of a job by one worker, written when it has ended."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from django_jobqueue.models.job import Job
from django_jobqueue.policy.outcomes import OutcomeName


class Attempt(models.Model):
    """One try of a job, closed with its outcome. History: nothing updates it."""

    class Outcome(models.TextChoices):
        SUCCEEDED = OutcomeName.SUCCEEDED.value, _("Succeeded")
        FAILED = OutcomeName.FAILED.value, _("Failed")
        TIMED_OUT = OutcomeName.TIMED_OUT.value, _("Timed out")
        LOST = OutcomeName.LOST.value, _("Lost")
        INTERRUPTED = OutcomeName.INTERRUPTED.value, _("Interrupted")
        SNOOZED = OutcomeName.SNOOZED.value, _("Snoozed")
        CANCELLED = OutcomeName.CANCELLED.value, _("Cancelled")

    id = models.BigAutoField(primary_key=True)
    # No constraint in the database: it would lock the job's row once more for every attempt, and no id of a job is
    # ever reused. No index of its own: the unique constraint begins with it.
    job = models.ForeignKey(Job, models.CASCADE, related_name="attempts", db_constraint=False, db_index=False)
    number = models.PositiveIntegerField(help_text=_("Counts from 1 and only grows, through replays too."))
    worker_id = models.UUIDField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True, help_text=_("The claim."))
    finished_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=16, choices=Outcome.choices)
    charged = models.BooleanField(db_default=False, help_text=_("Counts towards max_attempts."))
    exception_class = models.CharField(max_length=255, blank=True, db_default="")
    message = models.TextField(blank=True, db_default="")
    traceback = models.TextField(blank=True, db_default="")

    class Meta:
        verbose_name = _("attempt")
        verbose_name_plural = _("attempts")
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="jobqueue_attempt_number")]

    def __str__(self) -> str:
        return f"attempt {self.number} of job {self.job_id}: {self.outcome}"
