"""Fault: PgBouncer in transaction mode, before workers and producer, is restarted, reconnects, or has no room left."""

from contextlib import ExitStack, closing

import pytest

from tests.chaos.conftest import in_full
from tests.chaos.harness import budgets
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.process import dying_with_us
from tests.chaos.harness.server import ROLE
from tests.chaos.harness.workers import hold, pause
from tests.scenarios import pooler as pgbouncer

pytestmark = pytest.mark.skipif(pgbouncer.program() is None, reason="pgbouncer is not installed")

POOL_SIZE = 4


def pooled(server, database):
    """Start a pooler before a run's database."""
    parameters = {"host": "127.0.0.1", "port": server.port, "dbname": database, "user": ROLE}
    pooler = pgbouncer.Pooler(parameters, pool_size=POOL_SIZE, preexec_fn=dying_with_us())
    pooler.start()
    return pooler


def told(drill, command, number):
    """Add up what a function finds in each row that the pooler's console shows."""
    with closing(drill.proxy.connect("pgbouncer", autocommit=True)) as console:
        cursor = console.execute(command)
        names = [column.name for column in cursor.description]
        return sum(int(number(dict(zip(names, row, strict=True)))) for row in cursor.fetchall())


def of_workers(client):
    """Whether a client of the pooler is a worker."""
    return client["application_name"].startswith("worker-")


def kill(drill):
    """Kill the pooler, and start it again after a moment."""
    bites = told(drill, "SHOW CLIENTS", of_workers)
    drill.proxy.kill()
    pause(drill.dice.uniform(0.0, 1.0))
    drill.proxy.start()
    return healed(bites)


def stop(drill):
    """Stop the pooler by the book, and start it again."""
    bites = told(drill, "SHOW CLIENTS", of_workers)
    drill.proxy.stop()
    drill.proxy.start()
    return healed(bites)


def reconnect(drill):
    """Have the pooler replace its connections to the server."""
    of_pool = "SELECT pid FROM pg_stat_activity WHERE usename = %s"
    before = set(drill.ask(of_pool, [ROLE]))
    drill.proxy.reconnect()
    return healed(hold(0.0, lambda: len(before - set(drill.ask(of_pool, [ROLE])))))


def exhaust(drill):
    """Hold every connection of the pool in a transaction, for a second or two."""
    with ExitStack() as others:
        for _ in range(POOL_SIZE):
            others.enter_context(drill.proxy.connect()).execute("SELECT 1")
        bites = hold(drill.dice.uniform(1.0, 2.5), lambda: told(drill, "SHOW POOLS", lambda pool: pool["cl_waiting"]))
    return healed(bites)


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
