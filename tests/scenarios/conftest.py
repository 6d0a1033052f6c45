"""Real workers, in processes of their own, on the test's database."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from django_jobqueue.models import Job, Worker
from tests.stage.models import Trace
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
LONG_LEASE = {"lease_seconds": 30, "renew_seconds": 10}
"""Of a worker whose connections are counted: under a short lease it cuts a line that is silent for 1.5 s."""

SECONDS = 30.0
"""No fact of a scenario takes longer than this, on a machine that is busy with something else."""


def project(database_url, *, options=None, settings=None, database=None, database_options=None, environment=None):
    """The environment of a process of the stage's project: OPTIONS, settings, parts of DATABASES["default"]."""
    return {
        **os.environ,
        "DATABASE_URL": database_url,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "STAGE_OPTIONS": json.dumps(options or {}),
        "STAGE_SETTINGS": json.dumps(settings or {}),
        "STAGE_DATABASE": json.dumps(database or {}),
        "STAGE_DATABASE_OPTIONS": json.dumps(database_options or {}),
        **(environment or {}),
    }


FIGURES = pytest.StashKey[list[tuple[str, float, float]]]()

SLACK = 5
"""A test fails at so many times a budget: the machine may be busy. `benchmarks.budgets` measures."""


def wait_for_signs_of_life(worker, count):
    """Wait until a worker has said so often that it lives: it has turned that often, whatever there was to do."""
    seen = set()

    def is_enough():
        seen.update(Worker.objects.filter(pid=worker.pid).values_list("last_seen_at", flat=True))
        return len(seen) >= count

    wait_until(is_enough, seconds=SECONDS)


class WorkerProcess:
    """A `runworker` of its own: a keeper, its forkserver and its runners."""

    def __init__(
        self, *arguments, database_url, log_path, under=(), receivers=False, thread=False, buffered=False, **habits
    ):
        environment = {
            "STAGE_RECEIVERS": "1" if receivers else "",
            "STAGE_THREAD": "1" if thread else "",
            "PYTHONUNBUFFERED": "" if buffered else "1",
        }
        self.log_path = log_path
        with log_path.open("w") as log:
            self.popen = subprocess.Popen(
                [*under, sys.executable, "-m", "django", "runworker", *arguments],
                cwd=ROOT,
                env=project(database_url, **habits) | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.pid = self.popen.pid
        self.seen = {self.pid}

    @property
    def log(self):
        """What it has said so far."""
        return self.log_path.read_text()

    def family(self):
        """Its processes that are alive: the keeper and everything below it."""
        try:
            keeper = psutil.Process(self.pid)
            alive = [keeper, *keeper.children(recursive=True)]
        except psutil.NoSuchProcess:
            alive = []
        self.seen |= {process.pid for process in alive}
        return [process for process in alive if _is_running(process.pid)]

    def survivors(self):
        """Processes that were ever seen in its family and are still alive."""
        self.family()
        return [pid for pid in self.seen if _is_running(pid)]

    def send(self, number):
        """Send a signal to the keeper."""
        os.kill(self.pid, number)

    def freeze(self):
        """Stop every process of the worker."""
        self._tell_all(signal.SIGSTOP)

    def thaw(self):
        """Let them go on."""
        self._tell_all(signal.SIGCONT)

    def wait(self, seconds=SECONDS):
        """Wait for its end and answer with the exit code."""
        return self.popen.wait(timeout=seconds)

    def end(self):
        """Kill whatever is left of it."""
        self._tell_all(signal.SIGKILL)
        self.popen.wait(timeout=10)

    def _tell_all(self, number):
        for process in self.family():
            # One may end another between the listing and the signal: a keeper that thaws kills a late runner.
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)


def _is_running(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def runner_of(result):
    """The process that runs a job."""
    job_id = int(result.id)
    return wait_until(lambda: Trace.objects.filter(job_id=job_id, what="start").last(), seconds=SECONDS).pid


@pytest.fixture
def start_worker(database_url, tmp_path):
    """Start workers with the given arguments of `runworker`; after the test nothing of them is left."""
    workers = []

    def start(*arguments, may_break=False, **more):
        log_path = tmp_path / f"worker-{len(workers) + 1}.log"
        worker = WorkerProcess(*arguments, log_path=log_path, **{"database_url": database_url} | more)
        worker.may_break = may_break
        workers.append(worker)
        return worker

    yield start
    for worker in workers:
        worker.end()
    for worker in workers:
        wait_until(lambda worker=worker: not worker.survivors(), seconds=SECONDS)
        # Re-raised here so that a scenario cannot pass over a worker that broke.
        assert worker.may_break or not re.search(r"Traceback|AssertionError", _without_tasks(worker.log)), worker.log


def _without_tasks(log):
    """Leave out what is said where receivers and tasks break something on purpose."""
    on_purpose = ("a receiver that fails", "tried to end the process", "a receiver of task_started", "close_every_file")
    return "" if any(words in log for words in on_purpose) else log


@pytest.fixture
def run_program(database_url):
    """Run a program in the stage's project, after `django.setup()`, and answer with what it prints."""

    def run(program, **habits):
        source = f"import django; django.setup()\nfrom tests.stage import tasks\n{textwrap.dedent(program)}"
        done = subprocess.run(
            [sys.executable, "-c", source],
            cwd=ROOT,
            env=project(**{"database_url": database_url} | habits),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture
def job_is():
    """Wait until a job has a status, and answer with it."""

    def wait(result, status, seconds=SECONDS):
        return wait_until(lambda: Job.objects.filter(pk=int(result.id), status=status).first(), seconds=seconds)

    return wait


@pytest.fixture
def run_until_idle(start_worker):
    """Run a worker until nothing is due, and answer with it."""

    def run(*arguments, **more):
        worker = start_worker("--until-idle", *arguments, **more)
        assert worker.wait() == 0, worker.log
        return worker

    return run


TERM, KILL = signal.SIGTERM, signal.SIGKILL


@pytest.fixture
def within(pytestconfig):
    """Take down how many seconds something took, and fail if that is out of all proportion to its budget."""

    def note(what, seconds, budget):
        pytestconfig.stash.setdefault(FIGURES, []).append((what, seconds, budget))
        assert seconds <= SLACK * budget, f"{what} took {seconds:.1f} s of {budget:g}"

    return note


def pytest_terminal_summary(terminalreporter, config):
    """Print how long things took."""
    if figures := config.stash.get(FIGURES, []):
        terminalreporter.section("time budgets")
        for what, seconds, budget in figures:
            terminalreporter.write_line(f"{what:<60} {seconds:6.2f} s of {budget:g}")
