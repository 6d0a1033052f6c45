"""The package itself: what importing it does, and does not."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import django_jobqueue
from django_jobqueue import exceptions, tasks


def test_public_names():
    """The names a project writes are importable from the package."""
    assert django_jobqueue.task is tasks.task
    assert django_jobqueue.Retry is exceptions.Retry
    assert django_jobqueue.Snooze is exceptions.Snooze
    assert django_jobqueue.Reject is exceptions.Reject
    assert set(django_jobqueue.__all__) <= set(dir(django_jobqueue))


def test_an_unknown_name_is_an_attribute_error():
    """A name that is not public is reported as Python does."""
    with pytest.raises(AttributeError, match="has no attribute 'retry'"):
        _ = django_jobqueue.retry


def test_importing_it_needs_no_settings():
    """INSTALLED_APPS may name the package before settings and apps are ready."""
    program = (
        "import sys, django_jobqueue; from django_jobqueue import Retry, __version__\n"
        "from django.conf import settings\n"
        "assert not settings.configured\n"
        "assert 'django_jobqueue.models' not in sys.modules\n"
    )
    environment = {"PATH": "", "PYTHONPATH": ":".join(sys.path)}
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)

    assert result.returncode == 0, result.stderr


def test_the_extra_for_django_52_keeps_newer_ones_out():
    """Where Python would get Django 6 by itself, the extra installs 5.2 and the backport."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    required = {one.name: one for one in map(Requirement, project["optional-dependencies"]["django52"])}

    assert sorted(required) == ["django", "django-tasks"]
    assert [version for version in ("5.1", "5.2", "5.2.19", "6.0") if version in required["django"].specifier] == [
        "5.2",
        "5.2.19",
    ]
