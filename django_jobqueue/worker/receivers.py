"""Tell receivers of `task_finished` what has ended.

In a runner, never in the keeper: a receiver is the project's code, and may block or crash like any other.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any
from weakref import ReferenceType

from django.db import Error

from django_jobqueue.compat import TaskResultDoesNotExist, log_task_finished, task_backends, task_finished
from django_jobqueue.worker import slate
from django_jobqueue.worker.verdict import log_error

logger = logging.getLogger("django_jobqueue.worker")


def anyone_listens() -> bool:
    """Whether a receiver other than Django's own log line waits for `task_finished`."""
    entries = [entry[1] for entry in task_finished.receivers]
    receivers = [entry() if isinstance(entry, ReferenceType) else entry for entry in entries]
    return any(receiver not in (None, log_task_finished) for receiver in receivers)


def tell(job_ids: Sequence[int], *, backend: str) -> Iterator[None]:
    """Send `task_finished` for each of these jobs, as it stands in the database now. Yields after each."""
    sender = task_backends[backend]
    with slate.clean_connections("a receiver of task_finished"):
        for job_id in job_ids:
            try:
                _tell_of(job_id, sender)
            except BaseException as error:  # send_robust logs errors; SystemExit and its like pass it
                log_error(f"receivers of task_finished, told of job {job_id},", error)
            slate.after("a receiver of task_finished", more_follow=True)
            yield


def _tell_of(job_id: int, sender: Any) -> None:
    try:
        result = sender.get_result(str(job_id))
    except TaskResultDoesNotExist:
        return
    except Error as error:
        logger.warning("receivers of task_finished are not told of job %s: %s", job_id, error)
        return
    task_finished.send_robust(sender=type(sender), task_result=result)
