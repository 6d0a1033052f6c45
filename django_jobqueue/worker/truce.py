"""How long a worker leaves alone what seems lost, because its owner may only be late.

After an outage leases have run out of which nobody is dead: their owners had no chance to renew, and have stopped their
jobs. Who comes back itself says that they were interrupted, which costs nothing; who is rescued is charged. So a truce
that is too short costs attempts, and never more than that: the fence holds whoever is first. One that is too long
leaves the jobs of workers that were lost in the outage lying.
"""

from __future__ import annotations

from django_jobqueue.worker.link import longest_call_seconds
from django_jobqueue.worker.outage import apart_seconds

RETURN_SECONDS = 2.0
"""The call with which a worker comes back may take so long, on a server that has only just come back itself and has
everybody's connection to open. Twice what a statement may work (`calls.STATEMENT_TIMEOUT_MS`)."""

AFTER_DOUBT_SECONDS = 3.0
"""A worker that starts cannot know of an outage, and one that waited in vain for a lock on the table does not know
whether the others could renew. Where the server answers they have tried again by then (`outage.MAX_SECONDS`)."""


def after_outage_seconds(lease_seconds: float) -> float:
    """Say how long after its own return a worker rescues nothing: until all that live must have come back too.

    Another's last try in vain may have begun just before this one's came through.
    """
    return apart_seconds(longest_call_seconds(lease_seconds)) + RETURN_SECONDS
