"""System checks: what is wrong, and what to type."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.checks import Error, Warning, run_checks  # noqa: A004
from django.db import connection
from django.test import override_settings

from django_jobqueue import checks, task_checks, tasks
from django_jobqueue.compat import PACKAGE

BACKEND = "django_jobqueue.backend.JobQueueBackend"


def alias(**params):
    """Return TASKS with our backend as the default, configured so."""
    return {"default": {"BACKEND": BACKEND, **params}}


def ids(messages):
    """Return the ids of messages, without the app's name."""
    return [message.id.removeprefix("django_jobqueue.") for message in messages]


@pytest.fixture(autouse=True)
def _isolated(monkeypatch):
    """Forget after each test what it declared."""
    monkeypatch.setattr(tasks, "_declared", dict(tasks._declared))


@pytest.fixture
def install(tmp_path, monkeypatch, settings):
    """Return a function that installs an app with this source as its tasks module."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    overrides = []

    def install(name, source=""):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        (tmp_path / name / "tasks.py").write_text(source)
        overrides.append(override_settings(INSTALLED_APPS=[*settings.INSTALLED_APPS, name]))
        overrides[-1].enable()

    yield install
    for override in reversed(overrides):
        override.disable()
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_good_set_up_is_silent():
    """A project that is set up well hears nothing."""
    assert [m for m in run_checks() if str(m.id).startswith("django_jobqueue")] == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lease_secs": 3}, "did you mean 'lease_seconds'"),
        ({"threads": "2"}, "threads is a whole number"),
        ({"renew_seconds": 20}, "more than half"),
        ([], "OPTIONS is a dict"),
    ],
)
def test_wrong_options_are_errors(settings, options, words):
    """A fault in OPTIONS is an error that names alias, option and cure."""
    settings.TASKS = alias(OPTIONS=options)
    (message,) = checks.check_settings()

    assert isinstance(message, Error)
    assert message.id == "django_jobqueue.E001"
    assert message.msg.startswith("TASKS['default']['OPTIONS']: ")
    assert words in message.msg
    assert not message.msg.endswith("?.")
    assert "docs/reference/settings.md" in message.hint


def test_a_fault_quotes_no_secret_of_the_settings(settings):
    """What a check says is read in the log of a pipeline."""
    settings.TASKS = alias(OPTIONS={"threads": "Tr0ub4dor&3-xyz"})
    settings.EMAIL_HOST_PASSWORD = "Tr0ub4dor&3-xyz"
    (message,) = checks.check_settings()

    assert "threads is a whole number" in message.msg
    assert "Tr0ub4dor" not in message.msg


def test_each_fault_is_a_message_of_its_own(settings):
    """Two faults in two aliases are told apart."""
    settings.TASKS = alias(OPTIONS={"a": 1, "b": 2}) | {"slow": {"BACKEND": BACKEND, "OPTIONS": {"threads": 0}}}

    assert ids(checks.check_settings()) == ["E001", "E001", "E001"]


def test_an_unknown_database_is_an_error(settings):
    """The alias in OPTIONS has to be in DATABASES; the hint lists those that are."""
    settings.TASKS = alias(OPTIONS={"database": "queue"})
    (message,) = checks.check_settings()

    assert message.id == "django_jobqueue.E002"
    assert "default" in message.hint


def test_all_faults_are_told_at_once(settings):
    """Who corrects one does not meet the next: options, their contradictions and the database together."""
    settings.TASKS = alias(OPTIONS={"renew_seconds": 20, "lease_secs": 3, "database": "queue"})
    unknown, contradiction, database = checks.check_settings()

    assert "lease_secs" in unknown.msg
    assert "more than half" in contradiction.msg
    assert (database.id, "'queue'" in database.msg) == ("django_jobqueue.E002", True)


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("lease_seconds", "'lease_seconds' is an option: move it into TASKS['default']['OPTIONS']."),
        ("LEASE_SECOND", "'lease_seconds' is an option: move it into TASKS['default']['OPTIONS']."),
        ("QUEUE", "Did you mean 'QUEUES'?"),
        ("options", "Did you mean 'OPTIONS'?"),
        ("zzz", "An alias has BACKEND, QUEUES, OPTIONS; all else is an option, in TASKS['default']['OPTIONS']."),
    ],
)
def test_a_key_that_is_not_read_is_a_warning(settings, key, hint):
    """An option beside OPTIONS is not in force, and Django says nothing of it."""
    settings.TASKS = alias(**{key: 10})
    (message,) = checks.check_settings()

    assert (message.id, message.hint) == ("django_jobqueue.W006", hint)
    assert message.msg == f"TASKS['default'] has {key!r}, which the job queue does not read."


def test_a_long_alias_is_an_error(settings):
    """An alias that its column cannot hold is refused before the first job."""
    settings.TASKS = {"x" * 65: {"BACKEND": BACKEND}}

    assert ids(checks.check_settings()) == ["E003"]


@pytest.mark.parametrize("queues", ["mail", [1], None, 5])
def test_queues_that_are_no_list_are_errors(settings, queues):
    """QUEUES = "mail" would be read as four queues of one letter."""
    settings.TASKS = alias(QUEUES=queues)

    assert ids(checks.check_settings()) == ["E006"]


def test_another_database_is_a_warning(monkeypatch):
    """A project on SQLite can be installed, migrated and tested; it is told that no worker runs."""
    monkeypatch.setattr(connection, "vendor", "sqlite")
    monkeypatch.setattr(connection, "display_name", "SQLite")
    (message,) = checks.check_settings()

    assert isinstance(message, Warning)
    assert message.id == "django_jobqueue.W001"
    assert message.hint.startswith("Make DATABASES['default'] PostgreSQL, or")
    assert f"{PACKAGE}.backends.immediate.ImmediateBackend" in message.hint


def test_a_project_that_does_not_use_the_backend_is_warned(settings):
    """An installed app that nothing enqueues into is probably a forgotten setting."""
    settings.TASKS = {"default": {"BACKEND": "no.such.Backend"}}
    (message,) = checks.check_settings()

    assert message.id == "django_jobqueue.W004"
    assert f'{{"BACKEND": "{BACKEND}", "QUEUES": []}}' in message.hint


def test_a_project_without_tasks_is_warned(settings, monkeypatch):
    """Django's own default for TASKS is not a choice."""
    settings.TASKS = {"default": {"BACKEND": f"{PACKAGE}.backends.immediate.ImmediateBackend"}}
    monkeypatch.setattr(checks, "settings", SimpleNamespace(is_overridden=lambda name: False))

    assert ids(checks.check_settings()) == ["W004"]


@pytest.mark.parametrize("name", ["dummy.DummyBackend", "immediate.ImmediateBackend"])
def test_the_settings_of_a_projects_tests_are_silent(settings, name):
    """A backend of Django's that was chosen by name needs no queue; beside another one it is no excuse."""
    settings.TASKS = {"default": {"BACKEND": f"{PACKAGE}.backends.{name}"}}
    assert checks.check_settings() == []

    settings.TASKS = settings.TASKS | {"other": {"BACKEND": "no.such.Backend"}}
    assert ids(checks.check_settings()) == ["W004"]


def test_a_backend_that_cannot_be_imported_is_djangos_matter(settings):
    """A broken BACKEND of another alias does not break these checks."""
    settings.TASKS = alias() | {"odd": {"BACKEND": "no.such.Backend"}, "odder": {}}

    assert checks.check_settings() == []


def test_a_subclass_counts(settings, monkeypatch):
    """A project's own subclass of the backend is checked like the backend."""
    monkeypatch.setattr(
        sys.modules[__name__],
        "OwnBackend",
        type("OwnBackend", (checks.JobQueueBackend,), {}),
        raising=False,
    )
    settings.TASKS = {"default": {"BACKEND": f"{__name__}.OwnBackend", "OPTIONS": {"x": 1}}}

    assert ids(checks.check_settings()) == ["E001"]


def test_channels_is_a_warning(install):
    """Two apps have a runworker command; the hint is a name that only one has."""
    install("channels")
    (message,) = checks.check_settings()

    assert message.id == "django_jobqueue.W003"
    assert "jobqueue_worker" in message.hint


@pytest.mark.skipif(PACKAGE == "django.tasks", reason="Django has tasks of its own")
def test_the_backports_app_is_asked_for(settings):
    """On Django 5.2 the backport's app belongs in INSTALLED_APPS."""
    apps = [app for app in settings.INSTALLED_APPS if app != "django_tasks"]
    with override_settings(INSTALLED_APPS=apps):
        assert ids(checks.check_settings()) == ["W005"]


def test_duplicate_names_are_errors(install):
    """Two tasks of one stored name are told apart before a worker refuses to start."""
    install(
        "stall",
        "from django_jobqueue import task\n"
        "@task(task_name='one')\ndef first(): pass\n@task(task_name='one')\ndef second(): pass\n",
    )
    (message,) = checks.check_tasks()

    assert message.id == "django_jobqueue.E004"
    assert "stall.tasks.first and stall.tasks.second" in message.msg


ATOMIC = "from django_jobqueue import task\n@task(atomic=True)\ndef book(): pass\n@task\ndef mail(): pass\n"


@pytest.mark.parametrize(("options", "is_told"), [({"database": "queue"}, True), ({}, False)])
def test_an_atomic_task_with_its_queue_elsewhere_is_told(install, settings, options, is_told):
    """Its rows are not in its transaction: atomic=True promises what it cannot keep there. Other aliases are others."""
    settings.TASKS = {**alias(OPTIONS=options), "other": {"BACKEND": BACKEND, "OPTIONS": {"database": "spare"}}}
    install("ledger", ATOMIC)
    found = [message for message in checks.check_tasks() if message.id == "django_jobqueue.W008"]

    assert len(found) == is_told
    for message in found:
        assert message.level == Warning("").level
        assert "ledger.tasks.book" in message.msg
        assert "ledger.tasks.mail" not in message.msg
        assert "'queue'" in message.msg
        assert "'default'" in message.msg


NAMES = """
from dataclasses import dataclass
from django_jobqueue import task
@dataclass
class Card:
    holder_name: str
    digits: str
@dataclass
class Order:
    cards: list[Card]
    note: str | None = None
@task(sensitive=({name!r},))
def pay(number: str, order: Order, {more}): pass
"""


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("nmber", "number"),
        ("ordre", "order"),
        ("holder_nam", "holder_name"),
        ("digts", "digits"),
        ("number", None),
        ("Holder-Name", None),
        ("iban", None),
        ("date_of_birth", None),
        ("note", None),
    ],
)
@pytest.mark.parametrize("more", ["*rest", "**named"])
def test_a_name_that_hides_nothing_is_told_where_it_is_close_to_one(install, name, meant, more):
    """A typo in `sensitive` leaves the value shown. A name like no other may be a key of a dict."""
    install("shy", NAMES.format(name=name, more=more))
    found = [message for message in checks.check_tasks() if message.id == "django_jobqueue.W009"]

    assert len(found) == (meant is not None)
    for message in found:
        assert message.msg.startswith(f"Task shy.tasks.pay has {name!r} in sensitive, ")
        assert message.msg.endswith(f"did you mean {meant!r}?")


def test_a_broken_tasks_module_is_an_error(install):
    """A module of tasks that cannot be imported is named, with the reason."""
    install("broken", "import no_such_module\n")
    (message,) = checks.check_tasks()

    assert message.id == "django_jobqueue.E005"
    assert "'broken.tasks'" in message.msg
    assert "no_such_module" in message.msg


def test_a_task_without_an_alias_is_an_error(install, settings):
    """Where no alias is named default, the error says how a task names another one."""
    settings.TASKS = {"jobs": {"BACKEND": BACKEND}}
    install("nameless", "from django_jobqueue import task\n@task\ndef first(): pass\n")
    (message,) = checks.check_tasks()

    assert message.id == "django_jobqueue.E005"
    assert message.hint == "Say @task(backend='jobs'), or give one alias in TASKS the name 'default'."


def test_an_alias_that_does_not_exist_is_named(install, settings):
    """The hint has the alias that the task names, and the nearest that there is."""
    settings.TASKS = {name: {"BACKEND": BACKEND} for name in ("default", "jobs")}
    install("misnamed", "from django_jobqueue import task\n@task(backend='job')\ndef first(): pass\n")
    (message,) = checks.check_tasks()

    assert message.id == "django_jobqueue.E005"
    assert message.hint == "Say @task(backend='jobs'), or give one alias in TASKS the name 'job'."


def test_a_backend_that_breaks_is_no_misnamed_alias(install, settings):
    """A task of an alias that is there, and whose backend cannot be imported, is not told to take another."""
    settings.TASKS = {"default": {"BACKEND": BACKEND}, "odd": {"BACKEND": "no.such.Backend"}}
    install("unlucky", "from django_jobqueue import task\n@task(backend='odd')\ndef first(): pass\n")
    (message,) = checks.check_tasks()

    assert message.hint.startswith("Correct the module")


@pytest.mark.django_db
def test_missing_tables_are_a_warning():
    """A database that was not migrated is named, with the command."""
    assert checks.check_tables(databases=["default"]) == []

    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE django_jobqueue_worker RENAME TO elsewhere")
    (message,) = checks.check_tables(databases=["default"])
    assert isinstance(message, Warning)  # `migrate` itself runs this check, and must go on
    assert message.id == "django_jobqueue.W002"
    assert "django_jobqueue_worker" in message.msg
    assert message.hint == "Run `manage.py migrate --database default`."


def test_tables_are_asked_for_only_where_allowed(django_assert_num_queries):
    """Without --database no check touches a database."""
    assert checks.check_tables() == []
    assert checks.check_tables(databases=[]) == []


def test_every_check_is_registered():
    """The checks run by themselves once the app is installed."""
    from django.core.checks.registry import registry

    registered = registry.get_checks(include_deployment_checks=True)
    assert {checks.check_settings, checks.check_tasks, checks.check_tables} <= set(registered)


@pytest.mark.parametrize("module", [checks, task_checks], ids=lambda module: module.__name__)
def test_every_id_is_in_the_list(module):
    """The list at the top of the module names every id that the code uses."""
    text = Path(module.__file__).read_text("utf-8")
    listed = {line.split()[0] for line in text.splitlines() if line.startswith(("    E0", "    W0"))}
    used = {part.split('"')[0] for part in text.split('id="django_jobqueue.')[1:]}

    assert listed == used
