"""A worker as the store knows it, for tests that look at what it leaves."""

from tests.store.conftest import make_worker, worker  # noqa: F401 - fixtures
