"""Two sides, who meet again and again."""

import pytest

from tests import law
from tests.interleavings.stepping import Side
from tests.model.conftest import quick_commits
from tests.stage.models import Trace

__all__ = ["quick_commits"]

COUNTS = pytest.StashKey[dict[str, int]]()


@pytest.fixture
def sides(quick_commits, transactional_db):
    """The sides a and b, in a database that refuses illegal moves."""
    sides = {name: Side(name) for name in "ab"}
    with law.strictly():
        yield sides
    for side in sides.values():
        side.end()
    # The effects of atomic tasks; the tables of the tests are not emptied with those of the queue.
    Trace.objects.all().delete()


@pytest.fixture
def counted(pytestconfig):
    """How many orders each pair has."""
    return pytestconfig.stash.setdefault(COUNTS, {})


def pytest_terminal_summary(terminalreporter, config):
    """Say how many orders were walked through."""
    if counted := config.stash.get(COUNTS, {}):
        terminalreporter.write_line(f"{len(counted)} pairs of verbs in {sum(counted.values())} orders")
        if config.option.verbose > 0:
            for name, number in counted.items():
                terminalreporter.write_line(f"{number:6}  {name}")
