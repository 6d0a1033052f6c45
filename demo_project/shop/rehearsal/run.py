"""The order of events of a rehearsal."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from django.db import connection
from django.test import override_settings

from demo_project.processes import ChildFailed, Processes
from demo_project.shop.jobs import LIVE
from demo_project.shop.models import Invoice
from demo_project.shop.rehearsal import figures, mix
from demo_project.shop.rehearsal.database import fresh_database
from demo_project.shop.rehearsal.figures import Difference
from demo_project.shop.rehearsal.visitor import Visitor
from demo_project.shop.seed import seed
from demo_project.shop.services.ledger import Ledger
from demo_project.shop.stage import Stage, quick_environment
from demo_project.shop.week import Week
from django_jobqueue.models import Job

Say = Callable[[str], None]

CRASH_SECONDS = 30.0
MIX_SECONDS = 60.0


def rehearse(processes: Processes, say: Say) -> list[Difference]:
    """Run the mix on a database, servers and workers of its own; answer what is not as it must be.

    Raises ChildFailed where a server or worker does not start or dies unasked.
    """
    with fresh_database() as name, tempfile.TemporaryDirectory(prefix="shop-") as folder:
        stage = Stage(processes, Path(folder), quick_environment(name))
        try:
            with override_settings(SHOP_STATE_DIR=stage.state):
                return _rehearse(stage, say)
        finally:
            stage.close()  # before the database goes


def _rehearse(stage: Stage, say: Say) -> list[Difference]:
    seed()
    stage.start_partners(hang_seconds=5)
    stage.start_site()
    stage.start_workers()
    stage.wait_until_open()
    visitor = Visitor(stage.url)
    unfinished = _crash(stage, visitor, say) or _mix(stage, visitor, say)
    rows = figures.count(stage)
    say("")
    say(figures.table(rows))
    say("")
    if unfinished:
        return [unfinished, *figures.differences(rows)]
    report = visitor.get(f"/reports/{Week.current()}.csv")
    found = figures.differences(rows) + figures.further_differences(stage, report)
    codes = stage.close()
    # The site answers SIGTERM as Python does; a worker has promised to leave in peace.
    ended = {worker: codes[worker] for worker in ("pictures", "worker")}
    if any(ended.values()):
        found.append(Difference("exit codes of the workers", "all 0", ended))
    return found


def _crash(stage: Stage, visitor: Visitor, say: Say) -> Difference | None:
    """Kill the worker while it charges a card, and start another one."""
    say("An order whose worker is killed while the card is charged.")
    mix.order_that_meets_a_crash(visitor)
    ledger = Ledger(stage.payments, "ch")

    def is_charged_and_alone() -> bool:
        live = list(Job.objects.filter(status__in=LIVE).values_list("status", flat=True))
        return live == [Job.Status.RUNNING] and len(ledger.documents()) == 1

    # Only this job may be in its hands, or the figures of others would depend on the moment.
    if not _becomes_true(stage, is_charged_and_alone, CRASH_SECONDS):
        return Difference("a job to kill", "running, charged, alone", _live_jobs())
    worker = stage.workers[-1]
    stage.kill_worker(worker)
    stage.start_general_worker()
    job_id = Invoice.objects.earliest("pk").job_id

    def is_over() -> bool:
        return not Job.objects.filter(pk=job_id, status__in=LIVE).exists()

    if not _becomes_true(stage, is_over, CRASH_SECONDS):
        return Difference("the killed job", f"over in {CRASH_SECONDS:.0f} s", _live_jobs())
    return None


def _mix(stage: Stage, visitor: Visitor, say: Say) -> Difference | None:
    """Ask for everything else, and wait until nothing is left to do."""
    say("Six more orders, three webhook calls, three photos, two reports, one poison message.")
    mix.everything_else(visitor)

    def nothing_is_live() -> bool:
        return not Job.objects.filter(status__in=LIVE).exists()

    if _becomes_true(stage, nothing_is_live, MIX_SECONDS):
        return None
    return Difference("live jobs", f"none after {MIX_SECONDS:.0f} s", _live_jobs())


def _becomes_true(stage: Stage, fact: Callable[[], bool], seconds: float) -> bool:
    """Wait for a fact, at most so long. Raises ChildFailed as soon as a child is dead."""
    deadline = time.monotonic() + seconds
    while not fact():
        for child in stage.processes.dead():
            raise ChildFailed(child.last_words("died"))
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _live_jobs() -> list[str]:
    connection.close_if_unusable_or_obsolete()
    return [f"{job} {job.status}" for job in Job.objects.filter(status__in=LIVE)[:10]]
