"""A job: one request to run a task, from enqueue to its end."""

from __future__ import annotations

from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Coalesce, Now
from django.db.models.lookups import LessThanOrEqual
from django.utils.translation import gettext_lazy as _

from django_jobqueue.models.column_size import ColumnSize
from django_jobqueue.policy import lifecycle

UNDER_A_LIMIT = Q(key_limit__isnull=False) | Q(task_limit__isnull=False) | Q(queue_limit__isnull=False)
"""Such a job is READY only while it has a slot. Whatever ends its run gives it back, and only promotion gives one."""

IN_A_SHARE = Q(share_weight__isnull=False)
"""Such a job is READY only while it has a place of its tenant."""

_CREDIT = _("Under a depth limit: 1 holds a credit, 0 and -1 count by the row; -1 gave one back at its last claim.")

MAX_STORED_BYTES = 16 * 1024 * 1024
"""Most that the arguments of a job, or its result, take as PostgreSQL stores them, whoever writes them."""


class Job(models.Model):
    """One request to run a task.

    The lease lives in the row of the job it belongs to: `lease_token` is the right to write, `lease_expires_at` its
    end. While a job runs, its open attempt is these columns too (number `attempt_count`, begun at
    `last_attempted_at`, by `worker_id`); the Attempt row is written when it ends.
    """

    class Status(models.TextChoices):
        WAITING = lifecycle.Status.WAITING.value, _("Waiting")
        READY = lifecycle.Status.READY.value, _("Ready")
        RUNNING = lifecycle.Status.RUNNING.value, _("Running")
        SUCCESSFUL = lifecycle.Status.SUCCESSFUL.value, _("Successful")
        FAILED = lifecycle.Status.FAILED.value, _("Failed")
        CANCELLED = lifecycle.Status.CANCELLED.value, _("Cancelled")

    id = models.BigAutoField(primary_key=True)
    backend = models.CharField(max_length=64, db_default="default", help_text=_("Alias in TASKS."))
    task = models.CharField(max_length=255, help_text=_("Stored name of the task."))
    version = models.PositiveIntegerField(db_default=1)
    args = models.JSONField(default=list, db_default=models.Value([], models.JSONField()))
    kwargs = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))

    queue_name = models.CharField(_("queue"), max_length=128, db_default="default")
    priority = models.SmallIntegerField(db_default=0, help_text=_("Higher runs first; -100 to 100."))
    run_after = models.DateTimeField(db_default=Now(), help_text=_("Not before this moment."))
    status = models.CharField(max_length=16, choices=Status.choices, db_default=Status.READY)
    waiting_for = models.CharField(
        max_length=16, blank=True, db_default="", choices=[(w.value, w.value) for w in lifecycle.WaitingFor]
    )

    max_attempts = models.PositiveIntegerField(db_default=3)
    attempt_count = models.PositiveIntegerField(db_default=0, help_text=_("Claims that reached a runner; only grows."))
    failure_count = models.PositiveIntegerField(db_default=0, help_text=_("Charged attempts since the last replay."))
    interruption_count = models.PositiveIntegerField(db_default=0)
    snooze_count = models.PositiveIntegerField(db_default=0)
    crash_count = models.PositiveIntegerField(db_default=0)
    edit_count = models.PositiveIntegerField(db_default=0, help_text=_("Replays with edited arguments; only grows."))

    enqueued_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True, blank=True)
    last_attempted_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    parked_at = models.DateTimeField(null=True, blank=True, help_text=_("Since when no living worker knows its task."))

    lease_token = models.UUIDField(null=True, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    worker_id = models.UUIDField(null=True, blank=True)

    unique_key = models.CharField(max_length=255, null=True, blank=True)  # noqa: DJ001 - NULL keeps keyless jobs out of the index
    unique_until_started = models.BooleanField(db_default=False, help_text=_("The first claim gives up the key."))
    concurrency_key = models.CharField(max_length=255, null=True, blank=True)  # noqa: DJ001 - NULL: under no limit
    key_limit = models.PositiveIntegerField(null=True, blank=True, help_text=_("At once, of its concurrency key."))
    task_limit = models.PositiveIntegerField(null=True, blank=True, help_text=_("At once, of its task."))
    queue_limit = models.PositiveIntegerField(null=True, blank=True, help_text=_("At once, of its queue."))
    order_key = models.CharField(max_length=255, null=True, blank=True)  # noqa: DJ001 - NULL: in no order
    order_blocks = models.BooleanField(db_default=False, help_text=_("Its dead letter holds up its successors."))
    share_weight = models.PositiveIntegerField(
        null=True, blank=True, help_text=_("Of its tenant, in a queue that tenants share.")
    )
    rate_key = models.CharField(  # noqa: DJ001 - NULL: its start costs nobody's token
        max_length=255, null=True, blank=True, help_text=_("Under a rate: by this key, or, empty, by queue or task.")
    )
    queue_credit = models.SmallIntegerField(null=True, blank=True, help_text=_CREDIT)
    task_credit = models.SmallIntegerField(null=True, blank=True, help_text=_CREDIT)
    key_credit = models.SmallIntegerField(null=True, blank=True, help_text=_CREDIT)

    result = models.JSONField(null=True, blank=True)
    progress = models.JSONField(null=True, blank=True)
    tags = models.JSONField(default=list, db_default=models.Value([], models.JSONField()), blank=True)
    metadata = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()), blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    cancel_forced = models.BooleanField(db_default=False, help_text=_("Stopped with its process, if need be."))
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("job")
        verbose_name_plural = _("jobs")
        permissions = [("cancel_job", "Can cancel jobs")]
        constraints = [
            # The fence of every worker's write is the token alone: a row that has one is RUNNING, always.
            models.CheckConstraint(
                condition=Q(lease_token__isnull=True) | Q(status=lifecycle.Status.RUNNING.value),
                name="jobqueue_job_token_is_running",
            ),
            # The last bound, also for SQL by hand: what one row can cost a claim, a page, a worker's memory.
            models.CheckConstraint(
                condition=LessThanOrEqual(ColumnSize("args") + ColumnSize("kwargs"), MAX_STORED_BYTES),
                name="jobqueue_job_arguments_size",
            ),
            models.CheckConstraint(
                condition=LessThanOrEqual(ColumnSize("result"), MAX_STORED_BYTES), name="jobqueue_job_result_size"
            ),
            # Held from enqueue to the end, retry wait included, so that a retry never meets its own twin.
            models.UniqueConstraint(
                fields=["backend", "task", "unique_key"],
                condition=Q(unique_key__isnull=False) & Q(status__in=["WAITING", "READY", "RUNNING"]),
                name="jobqueue_job_unique_live",
            ),
        ]
        # Each index is partial, so that a finished job is in none but the primary key: ten million of them cost a
        # claim nothing. A new one needs its measured price in docs/decisions/0001-physical-layout.md.
        indexes = [
            # claim, in claim order.
            models.Index(
                models.F("priority").desc(),
                models.F("run_after"),
                models.F("id"),
                condition=Q(status="READY", rate_key__isnull=True),
                name="jobqueue_job_ready",
            ),
            # claim by group, for a worker that serves little of what is ready.
            models.Index(
                models.F("queue_name"),
                models.F("task"),
                models.F("priority").desc(),
                models.F("run_after"),
                models.F("id"),
                condition=Q(status="READY", rate_key__isnull=True),
                name="jobqueue_job_group",
            ),
            # claim, of jobs under a rate, by the buckets they share. They are in no index of the others' claims.
            models.Index(
                fields=["backend", "queue_name", "task", "rate_key", "-priority", "run_after", "id"],
                condition=Q(status="READY", rate_key__isnull=False),
                name="jobqueue_job_rated",
            ),
            # promote, and the moment of the next job that falls due.
            models.Index(
                fields=["run_after", "id"],
                condition=Q(status="WAITING", waiting_for__in=["time", "retry", "snooze"]),
                name="jobqueue_job_due",
            ),
            # unpark and bury, by task. A job whose task is known never enters it.
            models.Index(
                fields=["task"], condition=Q(status="WAITING", waiting_for="worker"), name="jobqueue_job_parked"
            ),
            # promote, of jobs under a limit: those that wait, by what they wait for. A job under none never enters it.
            models.Index(
                models.F("backend"),
                models.F("queue_name"),
                models.F("task"),
                Coalesce("concurrency_key", Value("")),
                models.F("priority").desc(),
                models.F("run_after"),
                models.F("id"),
                condition=Q(status="WAITING", waiting_for="limit"),
                name="jobqueue_job_limit",
            ),
            # and those that have a slot.
            models.Index(
                models.F("backend"),
                models.F("queue_name"),
                models.F("task"),
                Coalesce("concurrency_key", Value("")),
                condition=(UNDER_A_LIMIT | IN_A_SHARE) & Q(status__in=["READY", "RUNNING"]),
                name="jobqueue_job_slots",
            ),
            # the same of jobs in a queue that tenants share: those that wait for a place, by tenant.
            models.Index(
                models.F("backend"),
                models.F("queue_name"),
                Coalesce("concurrency_key", Value("")),
                models.F("task"),
                models.F("priority").desc(),
                models.F("run_after"),
                models.F("id"),
                condition=Q(status="WAITING", waiting_for="share"),
                name="jobqueue_job_share",
            ),
            # promote, of ordered jobs: those that wait for their turn, and whatever may be before them.
            models.Index(
                fields=["backend", "order_key", "id"],
                condition=Q(status="WAITING", waiting_for="order"),
                name="jobqueue_job_order",
            ),
            models.Index(
                fields=["backend", "order_key"],
                condition=Q(order_key__isnull=False)
                & (
                    Q(status__in=["READY", "RUNNING"])
                    | (Q(status="WAITING") & ~Q(waiting_for="order"))
                    | Q(status="FAILED", order_blocks=True)
                ),
                name="jobqueue_job_turn",
            ),
            # enqueue and recount, of jobs under a depth limit: those without a credit that are due, and those with one.
            *(
                models.Index(
                    fields=["backend", target, credit, "run_after"],
                    condition=Q(**{f"{credit}__isnull": False}) & Q(status__in=["WAITING", "READY"]),
                    name=name,
                )
                for target, credit, name in (
                    ("queue_name", "queue_credit", "jobqueue_job_queue_depth"),
                    ("task", "task_credit", "jobqueue_job_task_depth"),
                    ("concurrency_key", "key_credit", "jobqueue_job_key_depth"),
                )
            ),
            # rescue, from its low end. A renewal touches it, once in ten seconds; a look for expired leases that
            # had to read every running row, and the dead entries of all that ran before, would cost more.
            models.Index(fields=["lease_expires_at"], condition=Q(status="RUNNING"), name="jobqueue_job_running"),
        ]

    def __str__(self) -> str:
        return f"{self.task} #{self.pk}"
