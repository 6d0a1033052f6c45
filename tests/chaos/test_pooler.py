"""Fault: PgBouncer in transaction mode, before workers and producer, is restarted, reconnects, or has no room left."""

from contextlib import ExitStack

import pytest

from tests.chaos.conftest import in_full
from tests.chaos.harness import budgets
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.process import dying_with_us
from tests.chaos.harness.server import ROLE
from tests.chaos.harness.workers import pause
from tests.scenarios import pooler as pgbouncer

pytestmark = pytest.mark.skipif(pgbouncer.program() is None, reason="pgbouncer is not installed")

POOL_SIZE = 4


def pooled(server, database):
    """Start a pooler before a run's database."""
    parameters = {"host": "127.0.0.1", "port": server.port, "dbname": database, "user": ROLE}
    pooler = pgbouncer.Pooler(parameters, pool_size=POOL_SIZE, preexec_fn=dying_with_us())
    pooler.start()
    return pooler


def kill(drill):
    """Kill the pooler, and start it again after a moment."""
    drill.proxy.kill()
    pause(drill.dice.uniform(0.0, 1.0))
    drill.proxy.start()
    return healed()


def stop(drill):
    """Stop the pooler by the book, and start it again."""
    drill.proxy.stop()
    drill.proxy.start()
    return healed()


def reconnect(drill):
    """Have the pooler replace its connections to the server."""
    drill.proxy.reconnect()
    return healed()


def exhaust(drill):
    """Hold every connection of the pool in a transaction, for a second or two."""
    with ExitStack() as others:
        for _ in range(POOL_SIZE):
            others.enter_context(drill.proxy.connect()).execute("SELECT 1")
        pause(drill.dice.uniform(1.0, 2.5))
    return healed()


@pytest.mark.parametrize(
    "fault",
    [kill, in_full(exhaust), in_full(stop), in_full(reconnect)],
    ids=lambda fault: fault.__name__,
)
def test_a_pooler_that_is_not_there_for_a_while_costs_nothing(drill, times, fault):
    """Killed, stopped, told to reconnect or held by others: nothing is lost or charged, and the workers claim again."""
    with drill(f"pooler_{fault.__name__}", proxied=pooled, proxied_producer=True) as stage:
        report = stage.run(fault, times(5), between=(0.5, 1.0), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()
