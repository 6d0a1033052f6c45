"""Newer and Older by keyset, a count with a cap, and a search with a depth: a list costs the same at ten million rows.

- A page is found by `WHERE key < <last key shown> ORDER BY key DESC LIMIT n`, never by OFFSET.
- A count stops at COUNT_CAP.
- A filter that no index serves looks at the newest `search_depth` rows before the page's beginning, and the page says
  how far it looked and links to where the next search goes on. Rare rows in a huge table are found by going on, not
  by a page that hangs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import SEARCH_VAR, ChangeList
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import DateTimeField, ExpressionWrapper, Func, Q, QuerySet, TextField, Value
from django.http import HttpRequest

COUNT_CAP = 10_000

# What PostgreSQL's times reach: from 4714 BC to the year 294276.
_FIRST_SECOND, _LAST_SECOND = -210_866_803_200, 9_224_318_016_000

OLDER = "before"
NEWER = "after"


class ExactEpoch(Func):
    """Seconds since 1970 with all their microseconds, as text: a float has not enough digits for the year 9999."""

    template = "EXTRACT(EPOCH FROM %(expressions)s)::text"
    output_field = TextField()


class ToTimestamp(Func):
    """Whole seconds since 1970 as a time, infinity included."""

    function = "to_timestamp"
    output_field = DateTimeField()


@dataclass(frozen=True, slots=True)
class Keyset:
    """The unique order of a list, newest first: by id, or by a time and then by id."""

    time: str | None = None

    @property
    def ordering(self) -> list[str]:
        """Newest first."""
        return [*([f"-{self.time}"] if self.time else []), "-pk"]

    def keys(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Select the keys of rows and nothing else, as tuples that end in the id."""
        if self.time:
            timed: QuerySet[Any] = rows.annotate(_key=ExactEpoch(self.time))
            return timed.values_list("_key", "pk")
        return rows.values_list("pk")

    def cursor(self, key: tuple[Any, ...]) -> str:
        """Write a key for a link."""
        return "_".join(str(part) for part in key)

    def older(self, cursor: str, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the rows that come after the cursor in the list."""
        return rows.filter(self._beyond(cursor, rows, "lt", "lt"))

    def newer(self, cursor: str, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the rows that come before the cursor in the list."""
        return rows.filter(self._beyond(cursor, rows, "gt", "gt"))

    def up_to(self, cursor: str, rows: QuerySet[Any], *, newer: bool) -> QuerySet[Any]:
        """Keep the rows down to the cursor, or up to it, and its own row."""
        return rows.filter(self._beyond(cursor, rows, *(("lt", "lte") if newer else ("gt", "gte"))))

    def _beyond(self, cursor: str, rows: QuerySet[Any], time_than: str, pk_than: str) -> Q:
        at, pk = self._parse(cursor, rows)
        if at is None:
            return Q((f"pk__{pk_than}", pk))
        # The first condition says nothing new, but is the one that an index can use.
        return Q((f"{self.time}__{time_than}e", at)) & (
            Q((f"{self.time}__{time_than}", at)) | Q((f"{self.time}", at), (f"pk__{pk_than}", pk))
        )

    def _parse(self, cursor: str, rows: QuerySet[Any]) -> tuple[Any, Any]:
        """Read a time, if the order has one, and an id. Raises IncorrectLookupParameters for what is not a cursor."""
        time_text, _separator, pk_text = cursor.rpartition("_")
        try:
            pk = rows.model._meta.pk.to_python(pk_text)
            return (_moment(time_text) if self.time else None), pk
        except (ValidationError, ValueError) as error:
            raise IncorrectLookupParameters(error) from error


def _moment(text: str) -> Any:
    """Return the time of so many seconds since 1970. Raises ValueError for what no time of PostgreSQL can be."""
    if text in ("Infinity", "-Infinity"):
        return ToTimestamp(Value(float(text)))
    if not re.fullmatch(r"-?\d{1,13}(\.\d{1,6})?", text, re.ASCII):
        raise ValueError(text)
    seconds, microseconds = divmod(int(Decimal(text).scaleb(6)), 1_000_000)
    if not _FIRST_SECOND <= seconds < _LAST_SECOND:
        raise ValueError(text)
    whole, rest = ToTimestamp(Value(float(seconds))), Value(timedelta(microseconds=microseconds))
    return ExpressionWrapper(whole + rest, output_field=DateTimeField())


class KeysetChangeList(ChangeList):
    """Django's list with another way to turn its pages."""

    model_admin: Any  # a QueueAdmin, which is above this module
    filter_specs: Any  # ChoiceFilters

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        self.before = request.GET.get(OLDER)
        self.after = request.GET.get(NEWER)
        super().__init__(request, *args, **kwargs)

    def get_filters_params(self, params: Any = None) -> Any:
        """Keep the cursor out of the filters."""
        found = super().get_filters_params(params)
        return {name: value for name, value in found.items() if name not in (OLDER, NEWER)}

    def get_query_string(self, new_params: Any = None, remove: Any = None) -> str:
        """Begin at the newest row again whenever a filter changes."""
        return super().get_query_string(new_params, [*(remove or []), OLDER, NEWER])

    def get_results(self, request: HttpRequest) -> None:
        """Find the keys of one page, then let the admin fetch what it shows of these rows."""
        searched = self.model_admin.rows_to_search(self)
        self.is_search = searched is not None
        horizon = None if searched is None else self._horizon(searched)
        keys, has_more = self._find(horizon)
        self._link(keys, has_more, horizon)
        self._count(horizon)
        self.result_list = self.model_admin.rows_of_page([key[-1] for key in keys])
        self.paginator = Paginator(self.result_list, self.list_per_page)
        self.full_result_count = None
        self.show_full_result_count = False
        self.can_show_all = self.multi_page = self.show_admin_actions = False

    @property
    def tab_groups(self) -> list[tuple[Any, list[dict[str, Any]]]]:
        """Return the filters that are shown as tabs, each with its links."""
        return [
            (
                spec.title,
                [
                    {
                        "label": choice.label,
                        "url": self.get_query_string({spec.parameter_name: choice.value or None}),
                        "is_selected": choice.is_selected,
                    }
                    for choice in spec.options
                ],
            )
            for spec in self.filter_specs
            if spec.is_tabs
        ]

    @property
    def is_narrowed(self) -> bool:
        """Whether somebody asked for some of the rows of a tab."""
        return bool(self.query) or any(spec.value() is not None for spec in self.filter_specs if not spec.is_tabs)

    @property
    def bare_url(self) -> str:
        """Return the list with its tab and nothing else."""
        return self.get_query_string(
            remove=[SEARCH_VAR, *(s.parameter_name for s in self.filter_specs if not s.is_tabs)]
        )

    @property
    def _keyset(self) -> Keyset:
        keyset: Keyset = self.model_admin.keyset
        return keyset

    def _horizon(self, searched: QuerySet[Any]) -> str | None:
        """Return the cursor of the last row that this search looks at, None where it looks at all."""
        ahead = self._keyset.keys(self._in_order(self._ahead(searched)))
        depth: int = self.model_admin.search_depth
        last = list(ahead[depth - 1 : depth])
        return self._keyset.cursor(last[0]) if last else None

    def _find(self, horizon: str | None) -> tuple[list[tuple[Any, ...]], bool]:
        rows = self._within(self._ahead(self.queryset), horizon)
        keys = list(self._keyset.keys(self._in_order(rows))[: self.list_per_page + 1])
        page = keys[: self.list_per_page]
        if self.after:
            page.reverse()
        return page, len(keys) > self.list_per_page

    def _link(self, keys: list[tuple[Any, ...]], has_more: bool, horizon: str | None) -> None:
        """Set the way on (more rows, else the rest of the search) and the way back."""
        cursor = self._keyset.cursor
        first, last = (cursor(keys[0]), cursor(keys[-1])) if keys else (self.before, self.after)
        self.is_partial = horizon is not None and not has_more
        if self.after:
            newer = first if has_more else horizon
            older = last
        else:
            newer = first if self.before else None
            older = last if has_more else horizon
        self.newer_url = self._turn(NEWER, newer)
        self.older_url = self._turn(OLDER, older)

    def _turn(self, direction: str, cursor: str | None) -> str | None:
        return None if cursor is None else self.get_query_string({direction: cursor})

    def _count(self, horizon: str | None) -> None:
        """Count up to the cap; of a search, what it found on its first page."""
        self.result_count, self.count_label = 0, ""
        if self.is_search and (self.before or self.after):
            return
        rows = self._within(self.queryset, horizon).order_by()
        self.result_count = rows.values("pk")[: COUNT_CAP + 1].count()
        capped = self.result_count > COUNT_CAP
        self.count_label = f"{COUNT_CAP:,}+" if capped else f"{self.result_count:,}"

    def _ahead(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        if self.after:
            return self._keyset.newer(self.after, rows)
        return self._keyset.older(self.before, rows) if self.before else rows

    def _within(self, rows: QuerySet[Any], horizon: str | None) -> QuerySet[Any]:
        if horizon is None:
            return rows
        return self._keyset.up_to(horizon, rows, newer=bool(self.after))

    def _in_order(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        rows = rows.order_by(*self._keyset.ordering)
        return rows.reverse() if self.after else rows
