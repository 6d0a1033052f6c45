"""The pages say what the code says: names, defaults, arrows and links are compared, not trusted."""

import argparse
import ast
import importlib
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand

from django_jobqueue import checks, compat, task_checks, task_options
from django_jobqueue.conf import Options
from django_jobqueue.policy.lifecycle import LETTER_TRANSITIONS, TRANSITIONS, Reason
from django_jobqueue.policy.why import Why
from django_jobqueue.queue_policy import QueuePolicy
from django_jobqueue.worker.plan import WorkerPlan

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
APP = ROOT / "django_jobqueue"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
MODELS = list(apps.get_app_config("django_jobqueue").get_models())
REFERENCE = DOCS / "reference"


def path_of(page):
    """Name a page for a report."""
    return str(page.relative_to(ROOT))


every_page = pytest.mark.parametrize("page", PAGES, ids=path_of)


def says(page, name):
    """Whether a page has `name` as code, alone or with what follows it."""
    return re.search(rf"`(?:[\w.]+ )*{re.escape(name)}(?![\w-])[^`]*`", page.read_text("utf-8")) is not None


def missing(page, names):
    """Name those that a page does not have."""
    return sorted(name for name in names if not says(page, name))


# --- The life of a job


def arrows(number):
    """Read the arrows of the nth diagram of lifecycle.md as (verb, old, new)."""
    diagram = fences(DOCS / "explanation" / "lifecycle.md", "mermaid")[number]
    found = re.findall(r"^\s*(\S+) --> (\S+): (\w+)$", diagram, re.MULTILINE)
    assert len(found) == diagram.count("-->")
    return sorted((verb, "" if old == "[*]" else old, new) for old, new, verb in found)


@pytest.mark.parametrize(("number", "table"), [(0, TRANSITIONS), (1, LETTER_TRANSITIONS)], ids=["job", "letter"])
def test_the_diagram_is_the_table_of_transitions(number, table):
    """Each legal move of a job and of a dead letter is an arrow, and there is no other arrow."""
    assert arrows(number) == sorted((move.verb, move.old or "", str(move.new)) for move in table)


# --- The reference


def test_every_option_has_its_row():
    """The page of settings has each option with the unit, the default and the bounds that hold."""
    rows = {}
    for line in (REFERENCE / "settings.md").read_text("utf-8").splitlines():
        if line.startswith("| `"):
            name, unit, default, bounds = [cell.strip() for cell in line.strip("|").split("|")][:4]
            rows[name.strip("`")] = (unit, default.strip("`"), bounds)

    assert rows == {option.name: (_unit(option), _shown(option.default), _bounds(option)) for option in fields(Options)}


def _unit(option):
    if option.name.endswith("_seconds"):
        return "seconds"
    if option.name.endswith("_bytes"):
        return "bytes"
    if "words" in option.metadata:
        return "word"
    return {bool: "switch", str: "name", Mapping: "paths", QueuePolicy: "rules"}.get(option.metadata["kind"], "count")


def _shown(value):
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _bounds(option):
    if words := option.metadata.get("words"):
        return ", ".join(f"`{word}`" for word in words)
    if "minimum" not in option.metadata:
        return "none"
    return f"{option.metadata['minimum']} to {option.metadata['maximum']:.0f}"


def test_every_option_of_a_task_is_named():
    """What the decorator takes is on the page of tasks."""
    assert missing(REFERENCE / "tasks.md", task_options.KNOWN) == []


def our_commands():
    """Yield each command of the app and of the demo with its parser."""
    for name, app in sorted(get_commands().items()):
        if isinstance(app, str) and app.split(".")[0] in ("django_jobqueue", "demo_project"):
            yield name, load_command_class(app, name).create_parser("manage.py", name)


def words_of(name, parser):
    """Yield what can be typed: the command, its subcommands, and their options as `subcommand --option`."""
    yield name
    everywhere = {option for action in BaseCommand().create_parser("", "")._actions for option in action.option_strings}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for subname, subparser in action.choices.items():
                yield from words_of(f"{name} {subname}", subparser)
        yield from (option for option in action.option_strings if option.startswith("--") and option not in everywhere)


def test_every_command_is_named_with_its_options():
    """Whatever can be typed after manage.py is on the page of commands."""
    words = {word for name, parser in our_commands() for word in words_of(name, parser)}

    assert {"runworker", "jobqueue dead replay", "--grace", "embedded_db reset"} <= words
    assert missing(REFERENCE / "commands.md", words) == []


def test_every_check_is_named():
    """The page of checks has each id that a check gives."""
    sources = [Path(module.__file__).read_text("utf-8") for module in (checks, task_checks)]
    ids = re.findall(r'id="django_jobqueue\.(\w+)"', "".join(sources))

    assert {"W001", "W009"} <= {*ids}
    assert missing(REFERENCE / "checks.md", ids) == []


def test_every_signal_and_logger_is_named():
    """The page of signals and logs has each signal that is sent, each logger, and each extra field of a record."""
    sources = {path: path.read_text("utf-8") for path in APP.rglob("*.py")}
    signals = {name for name in compat.__all__ if name.startswith("task_") and name != "task_backends"}
    loggers = {name for text in sources.values() for name in re.findall(r'getLogger\("([\w.]+)"\)', text)}
    for path, text in sources.items():
        if "getLogger(__name__)" in text:
            loggers.add(".".join(path.relative_to(ROOT).with_suffix("").parts))
    extra = re.search(r"extra = \{(.*?)\}", (APP / "worker" / "journal.py").read_text("utf-8"), re.DOTALL)

    names = signals | loggers | set(re.findall(r'"(\w+)":', extra[1]))
    assert {"task_enqueued", "django_jobqueue.worker", "job_id"} <= names
    assert missing(REFERENCE / "signals-and-logs.md", names) == []


@pytest.mark.parametrize("page", [REFERENCE / "models.md", DOCS / "guides" / "review-dead-letters.md"], ids=path_of)
def test_every_reason_is_named(page):
    """Why a job may die is told where columns are described, and where a person looks what to do."""
    assert missing(page, list(Reason)) == []


def test_every_reason_to_wait_is_named():
    """What a test may ask of a job that did not run is on the page that says so."""
    assert missing(DOCS / "guides" / "test-your-tasks.md", list(Why)) == []


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_column_is_named(model):
    """The page of models has a section for each model, with each of its columns and each value of a closed set."""
    text = (REFERENCE / "models.md").read_text("utf-8")
    section = text.split(f"\n## {model.__name__}\n")[1].split("\n## ")[0]
    columns = [field.name for field in model._meta.concrete_fields]
    values = [str(value) for field in model._meta.concrete_fields for value, _ in field.choices or []]

    assert [name for name in columns if f"| `{name}` |" not in section] == []
    assert [value for value in values if not re.search(rf"\b{value}\b", section)] == []


def test_every_refusal_is_named():
    """The page of operations has each code that a refusal of a verb carries."""
    sources = [APP / "operations.py", APP / "breakers.py", *(APP / "store").glob("*.py")]
    codes = {code for path in sources for code in re.findall(r'Refused\(\s*"(\w+)"', path.read_text("utf-8"))}

    assert "unique_key_taken" in codes
    assert missing(REFERENCE / "operations.md", codes) == []


# --- What pages point to


def fences(page, language):
    """Return the blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def prose(page):
    """Return a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page):
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_page
def test_every_link_leads_somewhere(page):
    """A relative link leads to a file that is there, and to a heading that is in it."""
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        path, _, anchor = target.partition("#")
        if re.match(r"\w+:", target):
            continue
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)

    assert broken == []


def test_the_quickstart_shows_what_the_worker_says():
    """The sample of a worker's first line is that of `runworker --processes 1`."""
    samples = re.findall(
        r"^Worker of (.+)\. Stop it with Ctrl-C\.$", (DOCS / "quickstart.md").read_text(), re.MULTILINE
    )

    assert samples == [WorkerPlan("default", Options(), processes=1).summary]


@every_page
def test_every_snippet_of_python_compiles(page):
    """What a page shows as Python is Python."""
    for snippet in fences(page, "python"):
        compile(snippet, str(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@every_page
def test_every_name_that_is_imported_exists(page):
    """What a snippet imports from the app can be imported."""
    for snippet in fences(page, "python"):
        for node in ast.walk(ast.parse(snippet)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("django_jobqueue"):
                module = importlib.import_module(node.module)
                assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []


@every_page
def test_every_file_that_is_named_exists(page):
    """A path of this repository that a page names is there."""
    named = re.findall(r"`((?:django_jobqueue|demo_project|tests|docs|benchmarks)/[\w./-]*)`", page.read_text("utf-8"))

    assert [path for path in named if not (ROOT / path).exists()] == []


@every_page
def test_every_test_that_is_named_exists(page):
    """A test that a page calls as witness is there, in the file that the page names."""
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", page.read_text("utf-8"))

    assert [name for file, name in named if f"def {name}(" not in (ROOT / file).read_text("utf-8")] == []


def test_each_page_can_be_reached():
    """Every page below docs/ is linked from another one."""
    linked = set()
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s#]+)", prose(page)):
            if (page.parent / target).resolve() != page:
                linked.add((page.parent / target).resolve())

    assert [path_of(page) for page in DOCS.rglob("*.md") if page not in linked] == []


def test_the_readme_is_short():
    """The README has fewer than 150 lines."""
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) < 150
