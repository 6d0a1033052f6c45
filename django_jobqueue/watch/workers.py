"""Which worker an id means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django_jobqueue.models import Worker


def worker_names(using: str, ids: Iterable[UUID | None]) -> dict[Any, str]:
    """Return `host:pid` by id for those workers that are still on record."""
    known = Worker.objects.using(using).filter(pk__in={pk for pk in ids if pk is not None})
    return {pk: f"{hostname}:{pid}" for pk, hostname, pid in known.values_list("pk", "hostname", "pid")}
