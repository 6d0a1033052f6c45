"""How long a worker leaves what seems lost alone: its owner may only be late, and is charged nothing if it comes back.

Nobody is harmed by a truce that is too short but the job's budget: an attempt is charged as lost that would have been
interrupted. The fence holds whoever comes first.
"""

from __future__ import annotations

AFTER_OUTAGE_SECONDS = 10.0
"""So long after its own return a worker rescues nothing: the others have only just come back too."""
AFTER_DOUBT_SECONDS = 3.0
"""A worker that starts cannot know of an outage, and one that waited in vain for a lock on the table does not know
whether the others could renew. By then they have tried again (`outage.MAX_SECONDS`)."""
