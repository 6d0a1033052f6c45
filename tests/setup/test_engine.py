"""The embedded engine behind Django's connection."""

import psycopg
import pytest
from django.db import connection


@pytest.mark.django_db
def test_vendor_is_postgresql():
    """To Django, and to everything built on it, the engine is PostgreSQL."""
    assert connection.vendor == "postgresql"


@pytest.mark.django_db
def test_parameters_fit_psycopg():
    """A connection outside Django's can be made with Django's own parameters."""
    with psycopg.connect(**connection.get_connection_params()) as raw:
        assert raw.execute("SELECT current_database()").fetchone() == (connection.settings_dict["NAME"],)


@pytest.mark.django_db(transaction=True)
def test_copied_connection_sees_the_same_database():
    """connection.copy() gives a second session on the same database."""
    second = connection.copy()
    try:
        with second.cursor() as cursor, connection.cursor() as first:
            cursor.execute("SELECT current_database(), pg_backend_pid()")
            first.execute("SELECT current_database(), pg_backend_pid()")
            (name, backend), (own_name, own_backend) = cursor.fetchone(), first.fetchone()
    finally:
        second.close()

    assert name == own_name
    assert backend != own_backend
