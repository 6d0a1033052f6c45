"""How many ran at once, and in which order: swept over the attempts, and sampled while they run.

An attempt is open from the claim to the moment that its end was written, by PostgreSQL's clock: one whose worker died
counts until somebody has closed it, as its slot does. Nothing here asks the product what it counts.
"""

import threading
from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise

import psycopg

SAMPLE = """
    SELECT 'key ' || concurrency_key, max(key_limit), count(*) FROM django_jobqueue_job
    WHERE key_limit IS NOT NULL AND status IN ('READY', 'RUNNING') GROUP BY 1
    UNION ALL
    SELECT 'task ' || task, max(task_limit), count(*) FROM django_jobqueue_job
    WHERE task_limit IS NOT NULL AND status IN ('READY', 'RUNNING') GROUP BY 1
    UNION ALL
    SELECT 'queue ' || queue_name, max(queue_limit), count(*) FROM django_jobqueue_job
    WHERE queue_limit IS NOT NULL AND status IN ('READY', 'RUNNING') GROUP BY 1
    UNION ALL
    SELECT 'order ' || order_key, 1, count(*) FROM django_jobqueue_job
    WHERE order_key IS NOT NULL AND (status IN ('READY', 'RUNNING') OR status = 'WAITING' AND waiting_for <> 'order')
    GROUP BY 1
"""
SAMPLE_SECONDS = 0.05


@dataclass
class Overlap:
    """Of one limit: how many attempts there were, and the most that were open at once."""

    limit: int
    attempts: int
    most: int


def overlaps(evidence):
    """Sweep over all attempts; answer with what there is to say of each limit, by its name."""
    limits, moments = {}, defaultdict(list)
    for job_id, job in evidence.jobs.items():
        for name, limit in _limits(job):
            limits[name] = limit
            for attempt in evidence.attempts.get(job_id, []):
                moments[name] += [(attempt["started_at"], 1), (attempt["finished_at"], -1)]
    return {name: Overlap(limit, len(moments[name]) // 2, _most(moments[name])) for name, limit in limits.items()}


def out_of_order(evidence):
    """Name the jobs that began before one with a smaller id of their line was over. One producer commits by the ids."""
    lines = defaultdict(list)
    for job_id, job in sorted(evidence.jobs.items()):
        attempts = evidence.attempts.get(job_id)
        if job["order_key"] is not None and attempts:
            span = min(a["started_at"] for a in attempts), max(a["finished_at"] for a in attempts)
            lines[job["order_key"]].append((job_id, *span))
    for line in lines.values():
        for (one, _, end), (other, start, _) in pairwise(line):
            if start < end:
                yield f"job {other} began at {start}, when job {one} before it was not over until {end}"


class Sampler:
    """Counts what has a slot or a turn, again and again, until it is stopped."""

    def __init__(self, connect):
        self._connect = connect
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.samples = 0
        self.most = Counter()
        self.breaches = []

    def __enter__(self):
        """Start."""
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        self._thread.join()

    def _run(self):
        with closing(self._connect()) as connection:
            while not self._is_over.wait(SAMPLE_SECONDS):
                try:
                    rows = connection.execute(SAMPLE).fetchall()
                except psycopg.Error as error:
                    self.breaches.append(f"a sample failed: {error}")
                    return
                self.samples += 1
                for name, limit, count in rows:
                    self.most[name] = max(self.most[name], count)
                    if count > limit:
                        self.breaches.append(f"{name}: {count} of {limit}")


def _limits(job):
    if job["key_limit"] is not None:
        yield f"key {job['concurrency_key']}", job["key_limit"]
    if job["task_limit"] is not None:
        yield f"task {job['task']}", job["task_limit"]
    if job["queue_limit"] is not None:
        yield f"queue {job['queue_name']}", job["queue_limit"]
    if job["order_key"] is not None:
        yield f"order {job['order_key']}", 1


def _most(moments):
    most = now = 0
    # What ends at a moment is over when another begins at it.
    for _, step in sorted(moments):
        now += step
        most = max(most, now)
    return most
