"""Workers for the tests of the store, each with a connection of its own."""

import pytest

from tests.store.hands import Hand


@pytest.fixture
def make_worker(db):
    """Hire workers; their connections are closed in the end."""
    workers = []

    def make(**options):
        workers.append(Hand(**options))
        return workers[-1]

    yield make
    for worker in workers:
        worker.session.close()


@pytest.fixture
def worker(make_worker):
    """A worker."""
    return make_worker()


@pytest.fixture
def rival(make_worker):
    """Another worker."""
    return make_worker()
