"""Interim: replaced by branch `door`."""

from __future__ import annotations

from collections.abc import Sequence


def announce(using: str, queue_names: Sequence[str]) -> None:
    """Wake up idle workers of these queues."""
