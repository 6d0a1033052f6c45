"""A provider: a server that can be taken down."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from contextlib import suppress

ANSWERS_AFTER_SECONDS = 0.05


class Provider:
    """Listens on a port of its own while it is up, and notes when calls began."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port: int = self._server.getsockname()[1]
        self.began: list[float] = []
        self._serve()

    def go_down(self) -> None:
        """Refuse connections."""
        # A thread that waits in accept() keeps the port listening after a mere close().
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def come_up(self) -> None:
        """Listen again."""
        self._server = socket.create_server(("127.0.0.1", self.port), backlog=512)
        self._serve()

    def busiest_second(self, since: float) -> int:
        """Count the calls of the busiest second after a moment of the monotonic clock."""
        seconds = Counter(int(moment - since) for moment in self.began if moment >= since)
        return max(seconds.values(), default=0)

    def _serve(self) -> None:
        threading.Thread(target=self._accept, args=[self._server], daemon=True).start()

    def _accept(self, server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                line, _ = server.accept()
                self.began.append(time.monotonic())
                threading.Thread(target=_answer, args=[line], daemon=True).start()


def _answer(line: socket.socket) -> None:
    with suppress(OSError), line:
        line.recv(100)
        time.sleep(ANSWERS_AFTER_SECONDS)
        line.sendall(b"done\n")
