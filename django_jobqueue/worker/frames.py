"""How keeper and runner speak: JSON behind a length of four bytes.

To a runner                                            from a runner
    an order                 start this, in its turn       ["ready"]                       it takes orders
    ["give_back"]            return what has not begun     ["broken", text]                it could not start
    ["cancel", ticket]       have this one stop
    ["finished", [id, …]]    tell the receivers            ["done", ticket, seconds, outcome]
                                                           ["taken", ticket]               its turn has come
                                                           ["begun", ticket]               its code is called
                                                           ["committed", ticket]           an atomic task has
                                                           ["returned", [ticket, …]]       never begun
                                                           ["told", count]                 receivers told
                                                           ["worn_out", why]               it takes no more

An order is three lines of JSON: [ticket, job id, attempt number, task, edit count, enqueued_at, started_at,
last_attempted_at, worker ids, the lease's token if the task is atomic, whether it has a time limit], then the job's
args and its kwargs as PostgreSQL wrote them. What cannot be parsed of a damaged row is then that job's trouble alone.
`Flight.order` writes it, and `executor.Order` is filled from it by position.

"taken" and "begun" are said of a job with a time limit only, which counts from the hearing of "begun"; of any other the
keeper knows enough by what it has handed over. A ticket is the keeper's number for one hand-over: a job may come back
to the same runner, a ticket never does.
"""

from __future__ import annotations

import struct

_HEAD = struct.Struct("!I")
MAX_FRAME_BYTES = 256 * 1024 * 1024


def pack(payload: bytes) -> bytes:
    """Put the length before a payload."""
    return _HEAD.pack(len(payload)) + payload


class FrameReader:
    """Cuts what arrives into payloads; keeps the half that has not arrived yet."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Add bytes and take out every payload that is whole.

        Raises ValueError for a length that no honest peer sends.
        """
        buffer = self._buffer
        buffer += data
        payloads = []
        start, size = 0, len(buffer)
        while size - start >= _HEAD.size:
            (length,) = _HEAD.unpack_from(buffer, start)
            if length > MAX_FRAME_BYTES:
                raise ValueError(f"a frame of {length} bytes; at most {MAX_FRAME_BYTES}")
            end = start + _HEAD.size + length
            if end > size:
                break
            payloads.append(bytes(buffer[start + _HEAD.size : end]))
            start = end
        del buffer[:start]
        return payloads
