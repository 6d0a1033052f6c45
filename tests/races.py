"""Let several calls happen at once, each on a connection of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from django.db import connections

from django_jobqueue.exceptions import Refused


def race(*calls: Callable[[], Any]) -> list[Any]:
    """Start all calls at the same moment; answer, in order, with what each returned or the code of its refusal."""
    start = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            # Opened before the start, or the first to connect has won.
            connections["default"].ensure_connection()
            start.wait(timeout=30)
            return call()
        except Refused as refusal:
            return refusal.code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))
