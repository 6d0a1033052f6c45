"""Seconds in which a fault should be over, by the design: reported beside what was measured, and never asserted.

The machine that measures has other work to do; what tests assert is `bound`, which is much wider.
"""

LEAST_BOUND = 10.0

RUNNER_DIED = 2.0
"""Until what ran in a process that died is closed."""

DATABASE_BACK = 3.0
"""Until every worker claims again."""


def bound(budget):
    """Beyond that it is not the machine that is slow."""
    return max(LEAST_BOUND, 3 * budget)


def keeper_died(lease_seconds):
    """Until what a lost worker held is closed."""
    return lease_seconds + 6.0


def stopped(grace_seconds):
    """From SIGTERM until the worker has left."""
    return grace_seconds + 2.0


def hung(timeout_seconds):
    """From the start of a job that hangs until it is closed."""
    return timeout_seconds + 2.0
