"""Processes that do not outlive the run, whatever ends it."""

import ctypes
import os
import signal
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[3]
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def dying_with_us(number=signal.SIGKILL):
    """Return what a child runs before its program: it gets the signal when the thread that starts it is gone."""
    parent = os.getpid()

    def ask():
        LIBC.prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return ask


def is_running(pid):
    """Whether a process is there, and no zombie."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
