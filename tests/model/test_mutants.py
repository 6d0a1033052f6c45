"""A check that cannot turn red does not count: the machine finds every mistake of a list, each within two minutes.

python3 manage.py test tests/model/test_mutants.py -m mutants     all of them, with a table; some minutes
"""

import sys
import time

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.afterlives import Queue
from tests.model.mutants import MUTANTS, SHORT
from tests.model.mutants_of_gates import GATES
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


@pytest.mark.mutants
@pytest.mark.parametrize("mutant", [*MUTANTS, *GATES], ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_a_mutant_is_killed(crew, mutant, kills):
    """The machine turns red for a queue with this mistake."""
    errors = []
    started = time.monotonic()

    class Witness(Queue):
        """The machine, which notes what ended it."""

        def __init__(self):
            assert errors or time.monotonic() < started + SECONDS, "the time is up"
            super().__init__(crew)

        def teardown(self):
            error = sys.exception()
            if isinstance(error, Exception):
                errors.append(error)

    with mutant.make(), pytest.raises(Exception) as caught:
        run_state_machine_as_test(Witness, settings=SEARCH)

    assert errors, f"it survived: {caught.value}"
    assert not cannot_run(errors[0]), f"it is no mutant, it cannot be run: {errors[0]}"
    kills.append((mutant.name, time.monotonic() - started, errors[0]))


def cannot_run(error):
    """Whether this error tells of a mutant that is not even a program: SQL or Python that makes no sense."""
    return isinstance(error, NameError | TypeError) or str(getattr(error, "sqlstate", "")).startswith("42")


def test_the_short_list_is_of_the_list():
    """What is tried whenever the suite runs are mutants, at least three of at least twenty."""
    names = [mutant.name for mutant in [*MUTANTS, *GATES]]

    assert len(set(names)) == len(names) >= 20
    assert set(names) >= SHORT
    assert len(SHORT) >= 3
