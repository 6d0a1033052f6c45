"""The names that other projects write: they stay where they are."""

import inspect
from importlib import import_module

import pytest

NAMES = {
    "django_jobqueue": ["Breaker", "task", "once", "Retry", "Secret", "Snooze", "Reject", "JobCancelled"],
    "django_jobqueue.backend": ["JobQueueBackend"],
    "django_jobqueue.backoff": ["constant", "linear", "exponential"],
    "django_jobqueue.conf": ["Options"],
    "django_jobqueue.exceptions": [
        "InvalidOptions",
        "InvalidPayload",
        "JobCancelled",
        "JobQueueError",
        "Refused",
        "Reject",
        "Retry",
        "Snooze",
        "UnsupportedDatabase",
    ],
    "django_jobqueue.models": ["Attempt", "AuditEntry", "DeadLetter", "Job", "Worker"],
    "django_jobqueue.operations": ["cancel", "cancel_many", "discard", "discard_many", "replay", "replay_many"],
}

SIGNATURES = {
    "replay": ["letter", "by", "reason", "args", "kwargs"],
    "discard": ["letter", "by", "reason"],
    "cancel": ["job", "by", "reason", "force"],
}


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, names in NAMES.items() for name in names])
def test_a_public_name_is_where_it_was_promised(module, name):
    """A name that a project imports today can be imported tomorrow."""
    assert hasattr(import_module(module), name)


@pytest.mark.parametrize(("name", "promised"), SIGNATURES.items(), ids=SIGNATURES)
def test_an_operation_takes_what_was_promised(name, promised):
    """replay, discard and cancel take their row first, and by and reason as keywords."""
    parameters = inspect.signature(getattr(import_module("django_jobqueue.operations"), name)).parameters
    keywords = [key for key, parameter in parameters.items() if parameter.kind is inspect.Parameter.KEYWORD_ONLY]

    assert [next(iter(parameters)), *keywords][: len(promised)] == promised


def test_the_backend_takes_many_at_once():
    """enqueue_many and its awaitable twin take an iterable of (task, args, kwargs)."""
    backend = import_module("django_jobqueue.backend").JobQueueBackend

    assert list(inspect.signature(backend.enqueue_many).parameters) == ["self", "calls"]
    assert inspect.iscoroutinefunction(backend.aenqueue_many)


@pytest.mark.parametrize("name", ["job_id", "idempotency_key"])
def test_the_context_knows_its_job(name):
    """A task with takes_context finds these on its context, besides what Django puts there."""
    from django_jobqueue.results import TaskContext

    assert isinstance(getattr(TaskContext, name), property)


def test_the_result_says_whether_this_call_made_the_job():
    """What enqueue returns has `created`."""
    from django_jobqueue.results import TaskResult

    assert "created" in {field.name for field in TaskResult.__dataclass_fields__.values()}


@pytest.mark.parametrize("name", ["runworker", "jobqueue_worker", "jobqueue"])
def test_a_command_has_its_name(name):
    """Service files call these commands."""
    from django.core.management import get_commands

    assert get_commands()[name] == "django_jobqueue"


@pytest.mark.parametrize("name", ["replay_deadletter", "discard_deadletter", "cancel_job"])
def test_a_permission_has_its_name(name):
    """Groups of people are given these permissions."""
    from django_jobqueue.models import DeadLetter, Job

    assert name in dict([*DeadLetter._meta.permissions, *Job._meta.permissions])
