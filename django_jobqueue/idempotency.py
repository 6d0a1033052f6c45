"""Do a thing once, though its job may run twice.

    once(key, call, *args, **kwargs)            what it writes to the queue's database is committed once
    once.external(key, call, *args, **kwargs)   what it does elsewhere is asked for under one key

Both answer with what the call returned as JSON: the first time, and every time after that. A key names one request: the
same key with another call, or with other arguments, is refused.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from inspect import isfunction, signature
from typing import Any, NamedTuple

from django.db import DatabaseError, connections

from django_jobqueue import failpoint, running
from django_jobqueue.compat import DEFAULT_TASK_BACKEND_ALIAS
from django_jobqueue.conf import MAX_JSON_BYTES, Options
from django_jobqueue.exceptions import AlreadyBeingDone, InvalidPayload, KeyReused, LeaseLost, NotInAJob
from django_jobqueue.payload import storable_json
from django_jobqueue.payload.misfit import Misfit
from django_jobqueue.payload.secret_reference import stored as stored_secret
from django_jobqueue.payload.spilled import Spill, referring
from django_jobqueue.payload.typed import forms_of, read_forms

logger = logging.getLogger("django_jobqueue.worker")

MAX_KEY_LENGTH = 255
"""The width of `Effect.key`."""


class _Wish(NamedTuple):
    """What is to be done once, and where."""

    key: str
    request: str
    attempt: running.RunningAttempt | None
    using: str
    options: Options


class _Once:
    """See the module."""

    def __call__(self, key: str, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Make a call in a transaction, and commit what it wrote together with the record that it is done.

        Inside a task with `atomic=True` it joins the task's own transaction; elsewhere there must be none, or
        RuntimeError is raised. Raises KeyReused, LeaseLost, InvalidPayload, or what the call or the COMMIT raises;
        nothing is committed then.
        """
        from django_jobqueue.store.transaction import own_commits

        attempt, using, options = _surroundings()
        request = _request(key, call, args, kwargs, secrets=attempt.secrets if attempt else {})
        _warn_of_rows_elsewhere(options)
        if attempt is None or not attempt.is_atomic:
            ways_out = (
                "Call it after the block, or declare the task atomic=True"
                if attempt
                else "Call it after the block; a view under ATOMIC_REQUESTS needs transaction.non_atomic_requests"
            )
            _require_no_transaction(
                using,
                f"once({key!r}, …) cannot be inside atomic(): the record could be rolled back with the caller's work. "
                f"{ways_out}",
            )
        with own_commits(using):
            return _done_here(_Wish(key, request, attempt, using, options), lambda: call(*args, **kwargs))

    def external(self, key: str, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Make a call that has its effect elsewhere, with `idempotency_key=key` besides, and keep what it returns.

        No lock and no transaction is held meanwhile. If the process dies, the next attempt calls again, with the same
        key: the remote side has to know it again. If the call raises, the key is free.

        Raises AlreadyBeingDone, which snoozes the job, while another living attempt is at it; KeyReused, NotInAJob,
        LeaseLost, InvalidPayload, or what the call raises; and RuntimeError in a transaction.
        """
        from django_jobqueue.store.transaction import own_commits

        attempt, using, options = _surroundings()
        if attempt is None:
            raise NotInAJob(
                f"once.external({key!r}, …) belongs in a job: only a lease tells whether whoever began it still lives"
            )
        if attempt.has_committed:
            raise NotInAJob(
                f"once.external({key!r}, …) belongs in a job, and this one is finished: "
                "in a callback of its transaction there is no lease; enqueue a job for it"
            )
        _require_no_transaction(
            using, f"once.external({key!r}, …) cannot run in a transaction, so not in a task with atomic=True"
        )
        _require_key_parameter(call)
        request = _request(key, call, args, kwargs, secrets=attempt.secrets)
        with own_commits(using):
            return _done_elsewhere(
                _Wish(key, request, attempt, using, options),
                attempt,
                lambda: call(*args, **kwargs, idempotency_key=key),
            )


once = _Once()
"""Do a thing once: see the module, and `once.external`."""


def _done_here(wish: _Wish, make: Callable[[], Any]) -> Any:
    from django_jobqueue.store import effects
    from django_jobqueue.store.transaction import read_committed

    key, request, attempt, using, options = wish
    found = effects.find(key, using=using)
    over = None
    if found is not None:
        # What an attempt has begun to do elsewhere, and is gone, is done anew; another request may have happened.
        if found.done_at is not None or found.request != request or effects.is_held(found, using=using):
            return _answer(found, request)
        over = found.token
    is_inside = connections[using].in_atomic_block
    joins = attempt is not None and attempt.is_atomic and is_inside and not attempt.has_committed
    try:
        with read_committed(using, durable=not joins):
            text = _result(make(), wish)
            effects.record(
                key,
                request,
                text,
                job_id=attempt.job_id if attempt else None,
                keep_seconds=options.keep_effects_seconds,
                ends_here=not is_inside,
                over=over,
                using=using,
            )
            # An atomic task asks in the end, once for all; its callbacks run when it has, and the lease is given up.
            asks = attempt is not None and not joins and not attempt.has_committed
            if attempt is not None and asks and not effects.holds_lease(attempt, using=using):
                raise LeaseLost(f"another worker has the job by now; what was done under {key!r} is rolled back")
    except effects.Taken:
        # Whoever was first has committed it; if its record is gone since, this is the first.
        return _done_here(wish, make)
    failpoint.hit("recorded")
    return storable_json.loads(text)


def _done_elsewhere(wish: _Wish, attempt: running.RunningAttempt, make: Callable[[], Any]) -> Any:
    from django_jobqueue.store import effects

    key, request, _, using, options = wish
    keep = options.keep_effects_seconds
    found, is_ours = effects.hold(
        key, request, job_id=attempt.job_id, token=attempt.token, keep_seconds=keep, using=using
    )
    if not is_ours:
        return _answer(found, request)
    failpoint.hit("held")
    try:
        value = make()
        failpoint.hit("called")
        text = _result(value, wish)
    except BaseException:
        _release(key, attempt, using)
        raise
    _connect_again(using)
    if not effects.finish(key, text, token=attempt.token, keep_seconds=keep, using=using):
        raise LeaseLost(f"another worker has the job by now, and has taken {key!r} over")
    return storable_json.loads(text)


def _result(value: Any, wish: _Wish) -> str:
    text = storable_json.dumps(value, "result", max_bytes=wish.options.max_result_bytes)
    if wish.attempt is not None:
        Spill(wish.attempt.secrets).require_none(value, "result", "a result is stored, and secrets are not")
    return text


def _connect_again(using: str) -> None:
    """Drop a connection that has died while the call took its time, so that what it came to can be written."""
    connection = connections[using]
    if connection.in_atomic_block or connection.connection is None or connection.is_usable():
        return
    connection.close()
    if not connection.get_autocommit():
        connection.set_autocommit(True)


def _surroundings() -> tuple[running.RunningAttempt | None, str, Options]:
    from django_jobqueue.database import queue_database, queue_options

    attempt = running.attempt.get()
    backend = attempt.backend if attempt else DEFAULT_TASK_BACKEND_ALIAS
    return attempt, queue_database(backend), queue_options(backend)


_warned: set[tuple[str, str]] = set()


def _warn_of_rows_elsewhere(options: Options) -> None:
    """Say once in a process that rows on another database than the queue's are not covered."""
    both = options.database, options.transaction_database
    if both[0] != both[1] and both not in _warned:
        _warned.add(both)
        logger.warning(
            "once() is in use, and rows on %r are not undone with the record, which is on %r: such a call may be made "
            "twice. Only what it writes to the queue's database is written once",
            options.transaction_database,
            options.database,
        )


def _require_no_transaction(using: str, problem: str) -> None:
    blocks = connections[using].atomic_blocks
    # As Django has it for durable blocks: that of a TestCase is not the caller's.
    if blocks and not getattr(blocks[-1], "_from_testcase", False):
        raise RuntimeError(problem)


def _request(key: str, call: Any, args: Sequence[Any], kwargs: Mapping[str, Any], *, secrets: Mapping[str, str]) -> str:
    """Make a fingerprint of what is asked for: the function by its name, and its arguments as JSON.

    What secrets of the job stand for counts by its reference.
    """
    if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY_LENGTH:
        raise InvalidPayload("key", f"is no text of 1 to {MAX_KEY_LENGTH} characters")
    try:
        storable_json.check_text(key)
    except Misfit as misfit:
        raise misfit.at("key") from None
    while isinstance(call, partial):
        call, args, kwargs = call.func, (*call.args, *args), {**call.keywords, **kwargs}
    Spill(secrets).require_none(key, "key", "make it of the reference, or of what the effect is about")
    name = f"{getattr(call, '__module__', '')}.{getattr(call, '__qualname__', type(call).__qualname__)}"
    forms = None
    with suppress(TypeError, ValueError):  # of a function in C nobody knows the hints
        forms = (forms_of if _lasts(call) else read_forms)(call, takes_context=False)
    written = forms.write(args, kwargs) if forms is not None else (args, kwargs)
    texts = storable_json.arguments(*written, max_bytes=MAX_JSON_BYTES)
    if forms:
        forms.require_same((args, kwargs), forms.read(*map(storable_json.loads, texts)))
    # Not what was written and read: then a secret is no more the object that the task was given.
    stored_args, stored_kwargs = (referring(half, secrets) for half in ([*written[0]], {**written[1]}))
    with suppress(TypeError, ValueError):
        # By their names: it makes no difference how they are passed.
        stored_args, stored_kwargs = [], dict(signature(call).bind_partial(*stored_args, **stored_kwargs).arguments)
    # In one order, whatever order the names were given in.
    stored = json.dumps([name, stored_args, stored_kwargs], sort_keys=True, default=stored_secret)
    return sha256(stored.encode()).hexdigest()


def _lasts(call: Any) -> bool:
    """Whether a function is one of a module, and not made anew for each call: what is read of it may be kept."""
    return isfunction(call) and getattr(sys.modules.get(call.__module__), call.__qualname__, None) is call


def _answer(found: Any, request: str) -> Any:
    """Return what was done under the key, if it is that."""
    if found.request != request:
        raise KeyReused(found.key)
    if found.done_at is None:
        raise AlreadyBeingDone(found.key)
    return found.result


def _require_key_parameter(call: Callable[..., Any]) -> None:
    try:
        parameters = signature(call).parameters
    except ValueError:  # of a function in C nobody knows
        return
    if "idempotency_key" not in parameters and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        name = getattr(call, "__name__", type(call).__name__)
        raise InvalidPayload(
            "call",
            f"{name}() takes no idempotency_key; add it as a keyword argument, and pass it to the remote side",
        )


def _release(key: str, attempt: running.RunningAttempt, using: str) -> None:
    from django_jobqueue.store import effects

    try:
        _connect_again(using)
        effects.release(key, token=attempt.token, using=using)
    except DatabaseError as error:
        # What the call raised matters more; the next attempt takes the key over.
        logger.warning("the key %r of job %s stays held until its lease is over: %s", key, attempt.job_id, error)
