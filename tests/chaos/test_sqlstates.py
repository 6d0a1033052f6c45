"""Fault: a share of the statements on the job table fails, with the codes that a busy server gives."""

from tests.chaos.harness import budgets
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import hold

CODES = ["40001", "40P01", "55P03", "57014", "53300"]
SHARE = 0.5


def raise_for_a_share(drill):
    """Have half of the writes fail with one of the codes, for a second."""
    code = CODES[drill.dice.randrange(len(CODES))]
    before = raised(drill)
    drill.ask("INSERT INTO chaos_error VALUES (%s, %s)", [code, SHARE])
    bites = hold(1.0, lambda: raised(drill) - before)
    drill.ask("DELETE FROM chaos_error")
    return healed(bites)


def raised(drill):
    """How often an error was raised so far."""
    ((last, is_called),) = drill.ask("SELECT last_value, is_called FROM chaos_raised")
    return last if is_called else 0


def test_errors_of_a_busy_server_cost_nothing(drill, times):
    """Whatever the code, the write is tried again, and nothing is charged to a job."""
    with drill("sqlstates") as stage:
        report = stage.run(raise_for_a_share, times(8, 40), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()
