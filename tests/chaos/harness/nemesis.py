"""The nemesis: a seeded loop that injects one fault again and again, with the load going on between.

It runs in the main thread and injects and heals by itself, so a fault is one function: it does something to the drill,
undoes it, and answers with the wound that it left.
"""

import time
from dataclasses import dataclass

from tests.chaos.harness.workers import pause


@dataclass(frozen=True)
class Wound:
    """A fault that has been healed. `pids` are the runners it took: what ran in them must be closed.

    Without them the workers must claim again. `seconds` are what the fault has measured itself, and all there is to it.
    """

    healed_at: float
    pids: frozenset = frozenset()
    seconds: tuple | None = None


def healed(pids=(), *, seconds=None):
    """Return the wound of a fault that ends now."""
    return Wound(time.time(), frozenset(pids), None if seconds is None else tuple(seconds))


def torment(drill, fault, times, *, between=(0.2, 0.7)):
    """Inject `fault` so many times; answer with the wounds."""
    wounds = []
    for _ in range(times):
        pause(drill.dice.uniform(*between))
        wounds.append(fault(drill))
    return wounds
