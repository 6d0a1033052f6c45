"""What a keeper holds: claims, flights and runners, without a database or a process."""

import json
import socket
from itertools import count
from uuid import uuid4

from django_jobqueue.policy.retry import Tally
from django_jobqueue.store.claim import Claimed
from django_jobqueue.worker import clock
from django_jobqueue.worker.child import Phase, Runner
from django_jobqueue.worker.flight import Flight
from django_jobqueue.worker.frames import FrameReader

_numbers = count(1)

MOMENT = "2026-11-29 16:10:00.25+00"


def claimed(**fields):
    """Make a claim as the store answers with."""
    facts = {
        "id": next(_numbers),
        "task": "shop.charge",
        "version": 1,
        "attempt_number": 1,
        "args": "[]",
        "kwargs": "{}",
    }
    times = dict.fromkeys(("enqueued_at", "started_at", "last_attempted_at"), MOMENT)
    return Claimed(
        **{**facts, **times, "edit_count": 0, "max_attempts": 3, "tally": Tally(), "earlier_worker_ids": "[]", **fields}
    )


def flight(*, crash_count=0, is_coroutine=False, is_short=False, timeout=None, **fields):
    """Make an attempt in the keeper's hands: a long function, unless told otherwise."""
    job = claimed(tally=Tally(crash_count=crash_count), **fields)
    return Flight(
        ticket=job.id,
        claimed=job,
        token=uuid4(),
        worker_ids='["w"]',
        lease_until=clock.now() + 30,
        is_coroutine=is_coroutine,
        is_short=is_short,
        timeout=timeout,
    )


class Peer:
    """The runner's end of a runner's socket: reads what the keeper said."""

    def __init__(self, sock):
        self.sock = sock
        self.reader = FrameReader()

    def heard(self):
        """Return the messages that have arrived."""
        payloads = []
        while True:
            try:
                payloads += self.reader.feed(self.sock.recv(1 << 20))
            except BlockingIOError:
                return [[json.loads(line) for line in payload.split(b"\n")] for payload in payloads]


def runner(number=0, *, threads=1, coroutines=0, phase=Phase.READY):
    """Make a runner and its peer."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    return Runner(number=number, threads=threads, coroutines=coroutines, sock=ours, phase=phase), Peer(theirs)
