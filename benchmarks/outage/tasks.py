"""What the benchmark runs."""

import socket

from django.conf import settings

from django_jobqueue import Breaker, task

PROVIDER = Breaker("provider", trips_on=(ConnectionError, TimeoutError))


@task(breaker=PROVIDER if settings.HAS_BREAKER else None)
def ask(port):
    """Ask the provider; one that is down refuses."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as line:
        line.sendall(b"hello\n")
        if not line.recv(100):
            raise ConnectionResetError("the provider hung up")
