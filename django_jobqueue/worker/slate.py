"""A clean slate around each attempt: nothing of one job is left for the next.

Language, time zone and every other context variable live in a fresh context that is thrown away. Database
connections belong to the thread; they get the life cycle that Django gives them around a request, and a transaction
that a job left open is rolled back.
"""

from __future__ import annotations

import logging
import select
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import Error

logger = logging.getLogger("django_jobqueue.worker")


@contextmanager
def clean_connections(task_name: str) -> Iterator[None]:
    """Check this thread's connections before, and mend them after, whatever happened in between."""
    before()
    try:
        yield
    finally:
        after(task_name)


def before() -> None:
    """Drop connections that are broken or have passed their age, and the query log."""
    for connection in connections.all(initialized_only=True):
        connection.queries_log.clear()
        _drop_if_gone(connection)


def after(task_name: str, *, more_follow: bool = False) -> None:
    """Roll back what was left open; drop connections that are broken or have passed their age, and the query log.

    Where `more_follow` at once, one that has passed its age may stay. Never raises: what a job leaves behind changes
    nothing of what became of it.
    """
    drop = _drop_if_dead if more_follow else _drop_if_gone
    for connection in connections.all(initialized_only=True):
        try:
            connection.queries_log.clear()
            if _is_dirty(connection):
                logger.warning("%s left a transaction open on %r; it was rolled back", task_name, connection.alias)
                _discard(connection)
            else:
                drop(connection)
        except BaseException as error:  # the driver's own, or what a job has put in its place
            logger.warning("%s left %r as it cannot be mended (%r); it is closed", task_name, connection.alias, error)
            _discard(connection)


def mend() -> bool:
    """Drop connections that are broken; says whether a transaction is open on one of the others.

    For a thread in which somebody is in the middle of something: what works is left as it is, an old connection too.
    """
    is_open = False
    for connection in connections.all(initialized_only=True):
        try:
            if not _is_dirty(connection):
                _drop_if_dead(connection)
            elif connection.settings_dict["AUTOCOMMIT"]:
                # Without it whoever reads opens one, and it says nothing.
                is_open = True
        except BaseException as error:
            logger.warning("%r cannot be mended (%r); it is closed", connection.alias, error)
            _discard(connection)
    return is_open


def _drop_if_gone(connection: BaseDatabaseWrapper) -> None:
    if _has_news(connection):
        # Django asks a connection that had an error whether it works, and drops it if not.
        connection.errors_occurred = True
    connection.close_if_unusable_or_obsolete()


def _drop_if_dead(connection: BaseDatabaseWrapper) -> None:
    close_at, connection.close_at = connection.close_at, None
    try:
        _drop_if_gone(connection)
    finally:
        connection.close_at = close_at


def _has_news(connection: BaseDatabaseWrapper) -> bool:
    """Whether the server has said something that nobody asked for: most likely that it ended an idle session.

    A look at the socket, so a connection that is well costs no round trip.
    """
    try:
        fd = connection.connection.fileno()
    except (AttributeError, Error, OSError):
        return False
    except Exception:  # the driver's own: it knows that it is closed
        return True
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(0))


def _is_dirty(connection: BaseDatabaseWrapper) -> bool:
    if connection.connection is None:
        return False
    if connection.in_atomic_block or connection.autocommit is not connection.settings_dict["AUTOCOMMIT"]:
        return True
    # A BEGIN of the job's own goes past Django; the driver knows. Only psycopg's connections have `info`.
    info = getattr(connection.connection, "info", None)
    return info is not None and info.transaction_status.name not in ("IDLE", "UNKNOWN")


def _discard(connection: BaseDatabaseWrapper) -> None:
    # close() inside an atomic block only marks the connection; this block's owner is gone and will never leave it.
    connection.in_atomic_block = False
    # Closed by the job inside such a block, it would stay as it is, and every later job in this thread would find
    # it closed.
    connection.closed_in_transaction = False
    connection.run_on_commit = []
    try:
        connection.close()
    except BaseException as error:
        logger.warning("closing %r failed: %s", connection.alias, error)
        connection.connection = None
