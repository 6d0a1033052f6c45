"""Names and tasks: what a row says is looked up, and never imported."""

import sys

import pytest
from django.test import override_settings

from django_jobqueue import registry, tasks
from django_jobqueue.compat import Task as DjangoTask
from django_jobqueue.exceptions import InvalidOptions
from tests import tasks as cast

OURS = "from django_jobqueue import task\n"


@pytest.fixture(autouse=True)
def _isolated(monkeypatch):
    """Forget after each test what it declared."""
    monkeypatch.setattr(tasks, "_declared", dict(tasks._declared))


@pytest.fixture
def install(tmp_path, monkeypatch, settings):
    """Return a function that installs an app with this source as its tasks module."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def install(name, source=None):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        if source is not None:
            (tmp_path / name / "tasks.py").write_text(source)
        override = override_settings(INSTALLED_APPS=[*settings.INSTALLED_APPS, name])
        override.enable()
        overrides.append(override)

    overrides = []
    yield install
    for override in reversed(overrides):
        override.disable()
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_tasks_modules_of_apps_are_imported(install):
    """A task that nothing else imports is known to a worker."""
    install("stall", f"{OURS}@task\ndef charge(): pass\n")

    found = registry.discover()
    assert found.get("stall.tasks.charge").module_path == "stall.tasks.charge"
    assert "stall.tasks.charge" in found.names()


def test_an_app_needs_no_tasks(install):
    """An app without a tasks module is passed over."""
    install("quiet")

    assert registry.discover()


def test_a_broken_tasks_module_is_named(install):
    """An error inside a tasks module is not mistaken for its absence."""
    install("broken", "import no_such_module\n")

    with pytest.raises(ImportError, match=r"'broken\.tasks'.*no_such_module") as refused:
        registry.discover()
    assert isinstance(refused.value.__cause__, ModuleNotFoundError)


@pytest.mark.parametrize("source", ["1 / 0\n", "def (\n", f"{OURS}task(lambda: 0)\n"])
def test_any_error_in_a_tasks_module_is_named(install, source):
    """Whatever a module raises, the error says which module it was."""
    install("broken", source)

    with pytest.raises(ImportError, match=r"'broken\.tasks' cannot be imported"):
        registry.discover()


def test_the_line_that_fails_is_named(install, tmp_path):
    """It may be in a module that the tasks import, and stands above what that one calls of Python and of packages."""
    install("stall", "from stall import config\n")
    (tmp_path / "stall" / "config.py").write_text("import os\n\nKEY = os.environ['NO_SUCH_KEY']\n")

    with pytest.raises(ImportError) as refused:
        registry.discover()
    assert str(refused.value) == (
        "task module 'stall.tasks' cannot be imported: KeyError: 'NO_SUCH_KEY' "
        f"({tmp_path / 'stall' / 'config.py'}, line 3)"
    )


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def (\n", "SyntaxError"),
        (f"{OURS}task(max_attemps=3)(len)\n", "did you mean 'max_attempts'"),
        ("import json\njson.loads('no JSON')\n", "JSONDecodeError"),
    ],
)
def test_a_line_of_the_tasks_module_itself_is_named(install, tmp_path, source, words):
    """So it is for a file that is no Python, and for a decorator that refuses its options."""
    install("stall", source)

    line = source.count("\n")
    with pytest.raises(ImportError, match=words) as refused:
        registry.discover()
    assert str(refused.value).endswith(f" ({tmp_path / 'stall' / 'tasks.py'}, line {line})")


def test_tasks_of_imported_modules_are_known():
    """A task declared outside of a tasks module is known once its module is imported."""
    assert registry.discover().get("tests.tasks.succeed") is cast.succeed


def test_a_plain_task_is_known(install):
    """Django's own Task in a tasks module is found, whatever made it."""
    install(
        "stall",
        "from django_jobqueue.compat import Task\n"
        "def charge(): pass\n"
        "charge = Task(func=charge, priority=0, queue_name='default', backend='default',"
        " run_after=None, takes_context=False)\n",
    )

    found = registry.discover().get("stall.tasks.charge")
    assert type(found) is DjangoTask


def test_a_variant_stands_for_its_task(install):
    """`urgent = charge.using(…)` in a module is neither a duplicate nor the declaration."""
    install(
        "stall",
        f"{OURS}@task(max_attempts=9)\ndef _charge(): pass\nurgent = _charge.using(priority=50)\ncharge = _charge\n",
    )

    assert registry.discover().get("stall.tasks._charge").priority == 0


def test_aliases_lead_to_the_task(install):
    """A job that was stored under an old name runs the function of today."""
    install("stall", f"{OURS}@task(task_name='charge', aliases=('old.charge',))\ndef pay(): pass\n")

    found = registry.discover()
    assert found.get("charge") is found.get("old.charge")
    assert found.get("stall.tasks.pay") is None


@pytest.mark.parametrize("options", ["task_name='one'", "task_name='two', aliases=('one',)", "aliases=('one',)"])
def test_two_tasks_of_one_name_are_refused(install, options):
    """A worker that could not tell two functions apart does not start."""
    install(
        "stall",
        f"{OURS}@task(task_name='one')\ndef first(): pass\n@task({options})\ndef second(): pass\n",
    )

    with pytest.raises(InvalidOptions, match=r"'one' names stall\.tasks\.first and stall\.tasks\.second"):
        registry.discover()


def test_one_function_under_two_paths_needs_two_names(install):
    """An explicit name met twice, as when a module is imported under two paths, is refused."""
    source = f"{OURS}@task(task_name='stall.charge')\ndef charge(): pass\n"
    install("stall", source)
    install("stall_again", source)

    with pytest.raises(InvalidOptions, match=r"stall\.tasks\.charge and stall_again\.tasks\.charge"):
        registry.discover()


def test_names_are_told_by_kind():
    """A worker can ask for what runs in threads and for what runs in its event loop."""
    found = registry.discover()

    assert "tests.tasks.succeed" in found.functions()
    assert "tests.tasks.give_back_async" in found.coroutines()
    assert sorted(found.functions() + found.coroutines()) == list(found.names())


def test_a_registry_is_frozen():
    """What a worker knows does not change under it."""
    found = registry.discover()

    with pytest.raises(TypeError):
        found.tasks["x"] = cast.succeed


@pytest.mark.parametrize("name", ["os.system", "builtins.exec", "antigravity.geohash", ""])
def test_a_name_is_never_imported(name):
    """A row that names a function which is no task leads nowhere, and imports nothing."""
    assert registry.find(name) is None
    assert registry.discover().get(name) is None
    assert "antigravity" not in sys.modules


def test_find_imports_tasks_modules(install):
    """Who asks for one task finds it even where nothing has imported it yet."""
    install("stall", f"{OURS}@task\ndef charge(): pass\n")

    assert registry.find("stall.tasks.charge").name == "charge"


def test_find_survives_a_broken_app(install, caplog):
    """Who asks about one job is not stopped by another app's broken module, but told of it."""
    install("broken", "1 / 0\n")

    assert registry.find("stall.tasks.charge") is None
    assert registry.find("tests.tasks.succeed") is cast.succeed
    assert "broken.tasks" in caplog.text
