"""A check that cannot turn red does not count: the machine finds every mistake of a list, each within two minutes.

python3 manage.py test tests/model/test_mutants.py -m mutants     all of them, with a table; some minutes
"""

import time

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.mutants import MUTANTS, SHORT
from tests.model.plots import Plots
from tests.store.hands import COMMITS

pytestmark = COMMITS

SECONDS = 120

SEARCH = settings(
    max_examples=100_000,
    stateful_step_count=25,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
    report_multiple_bugs=False,
)


class Survived(Exception):
    """The time is up."""


@pytest.mark.mutants
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_a_mutant_is_killed(crew, mutant, kills):
    """The machine turns red for a queue with this mistake."""
    started = time.monotonic()

    def machine():
        if time.monotonic() > started + SECONDS:
            raise Survived
        return Plots(crew)

    with mutant.make(), pytest.raises(Exception) as caught:
        run_state_machine_as_test(machine, settings=SEARCH)

    kills.append((mutant.name, time.monotonic() - started, caught.value))
    assert not isinstance(caught.value, Survived), "it survived"


def test_the_short_list_is_of_the_list():
    """What is tried whenever the suite runs are mutants, at least three of at least twenty."""
    names = [mutant.name for mutant in MUTANTS]

    assert len(set(names)) == len(names) >= 20
    assert set(names) >= SHORT
    assert len(SHORT) >= 3
