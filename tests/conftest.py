"""Fixtures for the whole suite."""

import re
from contextlib import suppress

import psutil
import pytest
from django.db import connection
from hypothesis import HealthCheck, settings

from tests import law

# A machine that is busy with something else is no property of the code.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings, django_db_blocker):
    """Drop the databases that killed runs left on the embedded server."""
    if connection.settings_dict["ENGINE"] != "demo_project.embedded_pg":
        return
    with django_db_blocker.unblock(), connection._nodb_cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE datname LIKE 'test_demo_%'")
        for (name,) in cursor.fetchall():
            owner = re.match(r"test_demo_(\d+)", name)
            if owner and not psutil.pid_exists(int(owner.group(1))):
                with suppress(Exception):  # another run may be dropping the same one
                    cursor.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    """Have the test database refuse every change of status that the policy does not draw."""
    with django_db_blocker.unblock():
        law.install()


@pytest.fixture
def database_url(transactional_db):
    """The test database's address for a process of its own, as a DATABASE_URL."""
    parameters = connection.get_connection_params()
    query = "&".join(f"{key}={parameters[key]}" for key in ("host", "port", "user", "password") if key in parameters)
    return f"postgres:///{parameters['dbname']}?{query}"
