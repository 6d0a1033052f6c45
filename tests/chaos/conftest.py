"""Fixtures of the chaos: one server for all runs, and a run with its line."""

import json
import os
import random
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.chaos.harness.drill import Drill
from tests.chaos.harness.server import Server

IS_FULL = os.environ.get("CHAOS_SIZE") == "full"


def pytest_collection_modifyitems(config, items):
    """Mark every test of this folder, so that the ordinary run leaves it out, and keep those of this shard."""
    ours = [item for item in items if "tests/chaos/" in item.path.as_posix()]
    for item in ours:
        item.add_marker(pytest.mark.chaos)
    # The long ones come first: dealt out one by one they are in different shards.
    ours.sort(key=lambda item: item.get_closest_marker("long") is None)
    number, shards = map(int, os.environ.get("CHAOS_SHARD", "0/1").split("/"))
    others = [item for n, item in enumerate(ours) if n % shards != number]
    items[:] = [item for item in items if item not in others]


only_in_full = pytest.mark.skipif(not IS_FULL, reason="in the full run")
"""Marks a fault that the short run has no time for."""


def in_full(*values, marks=()):
    """Mark parameters that only the full run has time for."""
    return pytest.param(*values, marks=[only_in_full, *marks])


def stop_once(*_):
    """End a run that is told to stop as one that fails: nothing of it is left. Cleaning up is not interrupted again."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pytest.exit("told to stop", returncode=1)


@pytest.fixture(scope="session")
def server():
    """Start a PostgreSQL for the session; nothing of it is left afterwards."""
    before = signal.signal(signal.SIGTERM, stop_once)
    server = Server()
    try:
        server.create()
        yield server
    finally:
        server.destroy()
        signal.signal(signal.SIGTERM, before)


@pytest.fixture
def times():
    """Say how often a fault is injected: in the short run and in the full one."""
    return lambda short, full=30: full if IS_FULL else short


@pytest.fixture
def minutes():
    """Say how long a random mix of faults goes on at least."""
    return float(os.environ.get("CHAOS_MINUTES") or 0)


@pytest.fixture
def drill(server, request):
    """Open a run: `with drill("name") as stage: report = stage.run(fault, 5)`. Its line is printed."""

    @contextmanager
    def open_drill(name, *, server=server, **more):
        seed = int(os.environ.get("CHAOS_SEED") or random.randrange(10**6))
        with Drill(server, name, seed=seed, **{"samples_the_pace": IS_FULL} | more) as stage:
            print(f"chaos {name} seed={seed}: begins")
            stage.tell = lambda report: tell(request.config, report)
            yield stage

    return open_drill


def tell(config, report):
    """Print the line past pytest's capture, and keep its cells for the table."""
    with config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"\n{report.line()}", flush=True)
    if path := os.environ.get("CHAOS_ROWS"):
        with Path(path).open("a") as rows:
            rows.write(json.dumps(report.cells()) + "\n")
