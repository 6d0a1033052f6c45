"""A worker's own connection: many statements, one transaction, one round trip.

It is a psycopg connection apart from Django's, so that nothing a job or a receiver does can touch it, and it keeps
no session state: every setting is local to a transaction, so it works behind a transaction pooler.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import Any

import psycopg
from django.db import connections

from django_jobqueue import failpoint
from django_jobqueue.store.statement import Statement

PLAN_GUARD = "SELECT " + ", ".join(
    f"set_config('{name}', 'off', true)"
    for name in ("enable_bitmapscan", "enable_sort", "enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit")
)
"""Takes the plans away that read every row of a queue for each batch. The planner picks them on a table without
statistics, as a queue that has just been filled is, and they are three times slower. What is left then looks so
dear to it that it would compile the query first, for most of a second: so JIT goes too."""

BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
"""The queue's guards compare with the newest row, whatever isolation the project prefers."""


DEFAULTS: dict[str, Any] = {
    "application_name": "django_jobqueue",
    # To be back soon after an outage in which nobody said no: the next try is a second later.
    "connect_timeout": 2,
    # A line that died without a word is noticed within a minute, also where nothing is ever sent: by who listens.
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}
"""Parameters of a worker's connections where DATABASES says nothing else."""


class Session:
    """One connection to the database of `using`, opened when it is first needed."""

    def __init__(self, using: str, *, idle_timeout_ms: int = 5000) -> None:
        self._using = using
        # A frozen worker must not hold its locks: the server ends a transaction that its client forgot.
        # The moments of an attempt travel as text, in the one style that Python reads.
        self._own_settings = (
            f"SELECT set_config('idle_in_transaction_session_timeout', '{idle_timeout_ms}', true), "
            "set_config('datestyle', 'ISO, YMD', true)"
        )
        self._connection: psycopg.Connection[Any] | None = None
        self.is_pooled = False
        """Whether the connection that listens goes through a pooler."""

    @property
    def is_open(self) -> bool:
        """Whether there is a connection, as far as this side knows."""
        return self._connection is not None and not self._connection.closed

    def run(self, *statements: Statement[Any], statement_timeout_ms: int | None = None) -> list[Any]:
        """Run statements in one transaction and one round trip; answer with what each one read.

        Raises psycopg.Error, or UnicodeError for text that cannot be sent, with everything rolled back. After an
        OperationalError the connection is closed and the outcome of the transaction may be unknown: the token in
        the row tells.
        """
        connection = self._connect()
        try:
            self._pass("before", statements)
            cursors = self._send(connection, statements, statement_timeout_ms)
        except Exception as error:
            # Not only psycopg.Error: text that UTF-8 cannot hold fails on its way out, behind a BEGIN that was sent.
            self._recover(connection, error)
            raise
        try:
            self._pass("after", statements, [cursor.rowcount for cursor in cursors])
            if failpoint.is_armed:
                # Where the line was dropped the answers are lost with it, as if they had still been on their way.
                connection.execute("SELECT")
            return [statement.read(cursor.fetchall()) for statement, cursor in zip(statements, cursors, strict=True)]
        except Exception as error:
            # It is committed by now: not a refusal, but an answer that was lost.
            raise psycopg.OperationalError(f"an answer cannot be read: {error}") from error

    def listen(self, channel: str) -> psycopg.Connection[Any]:
        """Open a connection that hears `channel`, and hand it over: the caller owns it. Raises psycopg.Error."""
        # Until then it is the session's own, so that `abandon` reaches it.
        connection = self._connection = connect(self._using)
        try:
            self.is_pooled = is_pooled(connection)
            if not self.is_pooled:
                # To be idle is its trade. Behind a pooler the setting would be left for others to find.
                connection.execute("SET idle_session_timeout = 0")
            connection.execute(f'LISTEN "{channel}"')
        except BaseException:
            self.close()
            raise
        self._connection = None
        return connection

    def abandon(self) -> None:
        """Cut the line under a call that another thread is waiting in; that call then raises OperationalError.

        No time-out of TCP or of the server ends a call whose peer keeps acknowledging and never answers.
        """
        connection = self._connection
        if connection is None or connection.closed:
            return
        with suppress(OSError, psycopg.Error):
            line = socket.socket(fileno=os.dup(connection.pgconn.socket))
            try:
                line.shutdown(socket.SHUT_RDWR)
            finally:
                line.close()

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None

    def _pass(self, when: str, statements: Sequence[Statement[Any]], counts: Sequence[int] = ()) -> None:
        """Say that the moments around these statements have come; of those that name or find no row there is none."""
        if failpoint.is_armed:
            for statement, count in zip_longest(statements, counts):
                if count != 0 and statement.params.get("ids") != "{}":
                    failpoint.hit(f"{when} {statement.name}", self.abandon)

    def _connect(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = connect(self._using)
            # Behind a pooler the session may be one in which somebody listens; without a handler what arrives there
            # would be kept for ever.
            self._connection.add_notify_handler(lambda _notification: None)
        return self._connection

    def _send(
        self,
        connection: psycopg.Connection[Any],
        statements: Sequence[Statement[Any]],
        statement_timeout_ms: int | None,
    ) -> list[psycopg.Cursor[Any]]:
        cursors: list[psycopg.Cursor[Any]] = []
        first_error: Exception | None = None
        try:
            with connection.pipeline():
                # The error of an early statement may arrive while later ones are sent. Those are then refused one by
                # one on the way out, and psycopg would log that beside an error which is raised already.
                try:
                    connection.execute(BEGIN)
                    connection.execute(self._own_settings)
                    connection.execute(PLAN_GUARD)
                    if statement_timeout_ms is not None:
                        milliseconds = [str(statement_timeout_ms)]
                        connection.execute("SELECT set_config('statement_timeout', %s, true)", milliseconds)
                    for statement in statements:
                        cursors.append(connection.execute(statement.sql, statement.params))
                    connection.execute("COMMIT")
                except Exception as error:
                    first_error = error
        except Exception as error:
            first_error = first_error or error
        if first_error is not None:
            raise first_error
        return cursors

    def _recover(self, connection: psycopg.Connection[Any], error: Exception) -> None:
        # Read-only: a server that was demoted. Who connects anew may be led to the one that leads now.
        if isinstance(error, psycopg.OperationalError | psycopg.errors.ReadOnlySqlTransaction) or connection.closed:
            self.close()
            return
        try:
            connection.execute("ROLLBACK")
        except psycopg.Error:
            self.close()


def is_pooled(connection: psycopg.Connection[Any]) -> bool:
    """Whether something between here and PostgreSQL shares its sessions out: it gives every client a number of its own.

    The connection must be in autocommit.
    """
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    return row is not None and bool(row[0] != connection.info.backend_pid)


def connect(using: str) -> psycopg.Connection[Any]:
    """Open a connection with the parameters that Django would use for `using`, in autocommit."""
    wrapper = connections[using]
    parameters = wrapper.get_connection_params()
    # Django's cursor binds on the client; the queue's own statements need none of its adapters.
    for name in ("cursor_factory", "context"):
        parameters.pop(name, None)
    parameters = DEFAULTS | parameters
    connection = psycopg.connect(**parameters, autocommit=True)
    if role := wrapper.settings_dict["OPTIONS"].get("assume_role"):
        connection.execute(psycopg.sql.SQL("SET ROLE {}").format(psycopg.sql.Identifier(role)))
    return connection
