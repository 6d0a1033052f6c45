"""Django Tasks from one place: `django.tasks`, or on Django 5.2 the backport `django_tasks`.

The two have the same shapes and are different classes; whichever the project's `@task` comes from
is the one that counts. Everything else in this app imports these names from here.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.tasks import task_backends
    from django.tasks.backends.base import BaseTaskBackend
    from django.tasks.base import (
        DEFAULT_TASK_BACKEND_ALIAS,
        DEFAULT_TASK_PRIORITY,
        DEFAULT_TASK_QUEUE_NAME,
        Task,
        TaskContext,
        TaskError,
        TaskResult,
        TaskResultStatus,
    )
    from django.tasks.exceptions import (
        InvalidTask,
        InvalidTaskBackend,
        TaskResultDoesNotExist,
        TaskResultMismatch,
    )
    from django.tasks.signals import log_task_finished, task_enqueued, task_finished, task_started

    # The stubs call them generic, the classes of Django 6 are not: these spell "of any function"
    # for both.
    AnyTask = Task[..., Any]
    AnyTaskResult = TaskResult[..., Any]
    AnyTaskContext = TaskContext[..., Any]
    PACKAGE = "django.tasks"
elif find_spec("django.tasks"):
    from django.tasks import task_backends
    from django.tasks.backends.base import BaseTaskBackend
    from django.tasks.base import (
        DEFAULT_TASK_BACKEND_ALIAS,
        DEFAULT_TASK_PRIORITY,
        DEFAULT_TASK_QUEUE_NAME,
        Task,
        TaskContext,
        TaskError,
        TaskResult,
        TaskResultStatus,
    )
    from django.tasks.exceptions import (
        InvalidTask,
        InvalidTaskBackend,
        TaskResultDoesNotExist,
        TaskResultMismatch,
    )
    from django.tasks.signals import log_task_finished, task_enqueued, task_finished, task_started

    AnyTask, AnyTaskResult, AnyTaskContext = Task, TaskResult, TaskContext
    PACKAGE = "django.tasks"
elif find_spec("django_tasks"):
    from django_tasks import exceptions, task_backends
    from django_tasks.backends.base import BaseTaskBackend
    from django_tasks.base import (
        DEFAULT_TASK_BACKEND_ALIAS,
        DEFAULT_TASK_PRIORITY,
        DEFAULT_TASK_QUEUE_NAME,
        Task,
        TaskContext,
        TaskError,
        TaskResult,
        TaskResultStatus,
    )
    from django_tasks.exceptions import TaskResultDoesNotExist, TaskResultMismatch
    from django_tasks.signals import log_task_finished, task_enqueued, task_finished, task_started

    # Up to 0.12 the backport says …Error; its later versions use Django's names.
    InvalidTask = getattr(exceptions, "InvalidTask", None) or exceptions.InvalidTaskError
    InvalidTaskBackend = getattr(exceptions, "InvalidTaskBackend", None) or exceptions.InvalidTaskBackendError

    AnyTask, AnyTaskResult, AnyTaskContext = Task, TaskResult, TaskContext
    PACKAGE = "django_tasks"
else:
    raise ImportError(
        "django_jobqueue needs Django Tasks: Django 6.0 and later bring them, "
        "Django 5.2 needs the backport; "
        "type `pip install django-jobqueue[django52]`"
    )

__all__ = [
    "DEFAULT_TASK_BACKEND_ALIAS",
    "DEFAULT_TASK_PRIORITY",
    "DEFAULT_TASK_QUEUE_NAME",
    "PACKAGE",
    "AnyTask",
    "AnyTaskContext",
    "AnyTaskResult",
    "BaseTaskBackend",
    "InvalidTask",
    "InvalidTaskBackend",
    "Task",
    "TaskContext",
    "TaskError",
    "TaskResult",
    "TaskResultDoesNotExist",
    "TaskResultMismatch",
    "TaskResultStatus",
    "log_task_finished",
    "task_backends",
    "task_enqueued",
    "task_finished",
    "task_started",
]
