"""One SQL statement with its parameters and the way to read its answer.

SQL lives in `sql/*.sql`, one statement a file, which opens with what it moves, the index it uses and why it is
safe. Table names are filled in from the models; values only ever travel as parameters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Generic, TypeVar

from django.db.backends.base.base import BaseDatabaseWrapper

from django_jobqueue.models import (
    Attempt,
    CircuitBreaker,
    Credit,
    DeadLetter,
    Job,
    Limit,
    Pause,
    RateBucket,
    Worker,
)

Answer = TypeVar("Answer")
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Statement(Generic[Answer]):
    """What to ask PostgreSQL, and how to read what it says."""

    name: str
    params: Mapping[str, Any]
    read: Callable[[list[Row]], Answer]
    inner: str = ""
    outer: str = ""

    @property
    def sql(self) -> str:
        """The text of `sql/<name>.sql`, with the names of the tables and `sql/<inner>.sql` filled in.

        Where there is an `outer`, that is filled into `sql/<outer>.sql` in turn.
        """
        text = load(self.name, self.inner)
        return load(self.outer).replace("{inner}", text) if self.outer else text


def run_on(connection: BaseDatabaseWrapper, statement: Statement[Answer]) -> Answer:
    """Run a statement on one of Django's connections, in whatever transaction it is in."""
    with connection.cursor() as cursor:
        cursor.execute(statement.sql, statement.params)
        return statement.read(cursor.fetchall())


@cache
def load(name: str, inner: str = "") -> str:
    """Read `sql/<name>.sql` and fill in the tables' names, and `sql/<inner>.sql` where it says so.

    `{claim of chosen}` is `sql/claim.sql` with `sql/chosen.sql` in it.
    """
    text = files(__package__).joinpath("sql", f"{name}.sql").read_text("utf-8")
    text = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))
    if inner:
        text = text.replace("{inner}", load(inner))
    for placeholder, model in _TABLES.items():
        text = text.replace(placeholder, f'"{model._meta.db_table}"')
    return _PART.sub(lambda part: load(part[1], part[2] or ""), text)


_PART = re.compile(r"\{(?!inner\})(\w+)(?: of (\w+))?\}")

_TABLES = {
    "{job}": Job,
    "{attempt}": Attempt,
    "{breaker}": CircuitBreaker,
    "{credit}": Credit,
    "{dead_letter}": DeadLetter,
    "{limit}": Limit,
    "{pause}": Pause,
    "{rate_bucket}": RateBucket,
    "{worker}": Worker,
}


def array(texts: Sequence[str]) -> str:
    """Write a PostgreSQL array literal of plain words: numbers, UUIDs, fixed names.

    Twice as fast as psycopg's list adaptation, which is felt at thousands of rows a second.
    """
    return "{" + ",".join(texts) + "}"


def text_array(texts: Sequence[str]) -> str:
    """Write a PostgreSQL array literal of arbitrary text, each element quoted."""
    return "{" + ",".join(['"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in texts]) + "}"
