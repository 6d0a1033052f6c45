"""A disk that is small enough to be filled: a tmpfs of its own."""

import os
import subprocess
from contextlib import contextmanager

import pytest


@contextmanager
def small_disk(server, size):
    """Mount it in the server's home, and answer with a folder on it for the server; skip where nobody may mount."""
    mount = server.home / "small-disk"
    mount.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "chaos", mount], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.strip()}")
    try:
        folder = mount / "files"
        folder.mkdir()
        os.chown(folder, server.places.account.uid, server.places.account.gid)
        yield folder
    finally:
        subprocess.run(["umount", "-l", mount], check=True)


@contextmanager
def filled(folder):
    """Leave no room on the disk of a folder; afterwards there is room again."""
    ballast = folder.parent / "ballast"
    try:
        with ballast.open("wb", buffering=0) as file:
            while True:
                try:
                    file.write(bytes(4096))
                except OSError:
                    break
        yield
    finally:
        ballast.unlink()
