"""The week in numbers.

Safe to run twice: a week has one report, and building it again replaces it by the same.
"""

from __future__ import annotations

from django.conf import settings
from django.db.models.functions import Now

from demo_project.shop.models import WeeklyReport
from demo_project.shop.week import Week, write_csv
from django_jobqueue import task
from django_jobqueue.backoff import exponential


@task(
    queue_name="reports",
    max_attempts=3,
    backoff=exponential(settings.SHOP_BACKOFF_SECONDS, cap_seconds=600, jitter="equal"),
    timeout=300,
    owner="bookkeeping",
    runbook="It only reads the shop's own tables: replay once the database is well.",
)
def build_weekly_report(week: str) -> str:
    """Build the report of an ISO week such as 2026-W48, and keep it. The result is the week."""
    file = write_csv(Week.parse(week))
    WeeklyReport.objects.update_or_create(
        week=week,
        defaults={
            "csv": file.text,
            "orders": file.orders,
            "total_cents": file.total_cents,
            "built_at": Now(),
        },
    )
    return week
