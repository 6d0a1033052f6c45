"""A database of its own for one run, gone afterwards."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.core.management import call_command
from django.db import DatabaseError, connection


@contextmanager
def fresh_database() -> Iterator[str]:
    """Create and migrate a database, point this process at it, and answer with its name.

    The name has the process in it: two runs at once do not meet.
    """
    settings = connection.settings_dict
    usual = settings["NAME"]
    name = f"{usual}_once_{os.getpid()}"
    _drop_leftovers(usual)
    _administer(f'CREATE DATABASE "{name}"')
    settings["NAME"] = name
    try:
        call_command("migrate", verbosity=0, interactive=False)
        yield name
    finally:
        connection.close()
        settings["NAME"] = usual
        _administer(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def _drop_leftovers(usual: str) -> None:
    """Drop the databases of runs that were killed."""
    with connection._nodb_cursor() as cursor:  # as test runners do
        cursor.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [f"{usual}_once_%"])
        names = [name for (name,) in cursor.fetchall()]
    for name in names:
        owner = re.search(r"_once_(\d+)$", name)
        if owner and not _is_alive(int(owner[1])):
            # Without FORCE: a server shared by two machines knows better whether it is in use.
            with suppress(DatabaseError):
                _administer(f'DROP DATABASE IF EXISTS "{name}"')


def _administer(statement: str) -> None:
    # Not the connection itself: it would be inside the database that is made or dropped.
    with connection._nodb_cursor() as cursor:  # as test runners do
        cursor.execute(statement)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
