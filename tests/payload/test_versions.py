"""Older arguments are brought up to the code that runs, step by step, or an error says which step failed."""

import re
import sys
import traceback

import pytest

from django_jobqueue import task
from django_jobqueue.exceptions import InvalidOptions, InvalidPayload
from django_jobqueue.payload.versions import upgraded

STEPS = {
    1: lambda args, kwargs: ([], {"amount": args[0]}),
    2: lambda args, kwargs: (args, kwargs | {"currency": "EUR"}),
}


def charge(amount, currency): ...


def step(args, kwargs): ...


@pytest.mark.parametrize(
    ("stored", "args", "kwargs"), [(1, [5], {}), (2, [], {"amount": 5}), (3, [], {"amount": 5, "currency": "EUR"})]
)
def test_arguments_go_through_the_steps_that_they_lack(stored, args, kwargs):
    """From each version to the newest; what is of the newest is left as it is."""
    assert upgraded(args, kwargs, stored=stored, version=3, steps=STEPS) == ([], {"amount": 5, "currency": "EUR"})


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ({1: lambda args, kwargs: args[7]}, "args and kwargs: upgrade 1 raised IndexError"),
        ({1: lambda args, kwargs: kwargs}, "args and kwargs: upgrade 1 returns (args, kwargs), a list and a dict"),
        ({1: lambda args, kwargs: ((), kwargs)}, "args and kwargs: upgrade 1 returns (args, kwargs)"),
        ({1: lambda args, kwargs: (args, {1: 2})}, "args and kwargs: upgrade 1 returns (args, kwargs)"),
        ({1: lambda args, kwargs: sys.exit(3)}, "args and kwargs: upgrade 1 raised SystemExit"),
        ({1: lambda args: args}, "args and kwargs: upgrade 1 raised TypeError"),
    ],
)
def test_a_step_that_fails_is_named(steps, words):
    """With what it raised, and not with what it was given."""
    with pytest.raises(InvalidPayload) as error:
        upgraded(["hunter2"], {}, stored=1, version=2, steps=steps)

    assert str(error.value).startswith(words)
    assert "hunter2" not in str(error.value)


def look_it_up(args, kwargs):
    return {}[args[0]]


def test_what_a_step_raises_is_told_by_its_class_and_place():
    """Its words may hold a value: they are in no traceback of who edits a replay either."""
    with pytest.raises(InvalidPayload) as error:
        upgraded(["hunter" + "2"], {}, stored=1, version=2, steps={1: look_it_up})

    assert "hunter2" not in "".join(traceback.format_exception(error.value))
    assert re.search(r"upgrade 1 raised KeyError \(.*test_versions\.py, line \d+\)$", str(error.value))
    assert error.value.__cause__ is error.value.__context__ is None


def test_what_is_newer_than_the_code_is_refused():
    """Nothing leads back."""
    with pytest.raises(InvalidPayload, match="are of version 3, and the code here knows version 2 at most"):
        upgraded([], {}, stored=3, version=2, steps=STEPS)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"version": 3, "upgrade": {2: step}}, "upgrade has nothing for version 1; jobs of it would not fit"),
        ({"version": 2}, "upgrade has nothing for version 1"),
        ({"version": 2, "upgrade": {1: step, 2: step}}, "upgrade names version 2; version is 2"),
        ({"upgrade": {0: step}}, "upgrade names version 0; version is 1"),
        ({"version": 0}, "version is a whole number from 1 to 32767; got 0"),
        ({"version": True}, "version is a whole number"),
        ({"version": 2, "upgrade": {"1": step}}, "upgrade is a dict of earlier versions and functions"),
        ({"version": 2, "upgrade": {1: "step"}}, "upgrade is a dict of earlier versions and functions"),
        ({"version": 2, "upgrade": step}, "upgrade is a dict of earlier versions and functions"),
    ],
    ids=str,
)
def test_versions_without_a_way_are_told_where_the_task_is_declared(options, words):
    """Every older version has a step, and nothing else has one."""
    with pytest.raises(InvalidOptions, match=words):
        task(**options)(charge)
