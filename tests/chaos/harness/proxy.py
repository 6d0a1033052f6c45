"""A TCP proxy before PostgreSQL: what a network does to a connection.

    pass        forward both ways
    stall       take nothing and say nothing; the kernel goes on acknowledging
    drop        take what comes and throw it away, both ways
    delay       forward after a while
    throttle    forward so many bytes a second

`cut` closes every connection, `reset` sends RST. `lose_replies` waits for a transaction, or a statement outside of one,
that contains some words, lets it reach the server, and when it has been carried out closes the connection instead of
passing the answer on.
"""

import contextlib
import re
import socket
import threading
import time
from collections import deque
from typing import NamedTuple

from tests.chaos.harness.process import LIBC

NOWHERE = bytes(16)
"""A sockaddr of AF_UNSPEC."""

CHUNK = 65536

COMMIT = b"COMMIT\0"
"""The statement; READ COMMITTED is said at its beginning."""

IDLE = b"Z\0\0\0\5I"
"""PostgreSQL's word that what was asked is done, and committed: ready for a query, outside of a transaction."""


class Order(NamedTuple):
    """A reply that is to be lost: patterns of what is said, with its transaction so far, and of what is replied."""

    said: bytes
    replied: bytes = b""


class Proxy:
    """Listens on a port of its own and forwards to one server."""

    def __init__(self, target_port):
        self.mode = "pass"
        self.delay_seconds = 0.05
        self.bytes_a_second = 64 * 1024
        self.replies_lost = self.accepted = 0
        self.touched = 0
        """Bytes that were held up or thrown away, and connections that were closed."""
        self._target_port = target_port
        self._orders = deque()
        self._lock = threading.Lock()
        self._lines = set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        """Stop listening and close every connection."""
        # close() alone does not wake a thread that waits in accept().
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.mode = "pass"
        self.cut()

    def cut(self):
        """Close every connection, both ends."""
        lines = self._all()
        for line in lines:
            line.close()
        self.touched += len(lines)

    def reset(self):
        """Close every connection with RST."""
        lines = self._all()
        for line in lines:
            line.reset()
        self.touched += len(lines)

    def lose_replies(self, *orders):
        """Lose the next reply that fits the first order, then the next one that fits the second."""
        with self._lock:
            self._orders = deque(orders)

    @property
    def is_waiting(self):
        """Whether one of these replies is still to come."""
        return bool(self._orders)

    def order_for(self, said):
        """Return the order that this may fit, or None."""
        with self._lock:
            order = self._orders[0] if self._orders else None
        return order if order and re.search(order.said, said, re.DOTALL) else None

    def loses(self, order, reply):
        """Whether this is the reply that is to be lost; it is then."""
        with self._lock:
            if not self._orders or self._orders[0] is not order or not re.search(order.replied, reply, re.DOTALL):
                return False
            self._orders.popleft()
            self.replies_lost += 1
            return True

    def _all(self):
        with self._lock:
            return list(self._lines)

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            try:
                server = socket.create_connection(("127.0.0.1", self._target_port))
            except OSError:
                client.close()
                continue
            line = Line(self, client, server)
            with self._lock:
                self._lines.add(line)
            line.start()

    def forget(self, line):
        """Take a closed connection off the list."""
        with self._lock:
            self._lines.discard(line)


class Line:
    """One connection through the proxy: two pumps."""

    def __init__(self, proxy, client, server):
        self._proxy, self._client, self._server = proxy, client, server
        self._said = self._reply = b""
        self._order = None
        self._is_closed = False

    def start(self):
        """Start the pumps."""
        threading.Thread(target=self._pump, args=[self._client, self._server, self._hear_client], daemon=True).start()
        threading.Thread(target=self._pump, args=[self._server, self._client, self._hear_server], daemon=True).start()

    def close(self):
        """Close both ends."""
        self._is_closed = True
        for end in (self._client, self._server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._proxy.forget(self)

    def reset(self):
        """Close both ends with RST."""
        for end in (self._client, self._server):
            # To connect to nothing sends RST at once and wakes whoever waits in recv(); close() would do neither while
            # another thread is in there, and shutdown() says goodbye first.
            LIBC.connect(end.fileno(), NOWHERE, len(NOWHERE))
        self.close()

    def _pump(self, source, target, hear):
        try:
            while data := source.recv(CHUNK):
                self._hold(len(data))
                if self._proxy.mode != "drop" and (heard := hear(data)):
                    target.sendall(heard)
        except OSError:
            pass
        self.close()

    def _hold(self, size):
        if self._proxy.mode != "pass":
            self._proxy.touched += size
        match self._proxy.mode:
            case "delay":
                time.sleep(self._proxy.delay_seconds)
            case "throttle":
                time.sleep(size / self._proxy.bytes_a_second)
            case "stall":
                while self._proxy.mode == "stall" and not self._is_closed:
                    time.sleep(0.01)

    def _hear_client(self, data):
        self._said += data
        if COMMIT in self._said or b"BEGIN" not in self._said:
            self._order = self._proxy.order_for(self._said)
        return data

    def _hear_server(self, data):
        self._reply += data
        is_over = IDLE in self._reply
        if self._order is None:
            # The word may come in two pieces.
            self._reply = self._reply[-len(IDLE) :]
        elif not is_over:
            # Held back until it is known whether it is lost.
            return b""
        else:
            data = self._reply
            if self._proxy.loses(self._order, data):
                self.close()
                return b""
        if is_over:
            # The client says nothing until it has heard that.
            self._said, self._reply, self._order = b"", b"", None
        return data
