"""How long the backlog of a run took to be worked off, beside what the same workers need when nothing is done to them.

The promise: what is there at the last fault has ended within twice the time that a healthy pace takes for it, and as
long as a lost worker's jobs may take to be taken over. The pace is measured in the same run, right after: of a sample
of the same jobs that are there all at once. That is how long many jobs take; a few take at least as long as the longest
of them runs, which may be of a kind that a small sample has none of. Both are read from the database's own record, by
its own clock, and both to the end of the last job: a retry or a job that hangs counts on either side. What is beyond
the promise is reported, what is beyond three times of it is a complaint: the machine has other work to do.
"""

from dataclasses import dataclass

from tests.chaos.harness import budgets
from tests.chaos.harness.rules import TERMINAL

PILE, SAMPLE = 1_000_000, 2_000_000
"""The numbers of the intents of a pile that is there at the last fault, and of the sample, begin here."""

LEAST_SAMPLE, MOST_SAMPLE = 60, 1000
"""So many jobs show the pace."""


@dataclass(frozen=True)
class Drain:
    """`backlog` jobs had not ended at the last fault, and took `seconds`; the healthy pace is `pace` jobs a second.

    The longest of them runs for `longest` seconds.
    """

    backlog: int
    seconds: float
    pace: float
    lease_seconds: float
    longest: float = 0.0

    @property
    def budget(self):
        """So many seconds are promised."""
        healthy_seconds = max(self.backlog / self.pace, self.longest)
        return 2 * healthy_seconds + budgets.keeper_died(self.lease_seconds)


def sample_size(backlog):
    """How many jobs to sample, for a backlog."""
    return min(max(backlog, LEAST_SAMPLE), MOST_SAMPLE)


def measure(evidence, healed_at, lease_seconds):
    """Read the backlog of that moment and the pace of the sample; None where one of them is not there."""
    left, first_claim, last_end, sampled = {}, float("inf"), 0.0, 0
    for job_id, moves in evidence.moves.items():
        ends = [move["at"].timestamp() for move in moves if move["new_status"] in TERMINAL]
        if evidence.jobs[job_id]["kwargs"]["intent"] >= SAMPLE:
            sampled += 1
            first_claim = min(first_claim, *(m["at"].timestamp() for m in moves if m["new_status"] == "RUNNING"))
            last_end = max(last_end, *ends)
        elif (end := _end_after(moves, healed_at)) is not None:
            left[job_id] = end
    if not left or not sampled or last_end <= first_claim:
        return None
    longest = max(evidence.jobs[job_id]["kwargs"].get("seconds", 0.0) for job_id in left)
    return Drain(len(left), max(left.values()) - healed_at, sampled / (last_end - first_claim), lease_seconds, longest)


def _end_after(moves, moment):
    """Find the first end after a moment of a job that was alive at it; None if it was not, or never ended."""
    status = None
    for move in moves:
        at = move["at"].timestamp()
        if at > moment and move["new_status"] in TERMINAL and status is not None and status not in TERMINAL:
            return at
        if at <= moment:
            status = move["new_status"]
    return None
