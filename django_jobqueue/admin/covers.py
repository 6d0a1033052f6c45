"""What may be said of a row: in a list, to a person, in the log. The secrets of its job are hidden in it.

What failed before a task has named an argument `sensitive` was stored with its value, and what the database or the
project's code raises about a row may quote it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection
from contextlib import suppress
from functools import partial
from typing import Any

from django.db.models import Model, TextField
from django.db.models.functions import Cast

from django_jobqueue.models import DeadLetter, Job
from django_jobqueue.payload.masking import MASK
from django_jobqueue.payload.storable_text import describe
from django_jobqueue.shown import text, veil_named


def secrets_of(job: Any) -> set[str]:
    """Collect what no text about a job must quote, from a row that has args and kwargs as text.

    A half that a list has left out, or that is too large or too deep to be read, has nothing.
    """
    return _secrets_in(job.task, job.args_text, job.kwargs_text)


def _secrets_in(task: str, args_text: str | None, kwargs_text: str | None) -> set[str]:
    return veil_named(task).secrets_in(_read(args_text, []), _read(kwargs_text, {}))


def _read(words: str | None, unread: Any) -> Any:
    try:
        return unread if words is None else json.loads(words)
    except (ValueError, RecursionError):
        return unread


def words_in_list(job: Any, words: str) -> str:
    """Cover an error of a row that a list has read by `rows.brief`."""
    if not words or not veil_named(job.task).knows_more:
        return text(words)
    if job.args_text is None or job.kwargs_text is None:
        # Too large for a list: what the words quote of it is not known here.
        return MASK
    return text(words, secrets_of(job))


def secrets_of_row(model: type[Model], pk: Any, *, using: str | None) -> set[str]:
    """Collect what no text about a job or a letter must quote, as far as it can be read now. Never raises."""
    where = {DeadLetter: "dead_letter", Job: "pk"}.get(model)
    if where is None:
        return set()
    with suppress(Exception):  # the connection may be broken, the row damaged
        jobs = Job.objects.using(using).filter(**{where: pk})
        texts = [Cast(name, TextField()) for name in ("args", "kwargs")]
        for task, args_text, kwargs_text in jobs.values_list("task", *texts):
            return _secrets_in(task, args_text, kwargs_text)
    return set()


def log_failure(logger: logging.Logger, what: str, error: Exception, secrets: Collection[str] = ()) -> None:
    """Log what was raised about a row, with its traceback. As text: logging's own rendering would show the values."""
    failure = describe(error, cover=partial(text, values=secrets))
    logger.error("%s: %s: %s\n%s", what, failure.exception_class, failure.message, failure.traceback)
