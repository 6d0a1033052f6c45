"""What was enqueued: a task by itself or a variant of it, and its arguments however they were passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django_jobqueue.any_task import names_of, require_fit
from django_jobqueue.compat import AnyTask
from django_jobqueue.database import queue_database, queue_options
from django_jobqueue.models import Job
from django_jobqueue.payload import storable_json
from django_jobqueue.payload.signature import named_signature
from django_jobqueue.payload.typed import forms_of
from django_jobqueue.testing.asked import SHOWN, require_task
from django_jobqueue.testing.commits import come_to_the_commit, words_for_waiting
from django_jobqueue.testing.waits import words_for_delay


def assert_enqueued(task: AnyTask, /, *args: Any, **kwargs: Any) -> Job:
    """Return the newest job of this task with these arguments; without any, of any arguments.

    Raises AssertionError, which lists the jobs of the task that are there, and InvalidPayload where the task could not
    be enqueued so.
    """
    require_task("assert_enqueued", task)
    matching = _matching(task, args, kwargs)
    if not matching:
        raise AssertionError(f"no job of {_call(task, args, kwargs)} was enqueued; {_there(task)}")
    return matching[0]


def assert_not_enqueued(task: AnyTask, /, *args: Any, **kwargs: Any) -> None:
    """Raise AssertionError if there is a job of this task with these arguments; without any, of any arguments.

    Raises InvalidPayload where the task could not be enqueued so: of a mistyped name there never is a job.
    """
    require_task("assert_not_enqueued", task)
    if matching := _matching(task, args, kwargs):
        jobs = "1 job" if len(matching) == 1 else f"{len(matching)} jobs"
        were = "was" if len(matching) == 1 else "were"
        raise AssertionError(f"{jobs} of {_call(task, args, kwargs)} {were} enqueued: {_listed(matching)}")


def _matching(task: AnyTask, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Job]:
    jobs = _jobs(task)
    if not args and not kwargs:
        return jobs
    require_fit(task, args, kwargs)
    written = forms_of(task.func, takes_context=task.takes_context).write(args, kwargs)
    texts = storable_json.arguments(*written, max_bytes=queue_options(task.backend).max_payload_bytes)
    wanted = _by_name(task, *map(storable_json.loads, texts))
    return [job for job in jobs if _by_name(task, job.args, job.kwargs) == wanted]


def _by_name(task: AnyTask, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Name the arguments of a call by parameters, so that it does not matter how they were passed."""
    try:
        context = [None] if task.takes_context else []
        names = named_signature(task.func, takes_context=task.takes_context)
        bound = names.bind_partial(*context, *args, **kwargs)
    except TypeError:  # older than the function
        return args, kwargs
    return {**bound.arguments}


def _jobs(task: AnyTask) -> list[Job]:
    come_to_the_commit(task.backend)
    jobs = Job.objects.using(queue_database(task.backend)).filter(backend=task.backend, task__in=names_of(task))
    return list(jobs.order_by("-pk"))


def _there(task: AnyTask) -> str:
    jobs = _jobs(task)
    if not jobs:
        return f"there is none of this task{words_for_waiting(task)}"
    there = "there is 1" if len(jobs) == 1 else f"there are {len(jobs)}"
    return f"{there}: {_listed(jobs)}{words_for_waiting(task)}"


def _listed(jobs: Sequence[Job]) -> str:
    shown = jobs[:SHOWN]
    return ", ".join(f"job {job.pk}{_words(job.args, job.kwargs)} {job.status}{words_for_delay(job)}" for job in shown)


def _call(task: AnyTask, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    # Without arguments any job is meant, and not one that has none.
    return f"{task.module_path}{_words(args, kwargs) if args or kwargs else ''}"


def _words(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    return f"({', '.join([*map(repr, args), *[f'{name}={value!r}' for name, value in kwargs.items()]])})"
