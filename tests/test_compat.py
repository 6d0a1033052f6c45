"""Django Tasks from one place."""

import subprocess
import sys
import textwrap
from importlib.util import find_spec

import django
import pytest

from django_jobqueue import compat


def run(source):
    """Run a program in a fresh interpreter and return it."""
    return subprocess.run([sys.executable, "-c", textwrap.dedent(source)], capture_output=True, text=True)


def test_djangos_own_tasks_win():
    """Where Django has tasks, the backport is not used even if it is installed."""
    assert ("django.tasks" if django.VERSION >= (6,) else "django_tasks") == compat.PACKAGE
    assert compat.Task.__module__ == f"{compat.PACKAGE}.base"


@pytest.mark.parametrize("name", [n for n in compat.__all__ if n.startswith("Any")])
def test_any_names_are_the_classes(name):
    """The names for annotations are the classes themselves when the program runs."""
    assert getattr(compat, name) is getattr(compat, name.removeprefix("Any"))


def test_every_name_is_there():
    """Each name has one spelling here, whatever the backport calls it."""
    assert all(getattr(compat, name) is not None for name in compat.__all__)
    assert issubclass(compat.InvalidTask, Exception)
    assert issubclass(compat.InvalidTaskBackend, Exception)


def test_without_either_the_error_says_what_to_type():
    """On Django 5.2 without the backport, the import says which extra to install."""
    result = run(
        """
        import importlib.util
        found = importlib.util.find_spec
        hidden = ("django.tasks", "django_tasks")
        importlib.util.find_spec = lambda name: None if name in hidden else found(name)
        import django_jobqueue.compat
        """
    )

    assert "pip install django-jobqueue[django52]" in result.stderr


@pytest.mark.skipif(not find_spec("django_tasks"), reason="the backport is not installed")
def test_both_spellings_of_the_backport_are_understood():
    """Later versions of the backport call their exceptions as Django does."""
    result = run(
        """
        import importlib.util
        found = importlib.util.find_spec
        importlib.util.find_spec = lambda name: None if name == "django.tasks" else found(name)
        from django_tasks import exceptions
        class InvalidTask(Exception): pass
        exceptions.InvalidTask = InvalidTask
        from django_jobqueue import compat
        assert compat.InvalidTask is InvalidTask
        """
    )

    assert result.returncode == 0, result.stderr
