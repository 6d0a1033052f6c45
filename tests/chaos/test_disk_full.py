"""Fault: the disk that holds the queue's tables is full."""

import os
import subprocess
from contextlib import closing, contextmanager

import pytest

from tests.chaos.harness import budgets
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import pause

SIZE = "48m"


@contextmanager
def small_disk(server):
    """Mount a small tmpfs and make a tablespace of it; skip where nobody may mount."""
    folder = server.home / "small-disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "chaos", folder], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.strip()}")
    try:
        space = folder / "tables"
        space.mkdir()
        os.chown(space, server.places.account.uid, server.places.account.gid)
        with closing(server.connect()) as connection:
            connection.execute(f"CREATE TABLESPACE small LOCATION '{space}'")
        yield folder
        with closing(server.connect()) as connection:
            connection.execute("DROP TABLESPACE small")
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def fill(folder):
    """Return the fault that fills the disk for a second and a half."""

    def fault(drill):
        ballast = folder / "ballast"
        try:
            with ballast.open("wb", buffering=0) as file:
                while True:
                    try:
                        file.write(bytes(4096))
                    except OSError:
                        break
            pause(1.5)
        finally:
            ballast.unlink()
        return healed()

    return fault


def test_a_full_disk_costs_nothing(server, drill, times):
    """Producers are refused, workers wait; when there is room again everything goes on."""
    with small_disk(server) as folder, drill("disk_full", tablespace="small", rate=60) as stage:
        report = stage.run(fill(folder), times(5), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()
