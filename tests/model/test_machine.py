"""The queue does what the model says, whatever happens in whatever order.

MODEL=long python3 manage.py test tests/model/test_machine.py     about twenty minutes
"""

import os

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.afterlives import Queue
from tests.store.hands import COMMITS

pytestmark = COMMITS

PROFILES = {
    "short": settings(max_examples=80, stateful_step_count=25),
    "long": settings(max_examples=2000, stateful_step_count=60),
}


def test_the_queue_does_what_the_model_says(crew):
    """No sequence of verbs, late, repeated and lost ones included, breaks an invariant or differs from the model."""
    profile = settings(
        PROFILES[os.environ.get("MODEL", "short")],
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.reuse, Phase.generate, Phase.shrink],
    )

    run_state_machine_as_test(lambda: Queue(crew), settings=profile)
