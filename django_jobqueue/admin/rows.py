"""How a row is read so that no content of it can break a page.

Loading a row can fail: PostgreSQL has times before the year 1, after 9999 and at infinity, and JSON too deep or with numbers too
long for Python. So a page never loads such columns. It asks for times as seconds since 1970, which every float can hold, and for
JSON and long text as capped text. For each column `x` there is `x_epoch`, or `x_text` and `x_size`; the column itself is deferred.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import (
    BigIntegerField,
    Case,
    DateTimeField,
    F,
    FloatField,
    Func,
    JSONField,
    Model,
    QuerySet,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Left, Length, Now, Right
from django.db.models.lookups import LessThanOrEqual

PAGE_TEXT = 60_000
"""Characters of one value on a page of its own. The rest is left out, with a mark."""

LIST_BYTES = 2_000
"""Stored bytes of a value up to which a list shows it at all. PostgreSQL knows them without reading the value."""


class Epoch(Func):
    """A time as seconds since 1970; -inf and inf where PostgreSQL says so."""

    template = "EXTRACT(EPOCH FROM %(expressions)s)::float8"
    output_field = FloatField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """For projects that install the app on SQLite: empty pages, but pages."""
        template = "((julianday(%(expressions)s) - 2440587.5) * 86400)"
        return self.as_sql(compiler, connection, template=template, **context)


class StoredBytes(Func):
    """The bytes of a value on disk, known without reading it."""

    function = "pg_column_size"
    output_field = BigIntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """SQLite has to look."""
        return self.as_sql(compiler, connection, function="length", **context)


def readable(rows: QuerySet[Any], *, times: Iterable[str] = (), texts: Iterable[str] = ()) -> QuerySet[Any]:
    """Select rows without any column that may fail to load, and with these as seconds and as text.

    Adds `now_epoch`, the database's own clock.
    """
    rows = rows.defer(*fragile(rows.model))
    rows = rows.annotate(now_epoch=Epoch(Now()))
    rows = rows.annotate(**{f"{name}_epoch": Epoch(name) for name in times})
    for name in texts:
        # `::text` of a huge value costs its whole length once; so do its size and its beginning together.
        text = Cast(name, TextField())
        rows = rows.annotate(**{f"{name}_text": Left(text, PAGE_TEXT), f"{name}_size": Length(text)})
    return rows


def brief(rows: QuerySet[Any], *, texts: Iterable[str]) -> QuerySet[Any]:
    """Add `x_text` for small values only: NULL where a value is larger than a list should read."""
    brief_rows: QuerySet[Any] = rows.annotate(
        **{
            f"{name}_text": Case(
                When(LessThanOrEqual(StoredBytes(name), LIST_BYTES), then=Cast(name, TextField())),
                default=Value(None),
                output_field=TextField(),
            )
            for name in texts
        }
    )
    return brief_rows


def head_and_tail(rows: QuerySet[Any], name: str, *, half: int) -> QuerySet[Any]:
    """Add `x_head`, `x_tail` and `x_size` of a long text: a traceback says most at its end."""
    cut_rows: QuerySet[Any] = rows.annotate(
        **{f"{name}_head": Left(F(name), half), f"{name}_tail": Right(F(name), half), f"{name}_size": Length(F(name))}
    )
    return cut_rows


def fragile(model: type[Model]) -> list[str]:
    """Name the columns whose content may fail to load, or is too big to load unasked."""
    return [f.name for f in model._meta.concrete_fields if isinstance(f, DateTimeField | JSONField | TextField)]
