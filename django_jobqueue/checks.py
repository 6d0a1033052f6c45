"""System checks: what is wrong with the set-up, under stable ids, each with what to type.

    E001  OPTIONS of an alias: unknown, wrong or contradictory
    E002  OPTIONS names a database that is not in DATABASES
    E003  an alias in TASKS is too long to be stored
    E004  two tasks have one stored name
    E005  a module of tasks cannot be imported
    E006  QUEUES is not a list of names
    E007  the routers keep the queue's tables elsewhere than OPTIONS["database"]
    E008  a function of OPTIONS["secret_sources"] cannot be called
    W001  the queue's database is not PostgreSQL: workers do not run on it
    W002  the queue's tables are missing
    W003  django-channels is installed, and has a `runworker` too
    W004  no alias in TASKS uses this backend, and TASKS is not that of a test
    W005  Django 5.2 without the backport's app in INSTALLED_APPS
    W006  an alias of TASKS has a key that the queue does not read
    W007  OPTIONS["transaction_database"] has no rows of the project

W008 and W009 are of single tasks, in `task_checks`. An id once used keeps its meaning: projects silence them by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from django.apps import AppConfig, apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name for it
from django.db import connections, router
from django.utils.module_loading import import_string

from django_jobqueue import conf, registry, secret_sources, shown, task_checks
from django_jobqueue.backend import MAX_ALIAS_LENGTH, JobQueueBackend, postgresql_remedy
from django_jobqueue.compat import PACKAGE, InvalidTaskBackend, task_backends
from django_jobqueue.exceptions import InvalidOptions
from django_jobqueue.models import Job
from django_jobqueue.routers import JobQueueRouter

_BACKEND = f"{JobQueueBackend.__module__}.{JobQueueBackend.__qualname__}"
KEYS = ("BACKEND", "QUEUES", "OPTIONS")
"""What an alias of TASKS may have."""

_AT_ONCE = {
    f"{package}.backends.{name}"
    for package in ("django.tasks", "django_tasks")
    for name in ("immediate.ImmediateBackend", "dummy.DummyBackend")
}


def check_settings(app_configs: Sequence[AppConfig] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Check TASKS, the databases it names, and what else is installed."""
    aliases = _our_aliases()
    messages = [] if aliases or _runs_at_once() else [_no_alias()]
    for alias, params in aliases.items():
        messages += _check_alias(alias, params)
    return [*messages, *_check_neighbours()]


def check_tasks(app_configs: Sequence[AppConfig] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Check that every module of tasks can be imported, that every name means one task, and what tasks promise."""
    try:
        tasks = registry.known_tasks()
    except ImportError as error:
        hint = _other_alias(error.__cause__) or "Correct the module: a worker that cannot import it refuses to start."
        return [Error(str(error), hint=hint, id="django_jobqueue.E005")]
    hint = "Jobs are stored under this name; a worker would not know which function to call."
    databases = {
        alias: (_database(params), _database(params, "transaction_database"))
        for alias, params in _our_aliases().items()
    }
    return [
        *(Error(conflict, hint=hint, id="django_jobqueue.E004") for conflict in registry.duplicates(tasks)),
        *task_checks.check_atomic(tasks, databases),
        *task_checks.check_sensitive(tasks),
    ]


def _other_alias(cause: BaseException | None) -> str:
    """Say what to type for a task whose backend is no alias; nothing for any other error."""
    aliases = sorted(task_backends.settings)
    # Django names it in its message alone.
    named = re.search(r"connection '([^']*)'", str(cause)) if isinstance(cause, InvalidTaskBackend) else None
    if not aliases or named is None or named[1] in aliases:
        return ""
    nearest = get_close_matches(named[1], aliases, n=1) or aliases
    return f"Say @task(backend={nearest[0]!r}), or give one alias in TASKS the name {named[1]!r}."


def check_tables(
    app_configs: Sequence[AppConfig] | None = None,
    databases: Sequence[str] | None = None,
    **kwargs: Any,
) -> list[CheckMessage]:
    """Check that the databases asked about hold the queue's tables."""
    used = {_database(params) for params in _our_aliases().values()}
    return [message for alias in sorted(used & set(databases or ())) for message in _tables(alias)]


def _our_aliases() -> dict[str, Mapping[str, Any]]:
    return {alias: params for alias, params in task_backends.settings.items() if _is_ours(params)}


def _is_ours(params: Mapping[str, Any]) -> bool:
    try:
        backend = import_string(params["BACKEND"])
    except (ImportError, KeyError):
        # Django says so itself when the backend is asked for.
        return False
    return isinstance(backend, type) and issubclass(backend, JobQueueBackend)


def _runs_at_once() -> bool:
    """Say whether TASKS names only backends that need no queue, as the settings of a project's tests do."""
    # Without TASKS Django falls back on one of them: then it was forgotten, not chosen.
    is_chosen: bool = settings.is_overridden("TASKS")  # type: ignore[misc]  # the plugin sees no methods
    backends = {params.get("BACKEND") for params in task_backends.settings.values()}
    return is_chosen and set() < backends <= _AT_ONCE


def _no_alias() -> CheckMessage:
    return Warning(
        f"No alias in TASKS uses {_BACKEND}: nothing is enqueued into the job queue.",
        hint=f'Add TASKS = {{"default": {{"BACKEND": "{_BACKEND}", "QUEUES": []}}}} to the settings.',
        id="django_jobqueue.W004",
    )


def _check_alias(alias: str, params: Mapping[str, Any]) -> Iterator[CheckMessage]:
    where = f"TASKS[{alias!r}]"
    if len(alias) > MAX_ALIAS_LENGTH:
        yield Error(
            f"The alias {alias!r} in TASKS has {len(alias)} characters.",
            hint=f"Use at most {MAX_ALIAS_LENGTH}.",
            id="django_jobqueue.E003",
        )
    queues = params.get("QUEUES", [])
    if not isinstance(queues, list | tuple | set) or not all(isinstance(n, str) for n in queues):
        yield Error(
            f"{where}['QUEUES'] is {queues!r}, which is not a list of names.",
            hint=f"Use {where}['QUEUES'] = [] to allow every name, or list them.",
            id="django_jobqueue.E006",
        )
    for key in [key for key in params if key not in KEYS]:
        yield Warning(
            _sentence(f"{where} has {key!r}, which the job queue does not read"),
            hint=_sentence(_meant_key(key, where)),
            id="django_jobqueue.W006",
        )
    for fault in conf.problems(params.get("OPTIONS", {})):
        yield Error(
            _sentence(f"{where}['OPTIONS']: {shown.text(fault)}"),
            hint="Every option, with its unit, default and bounds, is on the page docs/reference/settings.md.",
            id="django_jobqueue.E001",
        )
    yield from _check_secret_sources(where, params.get("OPTIONS", {}))
    yield from _check_database(alias, _database(params))
    yield from _check_transactions(alias, _database(params), _database(params, "transaction_database"))


def _check_secret_sources(where: str, options: Any) -> Iterator[CheckMessage]:
    sources = options.get("secret_sources") if isinstance(options, Mapping) else None
    if conf.problems({"secret_sources": sources}):
        # E001 says so.
        return
    for name, path in (sources or {}).items():
        if fault := secret_sources.fault(path):
            yield Error(
                _sentence(f"{where}['OPTIONS']['secret_sources'][{name!r}] is {path!r}, which {shown.text(fault)}"),
                hint="Name a function of one name, which returns the secret as text: a job that needs it would fail.",
                id="django_jobqueue.E008",
            )


def _meant_key(key: object, where: str) -> str:
    """Say what an unknown key of an alias probably was to be."""
    options = [option.name for option in fields(conf.Options)]
    if near := get_close_matches(str(key).upper(), KEYS, n=1):
        return f"did you mean {near[0]!r}?"
    if near := get_close_matches(str(key).lower(), options, n=1):
        return f"{near[0]!r} is an option: move it into {where}['OPTIONS']"
    return f"an alias has {', '.join(KEYS)}; all else is an option, in {where}['OPTIONS']"


def _database(params: Mapping[str, Any], option: str = "database") -> str:
    options = params.get("OPTIONS", {})
    database = options.get(option) if isinstance(options, Mapping) else None
    # What is no name at all is E001's.
    return database if isinstance(database, str) and database else "default"


def _check_database(alias: str, database: str) -> Iterator[CheckMessage]:
    if database not in connections:
        yield _not_in_databases(alias, "database", database)
        return
    if connections[database].vendor != "postgresql":
        yield Warning(
            f"DATABASES[{database!r}] is {connections[database].display_name}; the job queue "
            "enqueues into PostgreSQL only, and no worker runs here.",
            hint=_sentence(postgresql_remedy(alias, database)),
            id="django_jobqueue.W001",
        )
    yield from _check_routers(alias, database)


def _not_in_databases(alias: str, option: str, database: str) -> CheckMessage:
    return Error(
        f"TASKS[{alias!r}]['OPTIONS'][{option!r}] is {database!r}, which is not in DATABASES.",
        hint=f"Use one of {', '.join(sorted(connections))}, or add it to DATABASES.",
        id="django_jobqueue.E002",
    )


def _check_routers(alias: str, database: str) -> Iterator[CheckMessage]:
    try:
        written = router.db_for_write(Job)
        is_made = router.allow_migrate_model(database, Job)
    except InvalidOptions:
        return  # E001's
    if written not in {_database(params) for params in _our_aliases().values()}:
        problem = f"Job.objects writes to {written!r}"
    elif not is_made:
        problem = "migrate makes no tables of the queue there"
    else:
        return
    yield Error(
        f"TASKS[{alias!r}]['OPTIONS']['database'] is {database!r}, and DATABASE_ROUTERS say another: {problem}.",
        hint=f'Put "{JobQueueRouter.__module__}.{JobQueueRouter.__qualname__}" first in DATABASE_ROUTERS.',
        id="django_jobqueue.E007",
    )


def _check_transactions(alias: str, database: str, of_rows: str) -> Iterator[CheckMessage]:
    if of_rows not in connections:
        yield _not_in_databases(alias, "transaction_database", of_rows)
        return
    if of_rows == database:
        return
    models = [
        model for model in apps.get_models() if model._meta.managed and model._meta.app_label != Job._meta.app_label
    ]
    try:
        others = {router.db_for_write(model) for model in models}
    except InvalidOptions:
        return
    if others and of_rows not in others:
        yield Warning(
            f"TASKS[{alias!r}]['OPTIONS']['transaction_database'] is {of_rows!r}, and none of the project's models is "
            "written to it: a job waits for the commit of a transaction there, and for no other.",
            hint=f"Name the database of the rows that jobs are about: {', '.join(sorted(others))}.",
            id="django_jobqueue.W007",
        )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith("?") else ".")


def _check_neighbours() -> Iterator[CheckMessage]:
    if apps.is_installed("channels"):
        yield Warning(
            "django-channels has a `runworker` command too; the app that stands first in INSTALLED_APPS wins.",
            hint="Start the job queue's worker with `manage.py jobqueue_worker`.",
            id="django_jobqueue.W003",
        )
    if PACKAGE == "django_tasks" and not apps.is_installed("django_tasks"):
        yield Warning(
            "On Django 5.2 the tasks come from the backport, and its app is not installed.",
            hint="Add 'django_tasks' to INSTALLED_APPS.",
            id="django_jobqueue.W005",
        )


def _tables(database: str) -> Iterator[CheckMessage]:
    connection = connections[database]
    if connection.vendor != "postgresql":
        return
    tables = {model._meta.db_table for model in apps.get_app_config("django_jobqueue").get_models()}
    missing = sorted(tables - set(connection.introspection.table_names()))
    if missing:
        # A warning, because `migrate` runs this check before it makes the tables.
        yield Warning(
            f"DATABASES[{database!r}] lacks {', '.join(missing)}.",
            hint=f"Run `manage.py migrate --database {database}`.",
            id="django_jobqueue.W002",
        )
