"""``manage.py shop_report``: ask for the report of a week, as a cron job would."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from demo_project.shop.tasks.reports import build_weekly_report
from demo_project.shop.week import Week


class Command(BaseCommand):
    help = "Ask for the report of a week. A worker builds it; the site's reports page has it then."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--week", help="ISO week, as in 2026-W48. Default: the current one.")

    def handle(self, *args: Any, week: str | None, **options: Any) -> None:
        try:
            asked = Week.parse(week) if week else Week.current()
        except ValueError as error:
            raise CommandError(str(error)) from error
        job = build_weekly_report.enqueue(week=str(asked))
        self.stdout.write(f"Job {job.id} builds the report of {asked}.")
