"""Faults: workers are killed, frozen and replaced, while limits of keys, tasks and queues and an order are to hold."""

import time
from dataclasses import replace

from tests.chaos.harness.checker import Allowed
from tests.chaos.harness.load import GATED
from tests.chaos.harness.overlap import Sampler, out_of_order, overlaps
from tests.chaos.test_freeze import freeze
from tests.chaos.test_kill_keeper import kill_a_keeper
from tests.chaos.test_kill_runner import kill_a_runner
from tests.chaos.test_stop import stop_one

FAULTS = {
    "kill_runner": kill_a_runner,
    "kill_keeper": kill_a_keeper,
    "freeze_keeper": freeze("keeper"),
    "freeze_worker": freeze("worker"),
    "stop": stop_one,
}


class AnyFault:
    """A fault that is another one each time: all of them in random order, and then again."""

    def __init__(self):
        self._left = []

    def __call__(self, drill):
        """Draw one and inject it."""
        if not self._left:
            self._left = sorted(FAULTS)
            drill.dice.shuffle(self._left)
        kind = self._left.pop()
        return replace(FAULTS[kind](drill), kind=kind)


def test_limits_and_lines_hold_while_workers_die(drill, server, times, minutes, capsys):
    """At no moment are more attempts open than a limit says, no line is out of order, and everything ends."""
    options = {"queues": {"narrow": {"max_running": 2}}}
    with drill("limits_hold", workers=4, rate=25, mix=GATED, options=options) as stage:
        began = time.monotonic()
        with Sampler(lambda: server.connect(stage.database)) as sampler:
            allowed = Allowed(charges=True, deaths=True, overlaps=True)
            report = stage.run(AnyFault(), times(10, 60), minutes=minutes, allowed=allowed)
        found = overlaps(report.evidence)
        with capsys.disabled():
            kinds = [wound.kind for wound in report.wounds]
            print(f"{sum(o.attempts for o in found.values())} attempts under limits, {time.monotonic() - began:.0f} s")
            print({kind: kinds.count(kind) for kind in sorted(FAULTS)}, f"{sampler.samples} samples")
            for name, overlap in sorted(found.items()):
                limit = f"{overlap.attempts} attempts, at most {overlap.most} of {overlap.limit} at once"
                print(f"{name}: {limit}, {sampler.most[name]} READY or RUNNING when it was sampled")

        assert report.is_good, report.details()
        assert not sampler.breaches
        assert not [name for name, overlap in found.items() if overlap.most > overlap.limit]
        assert not [*out_of_order(report.evidence)]
        assert {name.split()[0] for name in found} == {"key", "task", "queue", "order"}
        # A limit that is never reached is not tried.
        assert all(overlap.most == overlap.limit for overlap in found.values())
