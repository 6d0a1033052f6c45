"""Mistakes that the queue might have: each is put into the product while a test runs, and taken out again.

A mutant that nothing notices is a hole in the machine. `python3 manage.py test tests/model -m mutants` tries all.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from django.db import connection

from django_jobqueue.models import Job
from django_jobqueue.policy import retry
from django_jobqueue.store import cancel, control, discard, pause, replay, statement
from tests.model import state


@dataclass(frozen=True)
class Mutant:
    """A mistake, and how to make it for a while."""

    name: str
    make: Callable[[], AbstractContextManager[object]]


def sql(name: str, *changes: tuple[str, str, str]) -> Mutant:
    """Make a mutant of statements: each change names the file, what it says and what it shall say."""

    @contextmanager
    def make() -> Iterator[None]:
        original = statement.load
        for file, old, _new in changes:
            # Now: in the middle of a test a mutant that cannot be made would pass for one that was noticed.
            assert old in original(file), f"{file}.sql no longer says {old!r}"

        def load(file: str, inner: str = "") -> str:
            text = original(file, inner)
            for changed, old, new in changes:
                if changed == file:
                    text = text.replace(old, new)
            return text

        # What is inserted into another statement is loaded by name too, and kept.
        original.cache_clear()
        with mock.patch.object(statement, "load", load):
            yield
        original.cache_clear()

    return Mutant(name, make)


def code(name: str, function: Any, old: str, new: str) -> Mutant:
    """Make a mutant of a function, by changing its source."""

    @contextmanager
    def make() -> Iterator[None]:
        source = textwrap.dedent(inspect.getsource(function))
        assert old in source, f"{function.__name__} no longer says {old!r}"
        scope: dict[str, Any] = {}
        exec(compile(source.replace(old, new), f"<{name}>", "exec"), function.__globals__, scope)
        with mock.patch.dict(function.__globals__, scope):
            yield

    return Mutant(name, make)


def index(name: str, statuses: str) -> Mutant:
    """Make a mutant of the unique index, which then covers these statuses only."""
    (constraint,) = [each for each in Job._meta.constraints if each.name == "jobqueue_job_unique_live"]
    whole = "('WAITING', 'READY', 'RUNNING')"
    verbs = sql(name, *[(file, whole, f"({statuses})") for file in ("enqueue_unique", "unique_holders")])

    @contextmanager
    def make() -> Iterator[None]:
        with connection.schema_editor() as editor:
            editor.remove_constraint(Job, constraint)
            editor.execute(
                f"CREATE UNIQUE INDEX {constraint.name} ON {Job._meta.db_table} (backend, task, unique_key) "
                f"WHERE unique_key IS NOT NULL AND status IN ({statuses})"
            )
        try:
            with verbs.make():
                yield
        finally:
            state.clear()
            with connection.schema_editor() as editor:
                editor.execute(f"DROP INDEX {constraint.name}")
                editor.add_constraint(Job, constraint)

    return Mutant(name, make)


def both(name: str, *parts: Mutant) -> Mutant:
    """Make several mistakes at once."""

    @contextmanager
    def make() -> Iterator[None]:
        with ExitStack() as stack:
            for part in parts:
                stack.enter_context(part.make())
            yield

    return Mutant(name, make)


TOKEN = " AND job.lease_token = mine.token"

FENCE = [
    sql("finish without the token", ("finish", TOKEN, "")),
    sql("settle without the token", ("settle", TOKEN, "")),
    sql("renew without the token", ("renew", TOKEN, "")),
    sql("give back without the token", ("give_back", TOKEN, "")),
    sql("a renewal calls a busy job lost", ("renew", "THEN 'busy'", "THEN 'lost'")),
    sql("a renewal waits for a lock", ("renew", "FOR NO KEY UPDATE OF job SKIP LOCKED", "FOR NO KEY UPDATE OF job")),
]

# A lease that has run out belongs to a RUNNING job in every row that the verbs leave: to drop that conjunct of rescue
# changes the index that is read, and no answer.
RESCUE = [
    sql("rescue while the lease runs", ("rescue", "AND expired.lease_expires_at <= statement_timestamp()", "")),
    sql("rescue of another backend's jobs", ("rescue", "AND expired.backend = %(backend)s", "")),
    sql(
        "rescue of what the rescuer holds",
        ("rescue", "AND NOT COALESCE(expired.lease_token = ANY (%(held_tokens)s::uuid[]), false)", ""),
    ),
    sql("rescue of what does not run", ("rescue", "adrift.status = 'RUNNING' AND", "")),
    sql("rescue of jobs whose lease runs, as adrift", ("rescue", "AND adrift.lease_expires_at IS NULL", "")),
    sql("rescue without a limit", ("rescue", "LIMIT %(limit)s", "LIMIT 1000")),
    sql("rescue waits for a lock", ("rescue", "FOR UPDATE SKIP LOCKED", "FOR UPDATE")),
    sql("rescue without a new token", ("rescue", "SET lease_token = %(token)s::uuid,", "SET")),
    sql(
        "rescue without a new lease",
        ("rescue", "statement_timestamp() + make_interval(secs => %(lease_seconds)s)", "job.lease_expires_at"),
    ),
    sql("recover without the tokens", ("recover", "AND mine.lease_token = ANY (%(tokens)s::uuid[])", "")),
    sql("recover of another worker's jobs", ("recover", "AND mine.worker_id = %(worker_id)s::uuid", "")),
]

CLAIM = [
    sql("claim of a job that is not ready", ("ready_in_order", "= 'READY'", "IN ('READY', 'WAITING')")),
    sql("claim of another backend's jobs", ("ready_in_order", "AND ready.backend = %(backend)s", "")),
    sql("claim of an unknown task", ("ready_in_order", "AND ready.task = ANY (%(tasks)s::varchar[])", "")),
    sql(
        "claim of an unknown task, by group",
        ("ready_by_group", "groups.task = ANY (%(tasks)s::varchar[])", "true"),
    ),
    sql("claim past the deadline", ("ready_in_order", "OR ready.expires_at > statement_timestamp()", "OR true")),
    sql(
        "claim past the deadline, by group",
        ("ready_by_group", "OR ready.expires_at > statement_timestamp()", "OR true"),
    ),
    sql("claim without a limit", ("ready_in_order", "LIMIT %(limit)s", "")),
    sql("claim without a limit, by group", ("ready_by_group", "LIMIT %(limit)s", "")),
    sql("claim waits for a lock", ("ready_in_order", "FOR UPDATE SKIP LOCKED", "FOR UPDATE")),
    sql("claim waits for a lock, by group", ("ready_by_group", "OF ready SKIP LOCKED", "OF ready")),
    sql("claim out of order", ("ready_in_order", "ready.priority DESC, ", "")),
    sql("claim counts no attempt", ("claim", "attempt_count = job.attempt_count + 1,", "")),
    sql(
        "the attempt is counted when it ends",
        ("claim", "attempt_count = job.attempt_count + 1,", ""),
        ("finish", "SET status = 'SUCC", "SET attempt_count = job.attempt_count + 1, status = 'SUCC"),
        ("settle", "SET status = CASE", "SET attempt_count = job.attempt_count + 1, status = CASE"),
    ),
    sql("give back keeps the count", ("give_back", "attempt_count = job.attempt_count - 1,", "")),
    sql("promote before the time", ("promote", "AND due.run_after <= statement_timestamp()", "")),
    sql("promote without a limit", ("promote", "LIMIT %(limit)s", "")),
    sql("promote waits for a lock", ("promote", "FOR UPDATE SKIP LOCKED", "FOR UPDATE")),
]

BEFORE_A_PAUSE = "kind = 'queue' AND (until IS NULL OR until > statement_timestamp())"
TASK_IS_PAUSED = BEFORE_A_PAUSE.replace("queue", "task")


def _like_in_a_shell(target: str) -> str:
    return target.replace("*", "%")


PAUSES = [
    code("a pause waits for no claim", control.exclusively, "pg_advisory_xact_lock(", "pg_advisory_xact_lock_shared("),
    sql("claim while somebody decides", ("ready_in_order", "<> 'true'", "<> 'never'")),
    sql("claim while somebody decides, by group", ("ready_by_group", "<> 'true'", "<> 'never'")),
    sql("claim of a paused queue", ("ready_in_order", BEFORE_A_PAUSE, "false")),
    sql("claim of a paused queue, by group", ("ready_by_group", BEFORE_A_PAUSE, "false")),
    sql("claim of a paused task", ("ready_in_order", TASK_IS_PAUSED, "false")),
    sql("claim of a paused task, by group", ("ready_by_group", TASK_IS_PAUSED, "false")),
    sql("a pause never ends by itself", ("ready_in_order", BEFORE_A_PAUSE, "kind = 'queue'")),
    sql("a pause never ends by itself, by group", ("ready_by_group", BEFORE_A_PAUSE, "kind = 'queue'")),
    Mutant("a paused name is a pattern", lambda: mock.patch.object(pause, "queue_pattern", _like_in_a_shell)),
    code("resume forgets to", pause.resume, "row.delete(using=using)", "pass"),
]


LETTERS = [
    sql("a burial without a letter", ("settle", "WHERE status = 'FAILED'", "WHERE false")),
    sql("a letter for every end", ("settle", "WHERE status = 'FAILED'", "")),
    sql("a second letter", ("settle", "ON CONFLICT (job_id) DO UPDATE", "ON CONFLICT (id) DO UPDATE")),
    sql("a second death is not counted", ("settle", "deaths = letter.deaths + 1,", "")),
    sql("a second death leaves the letter replayed", ("settle", "SET status = 'OPEN',", "SET")),
    sql("an attempt is not written", ("settle", "FROM settled\n), buried", "FROM settled WHERE charged\n), buried")),
    sql("success leaves the letter replayed", ("finish", "WHERE letter.status = 'REPLAYED'", "WHERE false")),
    code("cancel leaves the letter replayed", cancel._cancel_now, "status=DeadLetter.Status.REPLAYED)", "pk=0)"),
    sql("a release is charged", ("settle", "mine.charged::int", "1")),
    sql("a failure is not charged", ("settle", "mine.charged::int", "0")),
]

PEOPLE = [
    Mutant("replay without a fresh budget", lambda: mock.patch.object(replay, "_FRESH_BUDGET", {})),
    Mutant("replay of a replayed letter", lambda: mock.patch.object(replay, "_check", lambda letter: None)),
    code("replay keeps a deadline that passed", replay._restart, "expires_at__lte=Now()", "pk=0"),
    code("replay leaves the job its old place", replay._restart, "run_after=Now(),", ""),
    code("replay without a record", replay._restart, "audit.record(", "str.format('', "),
    index("a retry gives the unique key up", "'READY', 'RUNNING'"),
    index("a start gives the unique key up", "'WAITING', 'READY'"),
    index("replay ignores the unique key", "'none'"),
    sql(
        "a request to cancel is not read at the settle",
        ("settle", "WHEN job.cancel_requested_at IS NOT NULL THEN 'CANCELLED'", "WHEN false THEN 'CANCELLED'"),
    ),
    sql(
        "a request to cancel is not read when a job is given back",
        ("give_back", "WHEN job.cancel_requested_at IS NOT NULL THEN 'CANCELLED'", "WHEN false THEN 'CANCELLED'"),
    ),
    sql("a renewal says nothing of a request", ("renew", "WHEN renewed.is_unwanted THEN 'unwanted'", "")),
    Mutant("discard of a replayed letter", lambda: mock.patch.object(discard, "_check", lambda letter: None)),
]

POLICY = [
    code("one attempt too many", retry._exhausted, "failure_count + 1 >=", "failure_count >="),
    code("no bound of attempts", retry._exhausted, "tally.failure_count + 1 >= policy.max_attempts", "False"),
    code("no bound of interruptions", retry._after_interruption, "counted and", "False and"),
    code("no bound of snoozes", retry._after_snooze, "tally.snooze_count + 1 >", "0 >"),
    code("no bound of crashes", retry._is_a_crash_loop, "tally.crash_count + 1 >=", "0 >="),
    code("no bound of suspicions", retry._after_interruption, "if suspect and", "if False and"),
    code(
        "a lost attempt is not charged", retry._decide, "OutcomeName.LOST, failure, charged=True)", "OutcomeName.LOST)"
    ),
    code("a neighbour's death is counted", retry._decide, "interrupted=counted", "interrupted=True"),
    code("a final verdict is retried", retry._after_failure, "verdict in _FINAL", "False"),
]

MUTANTS = [*FENCE, *RESCUE, *CLAIM, *PAUSES, *LETTERS, *PEOPLE, *POLICY]

SHORT = {
    "a turn while another waits for its retry",
    "admission counts what runs only",
    "claim while somebody decides",
    "settle without the token",
    "replay ignores the unique key",
    "rescue without a new token",
}
"""What is tried whenever the suite runs."""
