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

    Without them the workers must claim again.
    """

    healed_at: float
    pids: frozenset = frozenset()


def healed(pids=()):
    """Return the wound of a fault that ends now."""
    return Wound(time.time(), frozenset(pids))


def torment(drill, fault, times, *, between=(0.2, 0.7)):
    """Inject `fault` so many times; answer with the wounds."""
    wounds = []
    for _ in range(times):
        pause(drill.dice.uniform(*between))
        wounds.append(fault(drill))
    return wounds
