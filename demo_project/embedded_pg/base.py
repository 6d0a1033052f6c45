"""Django's side: a PostgreSQL connection that starts the server it connects to."""

import functools
import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS
from django.db.backends.postgresql import base, client
from django.db.utils import OperationalError
from psycopg import sql

from .errors import EmbeddedServerError

if os.name == "nt":
    raise ImproperlyConfigured(
        "The embedded server runs on Linux and macOS only. Set DATABASE_URL to a PostgreSQL, "
        "such as postgres://user:password@localhost/name."
    )

from .server import PORT, USER, Server


@functools.cache
def default_server() -> Server:
    """Return the server of this checkout; nothing is started yet."""
    return Server()


class DatabaseClient(client.DatabaseClient):
    """``manage.py dbshell``: the psql that came with the server."""

    def runshell(self, parameters: Iterable[str]) -> None:
        default_server().start()
        type(self).executable_name = str(default_server().binaries().folder / "psql")
        super().runshell(parameters)


class DatabaseWrapper(base.DatabaseWrapper):
    client_class = DatabaseClient

    def __init__(self, settings_dict: dict[str, Any], alias: str = DEFAULT_DB_ALIAS) -> None:
        # The address is known before the server runs; Django reads it in more than one place.
        host = str(default_server().places.sockets)
        settings_dict.update(HOST=host, PORT=PORT, USER=USER)
        super().__init__(settings_dict, alias)

    def get_connection_params(self) -> dict[str, Any]:
        """Return arguments for psycopg.connect(), to a server and a database that exist."""
        try:
            default_server().start()
        except EmbeddedServerError as error:
            raise OperationalError(str(error)) from error
        parameters = super().get_connection_params()
        _create_database(parameters["dbname"])
        return parameters


@functools.cache
def _create_database(name: str) -> None:
    """Create the database if it is missing; once per process and name."""
    host = str(default_server().places.sockets)
    with psycopg.connect(dbname="postgres", host=host, port=PORT, user=USER, autocommit=True) as connection:
        query = "SELECT FROM pg_database WHERE datname = %s"
        if connection.execute(query, [name]).fetchone() is None:
            # Another process may be faster.
            with suppress(psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
