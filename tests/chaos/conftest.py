"""Fixtures of the chaos: one server for all runs, and a run with its line."""

import os
import random
from contextlib import contextmanager

import pytest

from tests.chaos.harness.drill import Drill
from tests.chaos.harness.report import table
from tests.chaos.harness.server import Server

IS_FULL = os.environ.get("CHAOS_SIZE") == "full"
ROWS = pytest.StashKey()


def pytest_collection_modifyitems(items):
    """Mark every test of this folder, so that the ordinary run leaves it out."""
    for item in items:
        if "tests/chaos/" in item.path.as_posix():
            item.add_marker(pytest.mark.chaos)


@pytest.fixture(scope="session")
def server():
    """Start a PostgreSQL for the session; nothing of it is left afterwards."""
    server = Server()
    try:
        server.create()
        yield server
    finally:
        server.destroy()


@pytest.fixture
def times():
    """Say how often a fault is injected: in the short run and in the full one."""
    return lambda short, full=30: full if IS_FULL else short


@pytest.fixture
def drill(server, request):
    """Open a run: `with drill("name") as stage: report = stage.run(fault, 5)`. Its line is printed."""

    @contextmanager
    def open_drill(name, **more):
        seed = int(os.environ.get("CHAOS_SEED") or random.randrange(10**6))
        with Drill(server, name, seed=seed, **more) as stage:
            print(f"chaos {name} seed={seed}: begins")
            run = stage.run

            def run_and_tell(*arguments, **words):
                report = run(*arguments, **words)
                tell(request, report)
                return report

            stage.run = run_and_tell
            yield stage

    return open_drill


def tell(request, report):
    """Print the line past pytest's capture, and keep it for the table."""
    request.config.stash.setdefault(ROWS, []).append(report.cells())
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"\n{report.line()}", flush=True)


def pytest_terminal_summary(terminalreporter, config):
    """Print the table, and write it where the run was told to."""
    rows = config.stash.get(ROWS, [])
    if not rows:
        return
    text = table(rows)
    terminalreporter.write_line(f"\n{text}")
    if out := os.environ.get("CHAOS_OUT"):
        with open(out, "w", encoding="utf-8") as file:
            file.write(text + "\n")
