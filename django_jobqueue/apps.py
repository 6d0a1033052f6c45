"""Wiring: the app, and nothing else."""

from __future__ import annotations

from django.apps import AppConfig
from django.core.checks import Tags, register
from django.utils.translation import gettext_lazy as _


class JobQueueConfig(AppConfig):
    """The job queue."""

    name = "django_jobqueue"
    verbose_name = _("Job queue")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the system checks."""
        from django_jobqueue import checks

        register(checks.check_settings)
        register(checks.check_tasks)
        register(checks.check_tables, Tags.database)
