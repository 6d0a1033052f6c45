"""The arguments of an attempt: read, brought up to date and fitted to the task; its secrets at last, before the call.

Until then references stand where secrets will. What is told to others of the attempt (receivers, a back-off, the
context) keeps the references for good: only the task is given the values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from asgiref.sync import sync_to_async

from django_jobqueue import any_task, results, secret_sources
from django_jobqueue.compat import AnyTask
from django_jobqueue.exceptions import InvalidPayload, SecretUnavailable
from django_jobqueue.payload.secret_reference import Secret, filled, may_hold, references_in
from django_jobqueue.payload.storable_text import class_path, storable
from django_jobqueue.policy.outcomes import Failed, Failure, Verdict
from django_jobqueue.worker.discretion import cover_for

if TYPE_CHECKING:
    from django_jobqueue.worker.executor import Bounds, Order

_DECODER = json.JSONDecoder()

Arguments = tuple[list[Any], dict[str, Any]]


class Ready(NamedTuple):
    """An attempt whose arguments fit."""

    task: AnyTask
    result: results.TaskResult
    """What is told of it."""
    sources: secret_sources.Sources
    fresh: Arguments
    """Before they became what the hints name."""
    references: frozenset[Secret]

    def look_up(self) -> dict[Secret, str]:
        """Find what its references stand for. Raises SecretUnavailable."""
        return secret_sources.look_up(self.references, self.sources) if self.references else {}

    async def look_up_async(self) -> dict[Secret, str]:
        """See `look_up`. A source of the project's is called where sync_to_async calls things."""
        if secret_sources.are_at_hand(self.references):
            return self.look_up()
        return await sync_to_async(self.look_up)()

    def arguments(self, values: Mapping[Secret, str]) -> Arguments:
        """Return what the task is called with, with values in the place of its references. Raises SecretUnavailable.

        It calls the task's code, where there are types of the project's.
        """
        if not values:
            return self.result.args, self.result.kwargs
        args, kwargs = (filled(half, values) for half in self.fresh)
        try:
            return any_task.typed_arguments(self.task, args, kwargs)
        except InvalidPayload as error:
            raise SecretUnavailable(f"with what its secrets stand for the arguments do not fit: {error}") from None


def read(order: Order, task: AnyTask, bounds: Bounds) -> Ready | Failed:
    """Read the arguments of an order; a failure where they do not fit."""
    try:
        args, kwargs = _DECODER.decode(order.args), _DECODER.decode(order.kwargs)
    except (ValueError, RecursionError) as error:
        return _unreadable(f"the stored arguments cannot be read: {error}", order, task)
    if not isinstance(args, list) or not isinstance(kwargs, dict):
        kinds = f"{type(args).__name__} and {type(kwargs).__name__}"
        return _unreadable(f"the stored args and kwargs are of type {kinds}, not list and dict", order, task)
    fresh: Arguments = (args, kwargs)
    references: frozenset[Secret] = frozenset()
    try:
        # An upgrade may have made one.
        if may_hold(order.args, order.kwargs) or order.version != any_task.version_of(task):
            fresh = any_task.fresh_arguments(task, args, kwargs, version=order.version)
            references = references_in([*fresh[0], fresh[1]])
        args, kwargs = any_task.typed_arguments(task, *fresh)
    except InvalidPayload as error:
        return _unreadable(f"the stored arguments do not fit: {error}", order, task)
    result = results.for_attempt(
        id=str(order.job_id),
        task=task,
        backend=bounds.backend,
        args=args,
        kwargs=kwargs,
        attempt_number=order.attempt_number,
        worker_id=order.worker_ids[-1],
        earlier_worker_ids=order.worker_ids[:-1],
        enqueued_at=order.enqueued_at,
        started_at=order.started_at,
        last_attempted_at=order.last_attempted_at,
    )
    return Ready(task, result, bounds.secret_sources, fresh, references)


def _unreadable(message: str, order: Order, task: AnyTask) -> Failed:
    words = storable(cover_for(order, task)(message), 500)
    return Failed(Failure(class_path(InvalidPayload), words), Verdict.INVALID_PAYLOAD)
