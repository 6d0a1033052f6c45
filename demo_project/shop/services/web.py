"""A small JSON server: one thread per request, loopback only, ended by SIGTERM."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MAX_BODY_BYTES = 64 * 1024

Reply = tuple[int, dict[str, Any]]
Respond = Callable[[str, str, dict[str, Any], str], Reply]
"""`(method, path, document, idempotency_key) -> (status, document)`; called in many threads."""


def make_server(respond: Respond, port: int = 0) -> ThreadingHTTPServer:
    """Bind a server to loopback; port 0 lets the system choose one. Nothing is served yet."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(*respond("GET", self.path, {}, ""))

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            if length > MAX_BODY_BYTES:
                self._answer(413, {"error": "too much"})
                return
            try:
                document = json.loads(self.rfile.read(length))
            except ValueError:
                self._answer(400, {"error": "not JSON"})
                return
            key = self.headers.get("Idempotency-Key", "")
            self._answer(*respond("POST", self.path, document, key))

        def _answer(self, status: int, document: dict[str, Any]) -> None:
            body = json.dumps(document).encode()
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except ConnectionError:
                pass  # the client gave up waiting, as some are meant to

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    return server


def serve(respond: Respond, port: int) -> None:
    """Serve until SIGTERM or SIGINT."""
    server = make_server(respond, port)

    def stop(*_: object) -> None:
        # shutdown() waits for the loop that this handler has interrupted: not from here.
        threading.Thread(target=server.shutdown).start()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    sys.stdout.write(f"listening on 127.0.0.1:{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever(poll_interval=0.1)
    server.server_close()
