"""The workers of the scenarios, with a failpoint."""

from tests.scenarios.conftest import job_is, start_worker  # noqa: F401 - fixtures
