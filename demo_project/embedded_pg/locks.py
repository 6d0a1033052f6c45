"""Locks on files, which the kernel frees when the process that holds them is gone."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import EmbeddedServerError


def try_lock(path: Path, *, shared: bool = False) -> int | None:
    """Return a file descriptor that holds the lock, or None if another process has it, or has removed it.

    The lock lasts until every copy of the descriptor is closed; a forked child has a copy.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    if not _is_at(path, descriptor):
        os.close(descriptor)
        return None
    return descriptor


def _is_at(path: Path, descriptor: int) -> bool:
    """Say whether the open file is still the one of this name: a reset removes it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def wait_for_lock(path: Path, *, shared: bool = False, seconds: float = 120.0) -> int:
    """Return a file descriptor that holds the lock; raise if it stays taken."""
    deadline = time.monotonic() + seconds
    while (descriptor := try_lock(path, shared=shared)) is None:
        if time.monotonic() > deadline:
            raise EmbeddedServerError(f"{path} was locked by another process for {seconds:.0f} s.")
        time.sleep(0.02)
    return descriptor


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock inside the block."""
    descriptor = wait_for_lock(path)
    try:
        yield
    finally:
        # Closing is not enough: a child forked meanwhile by another thread has a copy.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Say whether some process holds the exclusive lock."""
    return path.exists() and _is_refused(path, shared=True)


def is_shared(path: Path) -> bool:
    """Say whether some process holds the lock, shared or not."""
    return path.exists() and _is_refused(path, shared=False)


def _is_refused(path: Path, *, shared: bool) -> bool:
    descriptor = try_lock(path, shared=shared)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False
