"""Tabs and drop-downs whose choices cost nothing at ten million rows.

No DISTINCT over a table: choices are closed sets, or what occurs among the newest rows. What is chosen stays a
choice, so that a link may name a task that has been quiet for a year.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _

from django_jobqueue.admin import display

NEWEST = 1_000
CHOICES_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Choice:
    """One tab or one option."""

    value: str
    label: str
    is_selected: bool


class ChoiceFilter(SimpleListFilter):
    """A filter on one column, by exactly one of its values."""

    is_tabs = False
    is_served_by_index = False
    column = ""
    any_label: Any = ""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the rows with the chosen value."""
        value = self.value()
        return queryset if value is None else queryset.filter(**{self.column: value})

    def value(self) -> str | None:
        """Return the chosen value. No text in PostgreSQL holds NUL; asked for it, the database would raise."""
        value = super().value()
        return None if not value else value.replace("\x00", "\ufffd")

    def has_output(self) -> bool:
        """A filter is in force whether or not there is something to choose from."""
        return True

    @property
    def asked_for(self) -> str | None:
        """Return what the address says, which may be nothing where there is a default."""
        return self.used_parameters.get(self.parameter_name or "")

    @property
    def is_narrowing(self) -> bool:
        """Whether rows must be looked at to find those that match."""
        return self.value() is not None and not self.is_served_by_index

    @property
    def options(self) -> list[Choice]:
        """What to offer, the chosen one included."""
        chosen = self.value()
        options = [Choice(str(value), str(label), str(value) == chosen) for value, label in self.lookup_choices]
        if chosen is not None and not any(option.is_selected for option in options):
            options.append(Choice(chosen, display.clip(chosen, 80), True))
        return [Choice("", str(self.any_label or _("All")), chosen is None), *options]


def newest(rows: QuerySet[Any], column: str) -> list[tuple[str, str]]:
    """Return the values of a column among the newest rows, as choices."""
    recent = rows.order_by("-pk").values("pk")[:NEWEST]
    values = rows.filter(pk__in=recent).order_by(column).values_list(column, flat=True).distinct()
    return choices(values[:CHOICES_SHOWN])


def choices(values: Iterable[str]) -> list[tuple[str, str]]:
    """Label each value with itself, made harmless."""
    return [(value, display.clip(value, 80)) for value in values if value]
