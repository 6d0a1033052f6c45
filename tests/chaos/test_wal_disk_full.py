"""Fault: the disk that holds the write-ahead log is full: PostgreSQL panics and stops until there is room."""

import signal
import time
from contextlib import contextmanager

from tests.chaos.harness import budgets
from tests.chaos.harness.disk import filled, small_disk
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.server import Server
from tests.chaos.harness.workers import pause

# Each segment is a new file of a megabyte, so that a full disk is noticed soon.
SMALL_LOG = {"wal_recycle": "off", "wal_init_zero": "on", "min_wal_size": "2MB", "max_wal_size": "16MB"}


PATIENCE_SECONDS = 30


@contextmanager
def server_with_a_small_log():
    """Start a server of the test's own whose log is on a small disk; answer with it and the log's folder."""
    server = Server(**SMALL_LOG)
    try:
        with small_disk(server, "64m") as folder:
            server.create("--wal-segsize=1", f"--waldir={folder / 'wal'}")
            yield server, folder
    finally:
        server.destroy()


def fill(folder):
    """Return the fault that fills the disk until the server has stopped, makes room, and starts it again."""

    def fault(drill):
        before = panics(drill.server)
        with filled(folder):
            # Mostly it gives up; now and then it starts to recover and does not end, until somebody stops it.
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not drill.server.has_stopped and time.monotonic() < deadline:
                pause(0.05)
        if not drill.server.has_stopped:
            drill.server.stop(signal.SIGQUIT)
        drill.server.start()
        return healed(panics(drill.server) - before)

    return fault


def panics(server):
    """How often the server has panicked for want of room."""
    return sum("PANIC" in line and "No space left" in line for line in server.log.read_text().splitlines())


def test_a_full_disk_of_the_log_costs_nothing(drill, times):
    """What was acknowledged before the panic is there after it; no attempt is charged, no worker leaves."""
    with (
        server_with_a_small_log() as (small, folder),
        drill("wal_disk_full", server=small, rate=60) as stage,
    ):
        report = stage.run(fill(folder), times(5), between=(0.8, 1.4), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()
