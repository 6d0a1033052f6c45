"""Fault: max_connections is reached while the workers have lost theirs."""

import time
from contextlib import closing

import psycopg

from tests.chaos.harness import budgets
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.server import ROLE
from tests.chaos.harness.workers import pause

NO_ROOM = ("53300", "too many clients already", "too many connections", "remaining connection slots")
"""libpq does not say the code of an error that it meets while it connects."""


def hog(drill):
    """Take every connection there is, the workers' and the producer's too, and give them back after a second."""
    hogs, since = [], time.time()
    with closing(drill.server.connect(drill.database)) as ours:
        mine = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s AND application_name <> 'hog'"
        try:
            for _ in range(20):
                ours.execute(mine, [ROLE])
                grab(drill, hogs)
                pause(0.05)
        finally:
            for connection in hogs:
                connection.close()
    return healed(drill.refused(*NO_ROOM, since=since))


def grab(drill, hogs):
    """Open connections until the server says that there are no more."""
    address = drill.environment("hog")["DATABASE_URL"]
    try:
        while True:
            hogs.append(psycopg.connect(address, autocommit=True))
    except psycopg.OperationalError:
        return


def test_a_server_without_connections_costs_nothing(drill, times):
    """The workers try again, with a wait; when there are connections again they claim; nothing is charged."""
    with drill("no_connections") as stage:
        report = stage.run(hog, times(5), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()
