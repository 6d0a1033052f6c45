"""The nemesis: a seeded loop that injects one fault again and again, with the load going on between.

It runs in the main thread and injects and heals by itself, so a fault is one function: it does something to the drill,
undoes it, and answers with the wound that it left. Mostly the next fault waits until the workers claim again, so that
what is measured is how long that took; now and then it does not.
"""

import time
from dataclasses import dataclass, replace

from tests.chaos.harness.workers import pause

HURRIES = 0.25
"""The share of the faults that come while the workers may still be recovering from the one before."""


@dataclass(frozen=True)
class Wound:
    """A fault that has been healed. `bites` is how often it was seen to do what it is for; with none it proves nothing.

    `pids` are the runners it took: what ran in them must be closed. Without them the workers must claim again.
    `seconds` are what the fault has measured itself, and all there is to it. `began_at` is when the fault began;
    `kind` names it where a run has several.
    """

    healed_at: float
    bites: int
    pids: frozenset = frozenset()
    seconds: tuple | None = None
    began_at: float = 0.0
    kind: str = ""

    @property
    def is_over_with_claims(self):
        """Whether it is over when the workers claim again."""
        return not self.pids and self.seconds is None


def healed(bites, pids=(), *, seconds=None):
    """Return the wound of a fault that ends now."""
    return Wound(time.time(), int(bites), frozenset(pids), None if seconds is None else tuple(seconds))


def torment(drill, fault, times, *, between=(0.2, 0.7), minutes=0):
    """Inject `fault` so many times, and on until so many minutes have passed; answer with the wounds."""
    wounds, began = [], time.monotonic()
    while len(wounds) < times or time.monotonic() < began + minutes * 60:
        pause(drill.dice.uniform(*between))
        began_at = time.time()
        wounds.append(replace(fault(drill), began_at=began_at))
        is_patient = drill.dice.random() >= HURRIES
        if is_patient and wounds[-1].is_over_with_claims and not drill.claims_again(wounds[-1].healed_at):
            break
    return wounds
