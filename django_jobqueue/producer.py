"""Insert what a caller asks for, and tell of it: at once, or at the commit of a transaction on another database.

Where OPTIONS `database` and `transaction_database` are one, a job is an INSERT in the caller's transaction. Where they
are two, and a transaction is open on the second, its commit decides: the id is taken at the call, the INSERT follows.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Prefetch

from django_jobqueue import deferred, registry, results
from django_jobqueue.compat import AnyTask, task_enqueued
from django_jobqueue.conf import Options
from django_jobqueue.models import Attempt, Job
from django_jobqueue.store import bounded, depth, enqueue, notify, reserved
from django_jobqueue.store.enqueue import OPEN, Enqueued, Key, NewJob, key_of

logger = logging.getLogger("django_jobqueue")


class Call(NamedTuple):
    """A call that can be stored, and the arguments that its task will get: never the caller's own lists."""

    task: AnyTask
    job: NewJob
    args: list[Any]
    kwargs: dict[str, Any]


class Producer:
    """Asks for the jobs of one alias in TASKS. `sender` is the class of its backend, for the signals."""

    def __init__(self, sender: type, alias: str, options: Options) -> None:
        self._sender, self._alias, self._options = sender, alias, options

    def ask(self, calls: Sequence[Call]) -> list[results.TaskResult]:
        """Insert a job for each call, or have it inserted at the commit; what a live job stands for is that job."""
        options = self._options
        if options.transaction_database != options.database and deferred.is_open(options.transaction_database):
            return self._ask_for_later(calls)
        jobs = [call.job for call in calls]
        insert = bounded.enqueue_bounded if any(job.bounds for job in jobs) else enqueue.enqueue
        rows = insert(jobs, using=options.database)
        self._announce([(call.job, row) for call, row in zip(calls, rows, strict=True) if row.created])
        held = [row.id for row in rows if not row.created]
        holders = self.read(held, created=False) if held else {}
        # One that has ended since may have been deleted: then its key is free.
        gone = [call for call, row in zip(calls, rows, strict=True) if not row.created and row.id not in holders]
        again = iter(self.ask(gone) if gone else [])
        return [
            self._made(call, row) if row.created else holders.get(row.id) or next(again)
            for call, row in zip(calls, rows, strict=True)
        ]

    def read(self, numbers: Sequence[int], *, created: bool = True) -> dict[int, results.TaskResult]:
        """Read jobs of this alias by their ids, with their attempts."""
        using = self._options.database
        attempts = Prefetch("attempts", Attempt.objects.using(using).order_by("number"))
        jobs = Job.objects.using(using).filter(pk__in=numbers, backend=self._alias).prefetch_related(attempts)
        return {
            job.pk: results.from_job(job, job.attempts.all(), registry.find(job.task), created=created) for job in jobs
        }

    def is_awaited(self, number: int) -> bool:
        """Whether a job is one that the transaction which is open here has asked for, and that is not inserted yet."""
        return deferred.is_awaited(self._options.transaction_database, number)

    def insert(self, wishes: Sequence[deferred.Wish]) -> dict[int, Enqueued]:
        """Insert what has waited; the answer, by ids, lacks those whose key a live job holds by then."""
        return reserved.enqueue_reserved({wish.id: wish.job for wish in wishes}, using=self._options.database)

    def tell(self, wishes: Sequence[deferred.Wish], rows: Mapping[int, Enqueued]) -> None:
        """Tell workers, receivers, and the answers that were given, what came of wishes."""
        there = [wish for wish in wishes if wish.id in rows]
        for wish in there:
            for result in (wish.result, *wish.twins):
                _write(result, enqueued_at=rows[wish.id].enqueued_at)
        self._announce([(wish.job, rows[wish.id]) for wish in there])
        self._tell_of_holders([wish for wish in wishes if wish.id not in rows])
        for wish in there:
            self._tell(wish.result)

    def _ask_for_later(self, calls: Sequence[Call]) -> list[results.TaskResult]:
        options = self._options
        # A look that takes nothing: what is asked for now is inserted at the commit, whatever the depth is by then.
        wanted = Counter(bound for call in calls for bound in call.job.bounds if call.job.unique_key is None)
        depth.require_room(wanted, using=options.database)
        wished, held = self._seen([call.job for call in calls if call.job.unique_key is not None])
        keys = {key_of(call.job) for call in calls if call.job.unique_key is not None} - wished.keys() - held.keys()
        missing = len(keys) + sum(call.job.unique_key is None for call in calls)
        ids = iter(reserved.reserve(missing, using=options.database))
        answers, wishes = [], []
        for call in calls:
            key = key_of(call.job)
            if key in held:
                answers.append(held[key])
            elif key in wished:
                wished[key].twins.append(twin := replace(wished[key].result, created=False))
                answers.append(twin)
            else:
                number = next(ids)
                wish = deferred.Wish(number, call.job, self._result(call, number, None))
                if call.job.unique_key is not None:
                    wished[key] = wish
                answers.append(wish.result)
                wishes.append(wish)
        if wishes:
            deferred.wait(wishes, self, rows=options.transaction_database, using=options.database)
        return answers

    def _seen(self, jobs: Sequence[NewJob]) -> tuple[dict[Key, deferred.Wish], dict[Key, results.TaskResult]]:
        """Find what this transaction has asked for under the keys of jobs, and what holds the others now."""
        rows = self._options.transaction_database
        wished = {key_of(job): wish for job in jobs if (wish := deferred.asked(rows, key_of(job)))}
        return wished, self._held([job for job in jobs if key_of(job) not in wished])

    def _held(self, jobs: Sequence[NewJob]) -> dict[Key, results.TaskResult]:
        """Read the live jobs that hold the keys of jobs now."""
        rows = reserved.holders(jobs, using=self._options.database)
        found = self.read([row.id for row in rows.values()], created=False) if rows else {}
        return {key: found[row.id] for key, row in rows.items() if row.id in found}

    def _tell_of_holders(self, wishes: Sequence[deferred.Wish]) -> None:
        for wish in wishes:
            _write(wish.result, created=False)
            logger.info(
                "job %s of %s is not inserted at the commit: a live job holds its unique key by then",
                wish.id,
                wish.job.task,
            )
        held = self._held([wish.job for wish in wishes])
        for wish in wishes:
            if holder := held.get(key_of(wish.job)):
                # As `refresh` of that job would. One that has ended by now stands for nobody.
                for result in (wish.result, *wish.twins):
                    _write(result, **{each.name: getattr(holder, each.name) for each in fields(holder)})

    def _announce(self, jobs: Sequence[tuple[NewJob, Enqueued]]) -> None:
        if self._options.notify:
            notify.announce(
                self._options.database,
                {job.queue_name for job, row in jobs if row.status == "READY" or job.gates is not OPEN},
            )

    def _made(self, call: Call, row: Enqueued) -> results.TaskResult:
        result = self._result(call, row.id, row.enqueued_at)
        self._tell(result)
        return result

    def _result(self, call: Call, number: int, enqueued_at: datetime | None) -> results.TaskResult:
        return results.enqueued(
            id=str(number),
            task=call.task,
            backend=self._alias,
            args=call.args,
            kwargs=call.kwargs,
            enqueued_at=enqueued_at,
        )

    def _tell(self, result: results.TaskResult) -> None:
        # The job exists: a receiver that fails must not tell the caller otherwise.
        task_enqueued.send_robust(self._sender, task_result=result)


def _write(result: results.TaskResult, **values: Any) -> None:
    """Change what a caller was given, as `refresh` does."""
    for name, value in values.items():
        object.__setattr__(result, name, value)
