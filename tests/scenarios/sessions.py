"""Count the sessions that a scenario's processes have with the test's database."""

from django.db import connection

from tests.scenarios.conftest import SECONDS
from tests.waiting import wait_until


class Sessions:
    """Counts the sessions that were not there when it was made, and remembers the most.

    Those that were are the suite's own: this test's, and whatever a thread of an earlier one has left.
    """

    def __init__(self):
        self.most = 0
        self._before = self._pids()

    def count(self):
        """How many there are."""
        now = len(self._pids() - self._before)
        self.most = max(self.most, now)
        return now

    def settle_at(self, number):
        """Wait until there are so many."""
        wait_until(lambda: self.count() == number, seconds=SECONDS)

    def _pids(self):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pid FROM pg_stat_activity"
                " WHERE datname = current_database() AND backend_type = 'client backend'"
            )
            return {pid for (pid,) in cursor.fetchall()}
