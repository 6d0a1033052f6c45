"""Fault: any of the others, in random order, among jobs that kill their process, hang, and people at work.

Left out is what needs a stage of its own: PgBouncer, a clock that jumps, a cgroup without memory, a full disk.
"""

from dataclasses import replace

import psutil
import pytest

from tests.chaos.harness.checker import Allowed
from tests.chaos.harness.load import MIX
from tests.chaos.test_deadlocks import bait
from tests.chaos.test_freeze import freeze
from tests.chaos.test_kill_forkserver import kill_a_forkserver
from tests.chaos.test_kill_keeper import kill_a_keeper
from tests.chaos.test_kill_runner import kill_a_runner
from tests.chaos.test_link import WAYS as BROKEN_LINES
from tests.chaos.test_link import break_line
from tests.chaos.test_locked_table import lock
from tests.chaos.test_lost_commits import ATOMIC
from tests.chaos.test_lost_replies import VERBS, lose, lose_a_rescue
from tests.chaos.test_no_connections import hog
from tests.chaos.test_read_only import read_only_by_default, standby
from tests.chaos.test_restart import WAYS as ENDS
from tests.chaos.test_restart import kill_a_backend, restart
from tests.chaos.test_sqlstates import raise_for_a_share
from tests.chaos.test_stop import GRACE, roll, stop_one
from tests.chaos.test_terminated_backends import terminate

FAULTS = {
    "kill_runner": kill_a_runner,
    "kill_keeper": kill_a_keeper,
    "kill_forkserver": kill_a_forkserver,
    "stop": stop_one,
    "roll": roll,
    "backend_killed": kill_a_backend,
    "terminated_backends": terminate,
    "no_connections": hog,
    "read_only_default": read_only_by_default,
    "standby": standby,
    "sqlstates": raise_for_a_share,
    "deadlocks": bait,
    "locked_table": lock(1.5),
    "lost_reply_atomic": lose(ATOMIC),
    "lost_reply_rescue": lose_a_rescue,
    **{f"freeze_{who}": freeze(who) for who in ("runner", "keeper", "worker")},
    **{f"restart_{way}": restart(way) for way in ENDS},
    **{f"link_{way}": break_line(way) for way in BROKEN_LINES},
    **{f"lost_reply_{verb}": lose(*orders) for verb, (orders, _) in VERBS.items()},
}

JOBS = MIX | {
    "atomic": 0.05, "keyed": 0.05, "external": 0.05, "long": 0.03,
    "exit": 0.004, "segfault": 0.004, "abort": 0.004, "spin": 0.004, "keep_gil": 0.004,
}  # fmt: skip


class AnyFault:
    """A fault that is another one each time: all of them in random order, and then again."""

    def __init__(self):
        self._left = []

    def __call__(self, drill):
        """Draw one and inject it."""
        if not self._left:
            self._left = sorted(FAULTS)
            drill.dice.shuffle(self._left)
        name = self._left.pop()
        print(f"fault: {name}")
        while True:
            try:
                return replace(FAULTS[name](drill), kind=name)
            except (psutil.NoSuchProcess, ProcessLookupError):
                # Who was chosen has died of its own job meanwhile: another one is.
                continue


@pytest.mark.long
def test_whatever_happens_in_whatever_order_nothing_is_lost(drill, server, times, minutes):
    """No job is lost, every run is on record, every death has its reason, and the backlog is worked off at the end."""
    fault, stage_is = AnyFault(), {"proxied": True, "mix": JOBS, "rate": 20, "acts_a_second": 1}
    server.configure("deadlock_timeout", "'300ms'")
    try:
        with drill(
            "everything", workers=3, arguments=["--grace", str(GRACE)], samples_the_pace=True, **stage_is
        ) as stage:
            report = stage.run(
                fault,
                times(10, 2 * len(FAULTS)),
                minutes=minutes,
                pile=times(200, 1000),
                allowed=Allowed(charges=True, deaths=True, overlaps=True),
            )

            assert report.is_good, report.details()
            assert report.drained is not None
    finally:
        server.configure("deadlock_timeout")
