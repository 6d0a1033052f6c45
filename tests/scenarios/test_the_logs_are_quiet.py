"""What a worker and the database's server write down when all is well: next to nothing."""

import re
import shutil
import tempfile
from pathlib import Path

import pytest

from demo_project.embedded_pg.server import PORT, USER, Server
from tests.scenarios.conftest import LONG_LEASE, SECONDS, TERM, wait_for_signs_of_life
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def test_an_idle_worker_says_nothing_after_its_start(start_worker):
    """At INFO an idle worker has one line to say, however often it polls, renews its sign of life and rescues."""
    worker = start_worker("--processes", "2", options=LONG_LEASE)
    wait_for_signs_of_life(worker, 5)

    lines = worker.log.splitlines()
    assert len(lines) == 2, worker.log
    assert lines[0].startswith("Worker of all queues")
    assert re.fullmatch(r"worker \S+ starts \(pid \d+\)", lines[1])


@pytest.fixture
def own_server():
    """A PostgreSQL of the test's own, with all migrations applied."""
    home = Path(tempfile.mkdtemp(prefix="quiet-", dir="/tmp"))
    server = Server(home)
    server.start()
    yield server
    server.stop()
    server.release()
    # A process of it that ends may write there meanwhile.
    wait_until(lambda: shutil.rmtree(home, ignore_errors=True) or not home.exists(), seconds=SECONDS)


WORK = """
from django.db import transaction
from django_jobqueue import operations
from django_jobqueue.models import DeadLetter, Job
from tests.waiting import wait_until

who = {"by": "ada", "reason": "because"}
results = [tasks.start.enqueue(), tasks.fail_at_first.enqueue(1), tasks.come_back_at_once.enqueue(1)]
results += [tasks.return_from_a_coroutine.enqueue(1), tasks.fail.enqueue(), tasks.fail.enqueue()]
tasks.start.get_backend().enqueue_many([(tasks.start, (), {})] * 100)
wait_until(lambda: DeadLetter.objects.count() == 2 and not Job.objects.filter(status="RUNNING").exists())
first, second = DeadLetter.objects.order_by("pk")
operations.replay(first, **who)
operations.discard(second, **who)
wait_until(lambda: not Job.objects.exclude(status__in=["SUCCESSFUL", "FAILED"]).exists())
print(Job.objects.filter(status="SUCCESSFUL").count())
"""


def test_the_servers_log_has_no_errors_when_all_is_well(own_server, start_worker, run_program):
    """Migrate, start, work, retry, bury, replay, discard and stop: no ERROR, FATAL or WARNING of PostgreSQL."""
    url = f"postgres:///postgres?host={own_server.places.sockets}&port={PORT}&user={USER}"
    run_program(
        """
        from django.core.management import call_command
        call_command("migrate", run_syncdb=True, verbosity=0)
        """,
        database_url=url,
    )
    worker = start_worker("--processes", "2", "--threads", "2", database_url=url, options=LONG_LEASE)
    assert run_program(WORK, database_url=url).strip() == "104"
    worker.send(TERM)
    assert worker.wait() == 0

    log = own_server.places.log.read_text()
    assert not re.search(r"(ERROR|FATAL|PANIC|WARNING):", log), log
