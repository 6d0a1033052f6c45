"""Receivers of the signals: some leave a trace, some raise."""

import os

from django.dispatch import receiver

from django_jobqueue.compat import task_finished, task_started


@receiver(task_started)
def raise_at_the_start(**kwargs):
    """Raise, before the others are called."""
    raise RuntimeError("a receiver that fails")


@receiver(task_started)
def leave_at_the_start(task_result, **kwargs):
    """Raise what ends a process, for the one task that asks for it."""
    if task_result.task.name == "be_watched_by_one_who_leaves":
        raise SystemExit


@receiver(task_started)
def trace_the_start(task_result, **kwargs):
    """Leave a trace of an attempt."""
    _trace(f"started {task_result.status} {task_result.attempts}", task_result)


@receiver(task_finished)
def raise_at_the_end(**kwargs):
    """Raise, before the others are called."""
    raise RuntimeError("a receiver that fails")


@receiver(task_finished)
def leave_at_the_end(task_result, **kwargs):
    """Raise what ends a process, for the one task that asks for it."""
    leave_at_the_start(task_result)


@receiver(task_finished)
def trace_the_end(task_result, **kwargs):
    """Leave a trace of a job's end."""
    _trace(f"finished {task_result.status}", task_result)


def _trace(what, task_result):
    from tests.stage.models import Trace

    Trace.objects.create(what=what, job_id=int(task_result.id), pid=os.getpid())
