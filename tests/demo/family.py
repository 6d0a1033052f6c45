"""Looking at processes from outside."""

import psutil


def has_ended(process: psutil.Process) -> bool:
    """Say whether a process runs no more; the first process of a container may never reap it."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
