"""A provider that is down: its jobs wait, others go on, and what has piled up does not run it over when it is back."""

import socket
import threading
import time
from contextlib import suppress

import pytest

from django_jobqueue.compat import task_backends
from django_jobqueue.models import Attempt, CircuitBreaker, Job
from tests.scenarios.conftest import KILL, SECONDS
from tests.stage import tasks
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]

PROVIDER = tasks.PROVIDER
ASK = "tests.stage.tasks.ask_provider"
JOBS = 60


class Provider:
    """A server on a port of its own. Down it refuses; up it answers after a while; `hangs` it does not answer."""

    def __init__(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.port = server.getsockname()[1]
        self.hangs = False
        self.takes_seconds = 0.05
        self.began, self.at_once, self.most_at_once = [], 0, 0
        self._lock, self._lines, self._server = threading.Lock(), [], None

    def come_up(self):
        """Listen."""
        self._server = socket.create_server(("127.0.0.1", self.port), backlog=200)
        threading.Thread(target=self._serve, args=[self._server], daemon=True).start()

    def go_down(self):
        """Refuse, and hang up on whoever waits for an answer."""
        if self._server is not None:
            # A thread that waits in accept() keeps the port listening after a mere close().
            with suppress(OSError):
                self._server.shutdown(socket.SHUT_RDWR)
            self._server.close()
        for line in self._lines:
            line.close()

    def _serve(self, server):
        with suppress(OSError):
            while True:
                line, _ = server.accept()
                self._lines.append(line)
                threading.Thread(target=self._answer, args=[line], daemon=True).start()

    def _answer(self, line):
        with self._lock:
            self.began.append(time.monotonic())
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        with suppress(OSError):
            line.recv(100)
            if self.hangs:
                # Until the other side has hung up.
                line.recv(100)
            else:
                threading.Event().wait(self.takes_seconds)
                line.sendall(b"done")
                line.close()
        with self._lock:
            self.at_once -= 1


@pytest.fixture
def provider():
    """A provider that is down."""
    provider = Provider()
    yield provider
    provider.go_down()


def breaker_is(*states):
    """Wait until the breaker is in one of these states, and answer with its row."""
    return wait_until(CircuitBreaker.objects.filter(name="provider", state__in=states).first, seconds=SECONDS)


def ask(provider, count):
    """Enqueue jobs that ask the provider."""
    task_backends["default"].enqueue_many([(tasks.ask_provider, (provider.port,), {})] * count)


def burnt():
    """Count the attempts that were charged."""
    return Attempt.objects.filter(job__task=ASK, charged=True).count()


def test_jobs_wait_for_a_provider_that_is_down(start_worker, provider, job_is):
    """It opens after few failures; jobs stay READY and keep their attempts while others run; in the end all succeed."""
    start_worker("--processes", "1", "--threads", "4")
    ask(provider, JOBS)
    row = breaker_is("open")
    assert "attempts failed (builtins.ConnectionRefusedError)" in row.reason
    job_is(tasks.start.enqueue(), "SUCCESSFUL")
    wait_until(CircuitBreaker.objects.filter(name="provider", openings__gte=3).exists, seconds=SECONDS)

    # Five to open it, what was in hand then, and two probes each time.
    openings = CircuitBreaker.objects.get(name="provider").openings
    assert burnt() <= 5 + 2 * 4 + 3 * (openings + 1)
    assert not Job.objects.filter(task=ASK, status="FAILED").exists()
    assert Job.objects.filter(task=ASK, status="READY", attempt_count=0).count() >= JOBS - burnt()

    provider.come_up()
    wait_until(lambda: Job.objects.filter(task=ASK, status="SUCCESSFUL").count() == JOBS, seconds=SECONDS)
    assert breaker_is("closed").openings == 0


def test_a_provider_that_is_back_is_not_run_over(start_worker, provider):
    """Two workers with sixteen slots begin with two jobs, and double that every two seconds."""
    for _ in range(2):
        start_worker("--processes", "1", "--threads", "8")
    ask(provider, 200)
    breaker_is("open")
    provider.takes_seconds = 0.3
    provider.come_up()
    wait_until(lambda: len(provider.began) >= 60, seconds=SECONDS)

    began = [moment - provider.began[0] for moment in provider.began]
    # At 0.3 s a piece, two and then four at once. Sixteen slots without a brake have begun eighty by then.
    assert sum(moment < 1.5 for moment in began) <= 24
    assert provider.most_at_once <= 16


def test_a_worker_that_is_killed_with_its_probes_blocks_nobody(start_worker, provider):
    """Its probes hang and it is killed: after a pause another worker sends others, and closes the breaker."""
    options = {"lease_seconds": 60.0, "renew_seconds": 20.0}
    worker = start_worker("--processes", "1", "--threads", "4", options=options)
    ask(provider, 20)
    breaker_is("open")
    provider.hangs = True
    provider.come_up()
    breaker_is("half_open")
    wait_until(lambda: provider.at_once >= 2, seconds=SECONDS)
    worker.send(KILL)
    worker.wait()
    stuck = Job.objects.filter(task=ASK, status="RUNNING").count()
    provider.hangs = False

    start_worker("--processes", "1", "--threads", "4", options=options)
    # Long before the leases of the dead one have run out.
    breaker_is("closed")
    wait_until(lambda: Job.objects.filter(task=ASK, status="SUCCESSFUL").count() == 20 - stuck, seconds=SECONDS)
    assert Job.objects.filter(task=ASK, status="RUNNING").count() == stuck >= 2


@pytest.mark.parametrize(
    "rules",
    [{"fair_share": True}, {"rate_limit": "50/s"}, {"fair_share": True, "rate_limit": "50/s", "max_depth": 500}],
    ids=["share", "rate", "all"],
)
def test_a_breaker_goes_with_the_other_gates_of_a_queue(start_worker, provider, job_is, settings, rules):
    """Held jobs stand in nobody's way, are probed, and come back, where they also wait for a place, or for a token."""
    default = settings.TASKS["default"]
    settings.TASKS = {"default": default | {"OPTIONS": default["OPTIONS"] | {"queues": {"default": rules}}}}
    start_worker("--processes", "1", "--threads", "4", options={"queues": {"default": rules}})
    ask(provider, 20)
    breaker_is("open")
    ask(provider, 20)
    wait_until(CircuitBreaker.objects.filter(name="provider", openings__gte=2).exists, seconds=SECONDS)
    others = [tasks.start.enqueue() for _ in range(10)]
    for other in others:
        job_is(other, "SUCCESSFUL")

    assert CircuitBreaker.objects.get(name="provider").state != "closed"
    provider.come_up()
    breaker_is("closed")
    wait_until(lambda: Job.objects.filter(task=ASK, status="SUCCESSFUL").count() == 40, seconds=SECONDS)
