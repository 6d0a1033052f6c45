"""Whether `migrate` has been run where the queue is."""

from __future__ import annotations

from contextlib import closing

from django.apps import apps

from django_jobqueue.exceptions import MissingTables
from django_jobqueue.store.session import connect


def require_tables(using: str) -> None:
    """Raise MissingTables unless every table of the queue is there.

    Asks on a connection of its own, which it closes. Raises psycopg.Error where the database cannot be asked.
    """
    names = [model._meta.db_table for model in apps.get_app_config("django_jobqueue").get_models()]
    with closing(connect(using)) as connection:
        question = "SELECT count(*) FROM unnest(%s::text[]) AS name WHERE to_regclass(quote_ident(name)) IS NULL"
        ((missing,),) = connection.execute(question, [names]).fetchall()
    if missing:
        raise MissingTables(using)
