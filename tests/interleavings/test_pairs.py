"""Whatever the order of their statements, two verbs leave what one after the other would have left.

A verb's refusal, or its empty answer, is part of what is compared. A new verb meets those that touch the same rows: its
pairs belong to `workers`, `people` or `gates`.
"""

import pytest

from tests.interleavings import gates, people, workers
from tests.interleavings.deeds import admit_all
from tests.interleavings.orders import Meeting
from tests.interleavings.stepping import WRITES_OR_LOCKS
from tests.store.hands import COMMITS

pytestmark = COMMITS


@pytest.mark.parametrize("pair", [*workers.PAIRS, *people.PAIRS], ids=lambda pair: pair.__name__)
def test_every_order_ends_like_a_serial_one(sides, counted, pair):
    """Two verbs that meet leave the rows, and give the answers, of one after the other, and break no invariant."""
    if pair in people.LONG:
        for side in sides.values():
            side.steps = WRITES_OR_LOCKS

    counted[pair.__name__] = Meeting(sides, pair).check()

    assert counted[pair.__name__] > 1


@pytest.mark.parametrize("pair", gates.PAIRS, ids=lambda pair: pair.__name__)
def test_every_order_leaves_slots_and_turns_as_a_serial_one_does(sides, counted, pair):
    """Who meets one that admits leaves limits and lines kept, and nobody stuck: the next look admits who would be."""
    for side in sides.values():
        side.steps = WRITES_OR_LOCKS

    counted[pair.__name__] = Meeting(sides, pair, then=admit_all).check()

    assert counted[pair.__name__] > 1


@pytest.mark.parametrize("pair", gates.LATE, ids=lambda pair: pair.__name__)
def test_a_late_commit_goes_next_and_interrupts_nobody(sides, counted, pair):
    """Whenever a smaller id is committed, of its line one is on its way, and then the smallest id is next."""
    counted[pair.__name__] = Meeting(sides, pair, then=gates.run_in_line).check_laws()

    assert counted[pair.__name__] > 1


@pytest.mark.parametrize("pair", gates.LOWERING, ids=lambda pair: pair.__name__)
def test_no_claim_is_committed_after_a_limit_is_none(sides, pair):
    """In no order of their statements does a claim commit after the limit of what it takes has become 0."""
    assert Meeting(sides, pair).check_pause() > 1


@pytest.mark.parametrize("pair", people.PAUSING, ids=lambda pair: pair.__name__)
def test_no_claim_is_committed_after_a_pause(sides, pair):
    """In no order of their statements does a claim of what was paused commit after the pause has."""
    assert Meeting(sides, pair).check_pause() > 1


@pytest.mark.parametrize("pair", [*people.TOGETHER, *gates.TOGETHER], ids=lambda pair: pair.__name__)
def test_no_order_ends_in_a_circle(sides, counted, pair):
    """Transactions of several verbs never wait for each other in a circle, and no order of them breaks a law."""
    for side in sides.values():
        side.steps = WRITES_OR_LOCKS

    counted[pair.__name__] = Meeting(sides, pair).check_laws()

    assert counted[pair.__name__] > 1
