"""A check that cannot turn red proves nothing: each mutant of the product must be found out."""

import pytest

from tests.chaos.conftest import in_full
from tests.chaos.harness.checker import Allowed
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import pause
from tests.chaos.mutants import MUTANTS
from tests.chaos.test_freeze import freeze
from tests.chaos.test_lost_replies import WORDS, lose
from tests.chaos.test_terminated_backends import terminate

LONG = {"fast": 0.6, "slow": 0.2, "long": 0.2}
HARMLESS = Allowed()
FREEZING = Allowed(charges=True, deaths=True, overlaps=True)


def nothing(drill):
    """Do nothing."""
    pause(0.5)
    return healed()


HUNTS = {
    "settle_without_token": (freeze("worker"), 5, FREEZING, {"mix": LONG, "rate": 10}),
    "rescue_before_expiry": (nothing, 3, HARMLESS, {"mix": LONG, "rate": 10}),
    "never_renew": (nothing, 3, HARMLESS, {"mix": LONG, "rate": 5, "options": {"max_interruptions": 2}}),
    "forget_lost_claims": (lose(WORDS["claim"]), 8, HARMLESS, {"proxied": True}),
    "forget_outcomes": (terminate, 8, HARMLESS, {"rate": 60}),
    "give_up_at_once": (terminate, 1, HARMLESS, {}),
    "burn_interruptions": (freeze("keeper"), 3, HARMLESS, {"mix": LONG, "rate": 15}),
}
SHORT = ("settle_without_token", "rescue_before_expiry", "forget_lost_claims")

assert set(HUNTS) == set(MUTANTS)


MOST_HUNTS = 4
"""A fault has to meet the mistake at the right moment, which one hunt may miss."""


@pytest.mark.parametrize("mutant", [name if name in SHORT else in_full(name) for name in HUNTS])
def test_a_mutant_is_found_out(drill, mutant):
    """A worker without one of its safeguards does not pass."""
    fault, times, allowed, more = HUNTS[mutant]
    for _ in range(MOST_HUNTS):
        with drill(f"mutant_{mutant}", mutant=mutant, **more) as stage:
            if not stage.run(fault, times, allowed=allowed).is_good:
                return
    pytest.fail(f"{mutant} was not found out in {MOST_HUNTS} hunts")
