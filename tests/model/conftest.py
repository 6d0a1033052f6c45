"""A database that keeps the law, and three workers."""

import pytest
from django.db import connection

from tests import law
from tests.model.crew import Crew
from tests.model.mutants import SHORT


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
    with law.strictly():
        yield crew
    crew.close()


KILLS = pytest.StashKey[list[tuple[str, float, BaseException]]]()


@pytest.fixture
def kills(pytestconfig):
    """The mutants that were killed in this run: name, seconds, and the error that the machine gave."""
    return pytestconfig.stash.setdefault(KILLS, [])


def pytest_collection_modifyitems(config, items):
    """Keep a short list of the mutants, unless all are asked for."""
    if "mutants" in config.option.markexpr:
        return
    spared = [
        item
        for item in items
        if item.get_closest_marker("mutants") and item.callspec.params["mutant"].name not in SHORT
    ]
    config.hook.pytest_deselected(items=spared)
    items[:] = [item for item in items if item not in spared]


def pytest_terminal_summary(terminalreporter, config):
    """Print what was killed, by what, and how fast."""
    kills = config.stash.get(KILLS, [])
    if kills:
        terminalreporter.section("mutants")
        for name, seconds, error in kills:
            words = " ".join(str(error).split()) or type(error).__name__
            terminalreporter.write_line(f"{name:<48} {seconds:6.1f} s  {words[:100]}")
