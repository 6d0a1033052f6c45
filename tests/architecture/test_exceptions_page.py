"""The page of exceptions says what the module says."""

import inspect
import re
from pathlib import Path

import django_jobqueue
from django_jobqueue import exceptions

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "exceptions.md"
CLASSES = {
    name: cls
    for name, cls in inspect.getmembers(exceptions, inspect.isclass)
    if cls.__module__ == exceptions.__name__ and not name.startswith("_")
}


def rows():
    """Read the tables: the cells of each row behind its name."""
    for line in PAGE.read_text("utf-8").splitlines():
        if found := re.match(r"\| `(\w+)` \|(.*)\|$", line):
            yield found[1], [cell.strip() for cell in found[2].split("|")]


def test_every_exception_has_its_row():
    """Each public class is there once, in the order of no importance, and nothing else is."""
    assert sorted(name for name, _ in rows()) == sorted(CLASSES)
    assert "LeaseLost" in CLASSES


def test_each_row_says_what_else_it_is():
    """Bases that are not those of the whole table, by their names."""
    for name, (also, *_rest) in rows():
        bases = {base.__name__ for base in CLASSES[name].__bases__} - {"JobQueueError", "TaskSignal", "Exception"}
        assert set(re.findall(r"`(\w+)`", also)) == bases, name


def test_the_tables_are_of_the_two_bases():
    """Errors stand in the first, what a task raises to steer itself in the second."""
    first, second = PAGE.read_text("utf-8").split("\n## ")[1:]
    for name, cls in CLASSES.items():
        assert f"| `{name}` |" in (second if issubclass(cls, exceptions.TaskSignal) else first)


def test_each_row_says_what_to_do():
    """No cell is empty but those of the bases and of what else a class is."""
    for name, (_also, by, todo) in rows():
        assert by, name
        assert todo or name == "TaskSignal"


def test_what_can_be_imported_from_the_package_is_named():
    """The page says which are also in `django_jobqueue`: what a task raises, and JobCancelled."""
    also = {name for name in CLASSES if getattr(django_jobqueue, name, None) is CLASSES[name]}

    assert also == {"Retry", "Snooze", "Reject", "JobCancelled"}
