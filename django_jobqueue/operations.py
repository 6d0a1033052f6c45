"""What a person may do with jobs and dead letters. The admin, the command line and code all use these verbs.

They take an object or its id, do one thing in one transaction together with its AuditEntry, and answer with the row as
it is then. Who does not fit is `Refused`, with a stable `.code`, and nothing is changed; a caller's transaction goes on
unharmed.

    replay   a dead letter: its job starts again
             not_found, already_replayed, already_resolved, not_dead, unique_key_taken
    discard  a dead letter: it needs no more
             not_found, already_discarded, already_replayed, already_resolved, reason_required
    cancel   a job: at once if it has not started, else it is asked to stop
             not_found, already_requested, already_cancelled, finished
    pause    a queue or a task, by name or by the beginning of it: nothing of it is claimed
             reason_required, target_required, until_has_passed
    resume   what was paused
             target_required, not_paused
    set_limit  how many jobs of a queue, a task or a concurrency key run at once, or start in a time
             target_required, limit_required, limit_out_of_range, not_set
    open_breaker, close_breaker  a circuit breaker, by its name: see `breakers`
             reason_required, unknown_breaker, until_has_passed, not_open
    prune    records of `once` whose time is over

`by` is a user or text, and may not be empty; a program signs with its name. `reason` is kept with the entry. In a job
InvalidPayload is raised where one of them has the value of a secret in it that the job was given.

The queue is in the database that `database.queue_database` names for the job's task backend, or for the default one
where only an id is given, and for `prune`: with task backends that have a database each, name it with `using`. An id
names another row in another database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import EllipsisType
from typing import Any

from django.db import models

from django_jobqueue import breakers, guard, registry, until_when
from django_jobqueue.any_task import require_arguments
from django_jobqueue.database import queue_database, queue_options
from django_jobqueue.exceptions import Refused
from django_jobqueue.models import DeadLetter, Job, Limit, Pause
from django_jobqueue.payload import storable_json
from django_jobqueue.payload.shape import require_shape
from django_jobqueue.policy import rate as rates
from django_jobqueue.queue_policy import MAX_AT_ONCE
from django_jobqueue.signed import User
from django_jobqueue.signed import name_of as _name_of
from django_jobqueue.signed import text_of as _text
from django_jobqueue.store import notify
from django_jobqueue.store import pause as _pause
from django_jobqueue.store.cancel import cancel as _cancel
from django_jobqueue.store.discard import discard as _discard
from django_jobqueue.store.effects import prune as _prune_effects
from django_jobqueue.store.limits import set_limit as _set_limit
from django_jobqueue.store.limits import set_rate as _set_rate
from django_jobqueue.store.replay import NO_EDIT, Edit
from django_jobqueue.store.replay import replay as _replay

open_breaker, close_breaker = breakers.open_breaker, breakers.close_breaker


def replay(
    letter: DeadLetter | int | str,
    *,
    by: User | str,
    reason: str,
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    using: str | None = None,
) -> Job:
    """Start the job of a dead letter again: same job, fresh budget, all of its history.

    args and kwargs replace the job's own where given; the audit entry then holds both versions. The unique key stays as
    it was. A reference to a secret is a Secret, or what is stored of one. Raises InvalidPayload if they cannot be
    stored, or the task does not take them (they are of the version of the job, and go through the upgrades of the
    task).
    """
    database = using or _database_of(letter)
    letter_id = _id_of(letter, DeadLetter)
    job = _replay(
        letter_id, by=_name_of(by), reason=_text(reason), edit=_edit(letter_id, args, kwargs, database), using=database
    )
    if queue_options(job.backend).notify:
        notify.announce(database, [job.queue_name])
    return job


def discard(letter: DeadLetter | int | str, *, by: User | str, reason: str, using: str | None = None) -> DeadLetter:
    """Say that a dead letter needs nothing more. The reason is required, and becomes its note."""
    if not _text(reason):
        raise Refused("reason_required", "say why the dead letter needs nothing more")
    return _discard(
        _id_of(letter, DeadLetter), by=_name_of(by), reason=_text(reason), using=using or _database_of(letter)
    )


def cancel(job: Job | int | str, *, by: User | str, reason: str, force: bool = False, using: str | None = None) -> Job:
    """Cancel a job. One that has not started is CANCELLED at once; a running one is asked to stop.

    The row that comes back is still RUNNING then, with `cancel_requested_at`. A coroutine is stopped at its next await;
    a function sees `context.cancelled` and may stop itself. With `force` the job is stopped with its process. What it
    returns before that stands: the job is SUCCESSFUL. Any other end is CANCELLED, without a retry or a dead letter.
    """
    database = using or _database_of(job)
    cancelled = _cancel(_id_of(job, Job), by=_name_of(by), reason=_text(reason), force=force, using=database)
    if cancelled.status == Job.Status.RUNNING and queue_options(cancelled.backend).notify:
        notify.ask_to_stop(database)
    return cancelled


def pause(
    queue_name: str | None = None,
    *,
    task: str | None = None,
    by: User | str,
    reason: str,
    until: datetime | timedelta | None = None,
    using: str | None = None,
) -> Pause:
    """Have no worker claim jobs of a queue, or of a task by its stored name, until `resume`, or until a moment.

    until may be a duration, which begins now.

    "mail-*" is every queue whose name begins so, and "*" every one. Once this has returned, and a transaction of the
    caller's is committed, no such claim is committed any more; until then no worker claims anything, so be brief. It
    waits for the claims that are under way. What workers have in hand runs on. Paused jobs keep their place, fall due
    and expire as ever. To pause again gives it the new reason and end.
    """
    if not _text(reason):
        raise Refused("reason_required", "say why it is paused: somebody will ask at night")
    kind, target = _pause_target(queue_name, task)
    database = using or queue_database()
    paused = _pause.pause(
        kind, target, until=until_when.checked(until), by=_name_of(by), reason=_text(reason), using=database
    )
    _look_again(database, paused)
    return paused


def resume(
    queue_name: str | None = None,
    *,
    task: str | None = None,
    by: User | str,
    reason: str = "",
    using: str | None = None,
) -> Pause:
    """Have what was paused claimed again; named as it was for `pause`. Answers with the pause that is over."""
    kind, target = _pause_target(queue_name, task)
    database = using or queue_database()
    over = _pause.resume(kind, target, by=_name_of(by), reason=_text(reason), using=database)
    _look_again(database, over)
    return over


def _look_again(database: str, changed: Pause) -> None:
    """Wake workers: there is more to claim, or a claim of something else was held back meanwhile."""
    if queue_options("default").notify:
        notify.announce(database, [str(changed)])


def set_limit(
    queue_name: str | None = None,
    *,
    task: str | None = None,
    key: str | None = None,
    at_once: int | EllipsisType | None = ...,
    rate: str | EllipsisType | None = ...,
    by: User | str,
    reason: str = "",
    using: str | None = None,
) -> Limit | None:
    """Have so many jobs of a queue, a task or a concurrency key run at once, or start in a time, as in rate="100/m".

    None gives the word back to the code. It is for jobs that are under such a limit at all, or under any rate: the code
    declares one, and this says which. at_once=0 is none. Running jobs run on; what is ready waits for a slot again, so
    nothing starts until the running ones are fewer. Once this has returned, and a transaction of the caller's is
    committed, it holds everywhere; until then nothing is claimed.
    """
    kind, target = _one_of({Limit.Kind.QUEUE: queue_name, Limit.Kind.TASK: task, Limit.Kind.KEY: key}, most=255)
    database = using or queue_database()
    signed = {"by": _name_of(by), "reason": _text(reason), "using": database}
    match at_once, rate:
        case _, EllipsisType() if not isinstance(at_once, EllipsisType):
            limit = _set_limit(kind, target, _checked_at_once(at_once), **signed)
        case EllipsisType(), _ if not isinstance(rate, EllipsisType):
            limit = _set_rate(kind, target, _checked_rate(rate), **signed)
        case _:
            raise Refused("limit_required", 'say at_once=2 or rate="100/m", one of them at a time; None gives it back')
    if queue_options("default").notify:
        notify.announce(database, [target])
    return limit


def _checked_at_once(at_once: int | None) -> int | None:
    if at_once is not None and (
        isinstance(at_once, bool) or not isinstance(at_once, int) or not 0 <= at_once <= MAX_AT_ONCE
    ):
        raise Refused(
            "limit_out_of_range", f"at_once is a whole number from 0 to {MAX_AT_ONCE}, or None; got {at_once!r}"
        )
    return at_once


def _checked_rate(text: str | None) -> rates.Rate | None:
    try:
        return None if text is None else rates.parse(text)
    except ValueError as error:
        raise Refused("limit_out_of_range", f"rate {error}, or None; got {text!r}") from None


def prune(*, using: str | None = None) -> int:
    """Delete the records of `once` whose time is over, a thousand at a time; answer with how many.

    Of one database: that of `using`, or else of the default backend. It can be interrupted, and run while others do the
    same.
    """
    database = using or queue_database()
    count = 0
    while deleted := _prune_effects(using=database):
        count += deleted
    return count


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one of many: its id (or the text that is none), and the refusal if there was one."""

    id: int | str
    refused: Refused | None = None


def replay_many(
    letters: Iterable[DeadLetter | int | str], *, by: User | str, reason: str, using: str | None = None
) -> list[Receipt]:
    """Replay dead letters one after the other, each in its own transaction, so that one refusal concerns nobody else.

    Hand in a page of them, not a table: each costs a commit. What was interrupted can be run again; who was replayed is
    refused then.
    """
    return _each(letters, DeadLetter, lambda letter: replay(letter, by=by, reason=reason, using=using))


def discard_many(
    letters: Iterable[DeadLetter | int | str], *, by: User | str, reason: str, using: str | None = None
) -> list[Receipt]:
    """Discard dead letters one after the other, as `replay_many` does."""
    return _each(letters, DeadLetter, lambda letter: discard(letter, by=by, reason=reason, using=using))


def cancel_many(
    jobs: Iterable[Job | int | str], *, by: User | str, reason: str, force: bool = False, using: str | None = None
) -> list[Receipt]:
    """Cancel jobs one after the other, as `replay_many` does."""
    return _each(jobs, Job, lambda job: cancel(job, by=by, reason=reason, force=force, using=using))


def _each(
    things: Iterable[DeadLetter | Job | int | str], model: type[DeadLetter | Job], act: Callable[[Any], object]
) -> list[Receipt]:
    receipts: list[Receipt] = []
    chosen: dict[int, DeadLetter | Job | int | str] = {}
    for thing in things:
        try:
            chosen[_id_of(thing, model)] = thing
        except Refused as refusal:
            receipts.append(Receipt(str(thing), refusal))
    # In the order of their ids, so that two people with overlapping pages, each inside a transaction of their own,
    # never wait for each other in a circle.
    for pk in sorted(chosen):
        try:
            act(chosen[pk])
        except Refused as refusal:
            receipts.append(Receipt(pk, refusal))
        else:
            receipts.append(Receipt(pk))
    return receipts


def _id_of(thing: DeadLetter | Job | int | str, model: type[DeadLetter | Job]) -> int:
    match thing:
        case DeadLetter() | Job() if isinstance(thing, model):
            return thing.pk
        case bool():
            pass
        case int():
            return thing
        case str() if thing.strip().isdecimal() and len(thing) < 20:
            return int(thing)
        case str():
            raise Refused("not_found", f"there is no {model._meta.verbose_name} {thing!r}")
    raise TypeError(f"expected a {model.__name__} or its id, got {thing!r}")


def _database_of(thing: DeadLetter | Job | int | str) -> str:
    match thing:
        case DeadLetter() if thing.job_id is not None:
            return queue_database(thing.job.backend)
        case Job():
            return queue_database(thing.backend)
    return queue_database()


def _pause_target(queue_name: str | None, task: str | None) -> tuple[str, str]:
    kind, target = _one_of({Pause.Kind.QUEUE: queue_name, Pause.Kind.TASK: task})
    # It would be one of the name's own letters, and pause nothing.
    if "*" in target[:-1]:
        raise Refused("target_required", f"{target[:100]!r} names no {kind}: an asterisk ends the beginning of a name")
    return kind, target


def _one_of(names: Mapping[models.TextChoices, str | None], *, most: int = 256) -> tuple[str, str]:
    given = {kind: name for kind, name in names.items() if name is not None}
    if len(given) != 1:
        others = " or ".join(f"{kind.value}=…" for kind in list(names)[1:])
        raise Refused("target_required", f"name a queue, or {others}; one of them")
    ((kind, name),) = given.items()
    target = str(name).strip()
    if not target or len(target) > most or not target.isprintable():
        raise Refused(
            "target_required", f"{target[:100]!r} names no {kind}: write a name, or the beginning of one and *"
        )
    return kind.value, target


def _edit(letter_id: int, args: Sequence[Any] | None, kwargs: Mapping[str, Any] | None, using: str) -> Edit:
    if args is None and kwargs is None:
        return NO_EDIT
    require_shape(() if args is None else args, {} if kwargs is None else kwargs)
    # The half that stays is read for the size, which both count towards, and to know what is new.
    job = (
        Job.objects.using(using)
        .filter(dead_letter__pk=letter_id)
        .only("backend", "task", "version", "args", "kwargs")
        .first()
    )
    if job is None:
        return NO_EDIT
    options = queue_options(job.backend)
    args_text, kwargs_text = storable_json.arguments(
        job.args if args is None else args,
        job.kwargs if kwargs is None else kwargs,
        max_bytes=options.max_payload_bytes,
        schemes=options.schemes,
        are_stored=True,
    )
    new_args, new_kwargs = storable_json.loads(args_text), storable_json.loads(kwargs_text)
    brought_args, brought_kwargs = _changed(new_args, new_kwargs, job)
    guard.require_nothing_spilled({"args": brought_args, "kwargs": brought_kwargs})
    # Where the task is known: as the runner will read it. What is stored is what was given.
    if task := registry.find(job.task):
        require_arguments(task, new_args, new_kwargs, version=job.version)
        guard.watch(task, brought_args, brought_kwargs, policy=options.secrets)
    return Edit(None if args is None else args_text, None if kwargs is None else kwargs_text)


def _changed(args: list[Any], kwargs: dict[str, Any], job: Job) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments that an edit has brought, each in its place; what was stored before is nothing new."""
    old_args = job.args if isinstance(job.args, list) else []
    old_kwargs = job.kwargs if isinstance(job.kwargs, dict) else {}
    return (
        [None if [value] == old_args[index : index + 1] else value for index, value in enumerate(args)],
        {name: value for name, value in kwargs.items() if name not in old_kwargs or old_kwargs[name] != value},
    )
