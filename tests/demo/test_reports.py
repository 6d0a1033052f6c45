"""Reports: one per week, as CSV that a spreadsheet can open without harm."""

import csv
import io

import pytest
from django.core.management import CommandError, call_command

from demo_project.shop.models import Order, Product, WeeklyReport
from demo_project.shop.people import customer
from demo_project.shop.tasks.reports import build_weekly_report
from demo_project.shop.week import HEADER, Week
from django_jobqueue.models import Job


def rows_of(week: str) -> list[list[str]]:
    build_weekly_report.func(week)
    return list(csv.reader(io.StringIO(WeeklyReport.objects.get(week=week).csv)))


def test_report_has_a_line_for_each_order(order):
    """The week's orders are in it, oldest first, with what they came to."""
    first, second = order(), order(email="grace@example.com")

    header, *lines = rows_of(str(Week.current()))

    assert header == HEADER
    assert [line[0] for line in lines] == [str(first.pk), str(second.pk)]
    assert lines[0][3:] == ["2 x Morning hills", "76.00", "no"]


def test_report_leaves_other_weeks_out(order):
    """An order of another week is in another report."""
    Order.objects.filter(pk=order().pk).update(placed_at="2026-01-05T00:00:00Z")

    assert len(rows_of("2026-W01")) == 1
    assert len(rows_of("2026-W02")) == 2


def test_second_run_replaces_the_first(order):
    """A week has one report; building it again brings it up to date."""
    order()
    week = str(Week.current())
    build_weekly_report.func(week)
    order()

    assert len(rows_of(week)) == 3
    assert WeeklyReport.objects.count() == 1


def test_no_cell_is_a_formula(shop):
    """A customer's name cannot run in the spreadsheet of whoever opens the report."""
    buyer = customer("=HYPERLINK(1)", "evil@example.com")
    Order.objects.create(customer=buyer, total_cents=Product.objects.earliest("pk").price_cents)

    assert rows_of(str(Week.current()))[1][2] == "'=HYPERLINK(1)"


def test_command_asks_for_a_job(db, capsys):
    """`shop_report` enqueues the week it was given and says which job builds it."""
    call_command("shop_report", "--week", "2026-W48")

    job = Job.objects.get()
    assert job.kwargs == {"week": "2026-W48"}
    assert f"Job {job.pk} builds the report of 2026-W48." in capsys.readouterr().out


@pytest.mark.parametrize("week", ["2026-48", "2026-W54", "yesterday"])
def test_command_refuses_what_is_no_week(db, week):
    """What is not a week of that year is refused, and nothing is enqueued."""
    with pytest.raises(CommandError):
        call_command("shop_report", "--week", week)

    assert not Job.objects.exists()
