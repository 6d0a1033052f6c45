"""A database that keeps the law, and three workers."""

import pytest
from django.db import connection

from tests.model import law
from tests.model.mirror import Crew


@pytest.fixture(scope="module")
def quick_commits(django_db_setup, django_db_blocker):
    """Have commits not wait for the disk: no crash of the server is part of these tests."""
    name = connection.ops.quote_name(connection.settings_dict["NAME"])
    with django_db_blocker.unblock():
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
        connection.close()
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(f"ALTER DATABASE {name} RESET synchronous_commit")


@pytest.fixture
def crew(quick_commits, transactional_db):
    """Three workers, and a stranger, in a database that refuses illegal moves."""
    crew = Crew()
    with law.enforced():
        yield crew
    crew.close()
