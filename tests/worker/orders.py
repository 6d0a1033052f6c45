"""Give a task an order, as a runner does."""

import asyncio
import contextvars
import json

from django_jobqueue.worker import executor
from django_jobqueue.worker.executor import Bounds, Order
from tests import vault

TOKEN = "6a5f1c1e-7a1f-4c55-9f5e-0d9c3f9f3f11"
BOUNDS = Bounds(max_result_bytes=1024, backend="default", secret_sources=vault.SOURCES)


def order(task, *args, **changes):
    """Make the order of a first attempt of a task with these arguments."""
    moment = "2026-11-29 16:10:00.25+00"
    facts = {"ticket": 1, "job_id": 42, "attempt_number": 1, "task": task.module_path if task else "gone.task"}
    facts["is_limited"] = False
    times = dict.fromkeys(("enqueued_at", "started_at", "last_attempted_at"), moment)
    given = {
        "args": list(args),
        "kwargs": {},
        "worker_ids": ["w1"],
        "token": TOKEN,
        "version": 1,
        "edit_count": 0,
        **changes,
    }
    # As PostgreSQL would have written them; a test of a damaged row says its text itself.
    texts = {
        name: given[name] if isinstance(given[name], Text) else json.dumps(given[name]) for name in ("args", "kwargs")
    }
    return Order(**{**facts, **times, **given, **texts})


class Text(str):
    """Stored arguments, as they are in the row."""


def wanted():
    """Say that nobody wants the job cancelled."""
    return False


def silent(_word):
    """Tell nobody."""


def run(task, *args, is_unwanted=wanted, tell=silent, rested=True, **changes):
    """Run a function, and answer with its outcome."""
    return executor.run(order(task, *args, **changes), task, BOUNDS, is_unwanted=is_unwanted, tell=tell, rested=rested)


def run_async(task, *args, is_unwanted=wanted, tell=silent, **changes):
    """Run a coroutine in a loop of its own, and answer with its outcome."""

    async def attempt():
        work = executor.run_async(order(task, *args, **changes), task, BOUNDS, is_unwanted=is_unwanted, tell=tell)
        return await asyncio.get_running_loop().create_task(work, context=contextvars.Context())

    return asyncio.run(attempt())
