"""Wait for facts."""

import time


def wait_until(fact, *, seconds=30.0):
    """Return the first true answer of ``fact()``; fail if there is none in time."""
    deadline = time.monotonic() + seconds
    while not (answer := fact()):
        assert time.monotonic() < deadline, f"not true within {seconds} s: {fact}"
        time.sleep(0.02)
    return answer
