"""How large a column is, for constraints that bound it."""

from __future__ import annotations

from typing import Any

from django.db.models import Func, IntegerField


class ColumnSize(Func):
    """Bytes of a column: on PostgreSQL of what is stored, without fetching what lies outside the row (TOAST).

    Elsewhere its length.
    """

    function = "LENGTH"
    arity = 1
    output_field = IntegerField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Use the function that does not read the value."""
        return self.as_sql(compiler, connection, function="pg_column_size", **context)
