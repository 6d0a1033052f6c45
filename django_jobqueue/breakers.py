"""What a person may do with a circuit breaker: open it, and close it.

The verbs are among those of `operations`, and keep to what is said there.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from difflib import get_close_matches

from django_jobqueue import registry, until_when
from django_jobqueue.any_task import breaker_of
from django_jobqueue.database import queue_database, queue_options
from django_jobqueue.exceptions import Refused
from django_jobqueue.models import CircuitBreaker
from django_jobqueue.policy.breaker import Breaker
from django_jobqueue.signed import User, name_of, text_of
from django_jobqueue.store import breakers, notify


def open_breaker(
    name: str,
    *,
    by: User | str,
    reason: str,
    until: datetime | timedelta | None = None,
    using: str | None = None,
) -> CircuitBreaker:
    """Have no worker claim jobs of a breaker's tasks, until a person closes it; or until probes may start.

    until may be a duration, which begins now. Once this has returned, and a transaction of the caller's is committed,
    no such claim is committed any more; until then no worker claims anything, so be brief. What runs, runs on. To open
    an open one gives it the new reason and moment.
    """
    if not text_of(reason):
        raise Refused("reason_required", "say why it is opened: somebody will ask at night")
    database = using or queue_database()
    _require_known(name, database)
    row = breakers.open_breaker(
        name, until=until_when.checked(until), by=name_of(by), reason=text_of(reason), using=database
    )
    _look_again(database, name)
    return row


def close_breaker(name: str, *, by: User | str, reason: str, using: str | None = None) -> CircuitBreaker:
    """Have jobs of a breaker's tasks claimed again, a few at first: for whoever knows that the dependency is back."""
    if not text_of(reason):
        raise Refused("reason_required", "say why it is closed: somebody will ask at night")
    database = using or queue_database()
    _require_known(name, database)
    row = breakers.close_breaker(name, by=name_of(by), reason=text_of(reason), using=database)
    _look_again(database, name)
    return row


def declared() -> dict[str, tuple[Breaker, list[str]]]:
    """Return the breakers of the code by name, with the tasks of each. Raises ImportError."""
    found: dict[str, tuple[Breaker, list[str]]] = {}
    for task in registry.known_tasks():
        if breaker := breaker_of(task):
            found.setdefault(breaker.name, (breaker, []))[1].append(task.module_path)
    return found


def _require_known(name: str, database: str) -> None:
    known = set(breakers.known(database).values_list("name", flat=True))
    if name in known:
        return
    # A module that is broken is not this person's trouble: what a worker has made known was found above.
    with suppress(ImportError):
        known |= {*declared()}
    if name not in known:
        near = get_close_matches(str(name), sorted(known), n=1)
        meant = f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(sorted(known)) or 'none'}"
        raise Refused("unknown_breaker", f"no task has a breaker {str(name)[:100]!r}{meant}")


def _look_again(database: str, name: str) -> None:
    """Wake workers: there is more to claim, or a claim of something else was held back meanwhile."""
    if queue_options("default").notify:
        notify.announce(database, [name])
