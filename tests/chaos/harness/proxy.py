"""A TCP proxy before PostgreSQL: what a network does to a connection.

    pass        forward both ways
    stall       take nothing and say nothing; the kernel goes on acknowledging
    drop        take what comes and throw it away, both ways
    delay       forward after a while
    throttle    forward so many bytes a second

`cut` closes every connection, `reset` sends RST. `lose_reply` waits for a transaction that contains some words, lets
its COMMIT reach the server, and closes the connection instead of passing the answer on.
"""

import contextlib
import socket
import threading
import time

from tests.chaos.harness.process import LIBC

NOWHERE = bytes(16)
"""A sockaddr of AF_UNSPEC."""

CHUNK = 65536


class Proxy:
    """Listens on a port of its own and forwards to one server."""

    def __init__(self, target_port):
        self.mode = "pass"
        self.delay_seconds = 0.05
        self.bytes_a_second = 64 * 1024
        self.replies_lost = 0
        self._target_port = target_port
        self._wanted = None
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
        for line in self._all():
            line.close()

    def reset(self):
        """Close every connection with RST."""
        for line in self._all():
            line.reset()

    def lose_reply(self, words):
        """Lose the reply to the next COMMIT of a transaction that contains these words."""
        with self._lock:
            self._wanted = words

    @property
    def is_waiting(self):
        """Whether that transaction is still to come."""
        return self._wanted is not None

    def takes(self, said):
        """Whether this is the transaction whose reply is to be lost; asked once."""
        with self._lock:
            if self._wanted is None or self._wanted not in said:
                return False
            self._wanted = None
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
        self._said = b""
        self._loses_reply = self._is_closed = False

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
                if self._proxy.mode != "drop" and hear(data):
                    target.sendall(data)
        except OSError:
            pass
        self.close()

    def _hold(self, size):
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
        if b"COMMIT" in self._said:
            self._loses_reply = self._loses_reply or self._proxy.takes(self._said)
            self._said = b""
        return True

    def _hear_server(self, data):
        if not self._loses_reply:
            return True
        if b"COMMIT\0" in data:
            self.close()
        return False
