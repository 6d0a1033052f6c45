"""Free ports on loopback."""

from __future__ import annotations

import socket

LAST = 65_535
"""The highest number that a port may have."""


def free_port(wanted: int = 0) -> int:
    """Find a port that nobody listens on: the one wanted, or one of the nine after it, or any.

    Somebody may take it between the answer and its use; whoever uses it must notice.
    """
    for port in (*range(wanted, min(wanted + 10, LAST + 1)), 0) if wanted else (0,):
        with socket.socket() as probe:
            # As servers do, so that a port whose connections are closing counts as free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError("no free port on 127.0.0.1")
