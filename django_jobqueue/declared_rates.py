"""The rates that code declares: those of tasks, and those of OPTIONS `queues`."""

from __future__ import annotations

from collections.abc import Mapping

from django_jobqueue.any_task import is_limited_as_a_whole, rate_of, stored_name
from django_jobqueue.compat import AnyTask
from django_jobqueue.conf import Options
from django_jobqueue.store.rates import Rates, TaskRate


def declared_rates(tasks: Mapping[str, AnyTask], options: Options) -> Rates:
    """Collect the rates of tasks, by each name that they answer to, and of queues."""
    return Rates(
        queues={name: rate for name in options.queues or {} if (rate := options.queue(name).rate) is not None},
        tasks={
            name: TaskRate(stored_name(task), rate, by_key=not is_limited_as_a_whole(task))
            for name, task in tasks.items()
            if (rate := rate_of(task)) is not None
        },
    )
