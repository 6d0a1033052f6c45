"""An ISO week, and what was sold in it."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.utils.timezone import localdate

from demo_project.shop.models import Order

HEADER = ["order", "placed", "customer", "prints", "total", "paid"]


@dataclass(frozen=True, slots=True)
class Week:
    """Monday to Sunday, in UTC."""

    monday: date

    @classmethod
    def parse(cls, text: str) -> Week:
        """Read "2026-W48". Raises ValueError for anything else, or a week that a year lacks."""
        found = re.fullmatch(r"(\d{4})-W(\d{2})", text)
        if found is None:
            raise ValueError(f"a week is written as 2026-W48; got {text!r}")
        return cls(date.fromisocalendar(int(found[1]), int(found[2]), 1))

    @classmethod
    def current(cls) -> Week:
        """Give the week that today is in."""
        today = localdate()
        return cls(today - timedelta(days=today.weekday()))

    def __str__(self) -> str:
        year, week, _ = self.monday.isocalendar()
        return f"{year}-W{week:02}"


@dataclass(frozen=True, slots=True)
class ReportFile:
    """The file, and the two numbers that people look for first."""

    text: str
    orders: int
    total_cents: int


def write_csv(week: Week) -> ReportFile:
    """Write the orders of a week, oldest first, one line each."""
    begin = datetime.combine(week.monday, time.min, UTC)
    orders = (
        Order.objects.filter(placed_at__gte=begin, placed_at__lt=begin + timedelta(days=7))
        .select_related("customer", "invoice__charge")
        .prefetch_related("lines__product")
        .order_by("id")
    )
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(HEADER)
    total_cents = 0
    for order in orders:
        total_cents += order.total_cents
        writer.writerow(_row(order))
    return ReportFile(out.getvalue(), len(orders), total_cents)


def _row(order: Order) -> list[str]:
    prints = ", ".join(f"{line.quantity} x {line.product.name}" for line in order.lines.all())
    return [
        str(order.pk),
        f"{order.placed_at:%Y-%m-%d %H:%M}",
        _cell(order.customer.first_name),
        _cell(prints),
        f"{order.total_cents / 100:.2f}",
        "yes" if hasattr(order, "invoice") and hasattr(order.invoice, "charge") else "no",
    ]


def _cell(text: str) -> str:
    # A spreadsheet would run a customer named "=HYPERLINK(…)".
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
