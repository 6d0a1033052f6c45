"""A database router that keeps the queue's tables where OPTIONS `database` says.

    DATABASE_ROUTERS = ["django_jobqueue.routers.JobQueueRouter"]

It speaks of the queue's own models only, and has no opinion of any other. Where several aliases in TASKS have a
database each, a model without an instance is that of "default", or of the first.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Model

from django_jobqueue.database import declared_databases

APP_LABEL = "django_jobqueue"


class JobQueueRouter:
    """Sends the queue's models to the queue's database, and has their tables made there and nowhere else."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str | None:
        """Name the database of one of the queue's models: a replica may not have heard of what is to be decided."""
        return self.db_for_write(model, **hints)

    def db_for_write(self, model: type[Model], **hints: Any) -> str | None:
        """Name the database of one of the queue's models; None for any other. Raises InvalidOptions."""
        if model._meta.app_label != APP_LABEL:
            return None
        databases = declared_databases()
        # What belongs to a row is where the row is.
        its_own = getattr(getattr(hints.get("instance"), "_state", None), "db", None)
        return its_own if its_own in databases else next(iter(databases), None)

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool | None:
        """Say whether the queue's tables are made there; None for any other app's, and where TASKS has no queue."""
        if app_label != APP_LABEL:
            return None
        databases = declared_databases()
        return db in databases if databases else None
