"""The decorator: what a task may say, and what is refused where it is written."""

import copy
import functools
import pickle
import sys
import types
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime
from importlib import import_module

import django
import pytest
from asgiref.sync import async_to_sync
from django.db import transaction

from django_jobqueue import any_task, backoff, tasks
from django_jobqueue.compat import PACKAGE, InvalidTask, task_backends
from django_jobqueue.compat import Task as DjangoTask
from django_jobqueue.conf import Options
from django_jobqueue.exceptions import InvalidOptions
from django_jobqueue.tasks import Task, task
from tests import tasks as cast

OPTIONS = Options()


def charge(invoice_id):
    """Be the function that tests make tasks of."""
    return invoice_id


async def charge_async(invoice_id):
    """Be the coroutine that tests make tasks of."""
    return invoice_id


def charge_bit_by_bit(invoice_ids):
    """Be a generator, which a worker would make and not run."""
    yield from invoice_ids


async def charge_bit_by_bit_async(invoice_id):
    """Be the same as a coroutine that looks like one."""
    yield invoice_id


@transaction.atomic
def decorated(invoice_id):
    """Be a function under a decorator that keeps its name."""


def nameless_decorator(function):
    """Decorate without functools.wraps."""
    return lambda *args: function(args)


class Till:
    def method(self):
        """Be a method."""


@task(priority=7, queue_name="billing", max_attempts=5, timeout=30, owner="billing")
def declared_with_options(invoice_id):
    """Be a task with options, where copies can find it."""


plain = DjangoTask(
    func=charge,
    priority=0,
    queue_name="default",
    backend="default",
    run_after=None,
    takes_context=False,
)


@pytest.fixture(autouse=True)
def _isolated(monkeypatch):
    """Forget after each test what it declared."""
    monkeypatch.setattr(tasks, "_declared", dict(tasks._declared))


@pytest.fixture(params=["immediate.ImmediateBackend", "dummy.DummyBackend"])
def other_backend(request, settings):
    """Give the default alias to one of Django's own backends."""
    settings.TASKS = {"default": {"BACKEND": f"{PACKAGE}.backends.{request.param}", "QUEUES": []}}


def test_a_bare_decorator_is_enough():
    """Without options a task has the defaults of Django, and none of ours."""
    made = task(charge)

    assert isinstance(made, Task)
    assert isinstance(made, DjangoTask)
    assert (made.priority, made.queue_name, made.backend) == (0, "default", "default")
    assert made.name == "charge"
    assert made.func is charge


def test_options_are_kept():
    """What the decorator was given can be read from the task."""
    policy = backoff.constant(3)
    made = task(
        priority=7,
        queue_name="billing",
        takes_context=False,
        task_name="billing.charge",
        aliases=["old.charge"],
        max_attempts=5,
        backoff=policy,
        retry_on=[ConnectionError],
        never_retry=KeyError,
        timeout=30,
        owner="billing",
        runbook="https://wiki/charge",
        sensitive=["iban"],
    )(charge)

    assert (made.priority, made.queue_name) == (7, "billing")
    assert made.aliases == ("old.charge",)
    assert made.retry_on == (ConnectionError,)
    assert made.never_retry == (KeyError,)
    assert (made.max_attempts, made.backoff, made.timeout) == (5, policy, 30)
    assert (made.owner, made.runbook) == ("billing", "https://wiki/charge")
    assert (made.sensitive, any_task.sensitive_of(made), any_task.sensitive_of(plain)) == (("iban",), ("iban",), ())


def test_the_stored_name_is_the_path_unless_given():
    """Jobs are stored under the dotted path, or under task_name, so that a function may move."""
    assert any_task.stored_name(task(charge)) == "tests.test_tasks.charge"
    assert any_task.stored_name(plain) == "tests.test_tasks.charge"

    named = task(task_name="billing.charge", aliases=("old.charge", "billing.charge"))(charge)
    assert any_task.stored_name(named) == "billing.charge"
    assert any_task.names_of(named) == ("billing.charge", "old.charge")
    assert named.module_path == "tests.test_tasks.charge"
    assert named.name == "charge"


def test_using_keeps_the_options():
    """A variant differs in what `using` changed, and in nothing else."""
    made = task(max_attempts=9, timeout=5)(charge)
    moment = datetime(2040, 1, 1, tzinfo=UTC)
    variant = made.using(priority=3, queue_name="fast", run_after=moment)

    assert replace(variant, priority=0, queue_name="default", run_after=None) == made
    assert (variant.max_attempts, variant.timeout) == (9, 5)


def test_using_takes_what_django_takes():
    """What is not stored with a job cannot be given to one."""
    with pytest.raises(TypeError):
        task(charge).using(max_attempts=3)


@pytest.mark.usefixtures("other_backend")
def test_our_decorator_makes_our_task_on_any_backend():
    """A project may switch to Django's Immediate or Dummy backend, and keep its declarations."""
    made = task(max_attempts=5, queue_name="mail")(charge)

    assert isinstance(made, Task)
    assert made.max_attempts == 5


@pytest.mark.usefixtures("other_backend")
def test_other_backends_run_our_task():
    """Django's own backends take our tasks and ignore the options."""
    result = cast.give_back.enqueue({"a": 1})

    assert result.args == [{"a": 1}]
    assert result.id
    assert copy.deepcopy(result) == result


@pytest.mark.usefixtures("other_backend")
def test_other_backends_run_our_coroutine():
    """Django's own backends take our coroutines, too."""
    result = async_to_sync(cast.give_back_async.aenqueue)(1)

    assert result.args == [1]


def test_djangos_decorator_makes_our_task():
    """Where our backend is configured, Django's own @task makes a Task with our defaults."""
    made = task_backends["default"].task_class(
        func=charge,
        priority=0,
        queue_name="default",
        backend="default",
        takes_context=False,
        run_after=None,
    )

    assert isinstance(made, Task)


@pytest.mark.skipif((6,) <= django.VERSION < (6, 1), reason="Django 6.0's decorator takes no options of a backend")
def test_djangos_decorator_passes_our_options_on():
    """On Django 5.2 and 6.1 Django's own @task takes ours where our backend is configured, and unknown ones nowhere."""
    decorate = import_module(PACKAGE).task

    assert decorate(max_attempts=5)(charge).max_attempts == 5
    with pytest.raises(TypeError, match="max_atempts"):
        decorate(max_atempts=5)(charge)


def test_copies_are_equal():
    """A task survives the copying that Django's Dummy backend does."""
    assert copy.deepcopy(declared_with_options) == declared_with_options
    assert hash(copy.deepcopy(declared_with_options)) == hash(declared_with_options)


@pytest.mark.skipif(django.VERSION < (6, 1), reason="before Django 6.1 no Task can be pickled")
def test_tasks_can_be_pickled():
    """A task travels by the path of its function, with its options."""
    assert pickle.loads(pickle.dumps(declared_with_options)) == declared_with_options


def test_tasks_are_frozen():
    """Nobody can change a task for everybody."""
    with pytest.raises(FrozenInstanceError):
        task(charge).timeout = 3


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda: 0, "a lambda has no name"),
        (functools.partial(charge, 1), "not a plain function"),
        (Till.method, "it is a method"),
        (Till().method, "not a plain function"),
        (Till, "not a plain function"),
        (print, "not a plain function"),
        (nameless_decorator(charge), "lambda"),
        (None.__class__, "not a plain function"),
        ("tests.test_tasks.charge", "not a plain function"),
    ],
)
def test_a_function_without_a_stable_name_is_refused(function, words):
    """What a worker could not find by its name is refused where it is declared."""
    with pytest.raises(InvalidTask, match=words):
        task(queue_name="x")(function)


def test_a_nested_function_is_refused():
    """A function inside another one is refused, with the ways out."""

    def nested():
        """Be nested."""

    with pytest.raises(InvalidTask, match=r"inside another function.*functools\.wraps"):
        task(nested)


def test_a_function_of_the_script_is_refused():
    """A function of `__main__` is another module's in a worker."""
    module = types.ModuleType("__main__")
    exec("def charge(): pass", module.__dict__)

    with pytest.raises(InvalidTask, match="move it to a module of an app"):
        task(task_name="billing.charge")(module.charge)


@pytest.mark.parametrize("function", [charge_bit_by_bit, charge_bit_by_bit_async])
def test_a_generator_is_refused(function):
    """To call it would run none of it, and succeed."""
    with pytest.raises(InvalidTask, match=r"charge_bit_by_bit.*has a `yield`: to call it makes a generator"):
        task(function)


def test_what_the_backend_refuses_names_the_task():
    """Django's words for a wrong priority do not say whose it is; ours begin with the task."""
    with pytest.raises(InvalidTask, match=r"^task tests\.test_tasks\.charge: priority is a whole number"):
        task(priority="high")(charge)


def test_a_wrapped_function_is_fine():
    """A decorator that keeps the name keeps the task findable."""
    assert task(decorated).module_path == "tests.test_tasks.decorated"


def test_a_path_too_long_to_store_asks_for_a_name():
    """A dotted path of more than 255 characters needs a task_name."""
    module = types.ModuleType("a" * 250)
    exec("def charge(): pass", module.__dict__)

    with pytest.raises(InvalidTask, match="give it a task_name"):
        task(module.charge)
    assert task(task_name="charge")(module.charge)


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("max_attempts", 0, "whole number from 1"),
        ("max_attempts", -1, "whole number from 1"),
        ("max_attempts", 32_768, "whole number from 1"),
        ("max_attempts", "3", "whole number from 1"),
        ("max_attempts", 2.0, "whole number from 1"),
        ("max_attempts", True, "whole number from 1"),
        ("timeout", 0, "above zero"),
        ("timeout", -1, "above zero"),
        ("timeout", "30", "above zero"),
        ("timeout", float("nan"), "above zero"),
        ("timeout", float("inf"), "above zero"),
        ("timeout", True, "above zero"),
        ("retry_on", ("ValueError",), "exception classes"),
        ("retry_on", ValueError("instance"), "exception classes"),
        ("retry_on", int, "exception classes"),
        ("never_retry", (int,), "exception classes"),
        ("never_retry", None, "exception classes"),
        ("backoff", "exponential", "django_jobqueue.backoff"),
        ("backoff", 10, "django_jobqueue.backoff"),
        ("backoff", int, "django_jobqueue.backoff"),
        ("backoff", charge_async, "cannot be awaited"),
        ("task_name", "", "letters, digits"),
        ("task_name", "x" * 256, "letters, digits"),
        ("task_name", "two words", "letters, digits"),
        ("task_name", "line\n", "letters, digits"),
        ("task_name", 5, "letters, digits"),
        ("aliases", "old.charge", "tuple of names"),
        ("aliases", ("",), "letters, digits"),
        ("owner", None, "text"),
        ("owner", "x" * 256, "text"),
        ("runbook", 5, "text"),
        ("sensitive", "iban", r"as in \('iban',\)"),
        ("sensitive", ("iban", ""), "tuple of names"),
        ("sensitive", {"iban": 1}, "tuple of names"),
    ],
)
def test_a_wrong_option_is_refused_where_it_is_written(option, value, words):
    """The error names the task, the option, the value and what it takes."""
    with pytest.raises(InvalidOptions, match=words) as refused:
        task(**{option: value})(charge)

    assert str(refused.value).startswith(f"task tests.test_tasks.charge: {option} ")
    assert repr(value)[:20] in str(refused.value)


def test_every_fault_of_a_task_is_named():
    """Two wrong options are told in one error."""
    with pytest.raises(InvalidOptions, match=r"max_attempts.*; timeout"):
        task(max_attempts=0, timeout=0)(charge)


def test_contradicting_exceptions_are_refused():
    """A class cannot be retried and never be retried."""
    with pytest.raises(InvalidOptions, match="ValueError is in retry_on and in never_retry"):
        task(retry_on=(ValueError,), never_retry=(ValueError,))(charge)


def test_an_unknown_option_names_the_nearest():
    """A typo is answered with the word that was meant."""
    with pytest.raises(InvalidOptions, match=r"^task .*\.charge: .*'max_attemps'; did you mean 'max_attempts'"):
        task(max_attemps=3)(charge)


def test_an_unknown_option_like_no_other_lists_them_all():
    """What resembles nothing is answered with what there is."""
    with pytest.raises(InvalidOptions, match="known are aliases, atomic, backend, backoff"):
        task(zzz=3)(charge)


def test_a_time_for_every_job_is_refused():
    """run_after belongs to one job; the error says how to give it."""
    with pytest.raises(InvalidOptions, match=r"\.using\(run_after"):
        task(run_after=datetime(2040, 1, 1, tzinfo=UTC))(charge)


def test_what_a_task_says_overrules_the_options():
    """max_attempts is the task's, or else the backend's."""
    assert any_task.max_attempts_of(task(charge), OPTIONS) == 3
    assert any_task.max_attempts_of(task(max_attempts=9)(charge), OPTIONS) == 9
    assert any_task.max_attempts_of(plain, Options(max_attempts=4)) == 4


def test_a_plain_task_has_the_defaults():
    """Django's own Task is answered for as if it had said nothing."""
    assert any_task.timeout_of(plain) is None
    assert any_task.owner_of(plain) == ""
    assert any_task.declared_backoff_of(plain) == backoff.exponential()
    assert any_task.may_retry(plain, ValueError())


def test_the_policy_of_a_job_is_its_rows_and_its_tasks():
    """max_attempts was fixed when the job was enqueued; the rest is the code's of today."""
    made = task(max_attempts=9, backoff=backoff.constant(3))(charge)
    policy = any_task.policy_of(made, OPTIONS, max_attempts=2)

    assert policy.max_attempts == 2
    assert policy.backoff == backoff.constant(3)
    assert (policy.max_interruptions, policy.max_snoozes) == (20, 1000)
    assert any_task.policy_of(made, OPTIONS).max_attempts == 9


def test_a_function_as_back_off_is_kept_for_the_runner():
    """Who cannot call the task's code uses the default back-off instead."""
    made = task(backoff=lambda exception, task_result: 5)(charge)

    assert made.backoff(None, None) == 5
    assert any_task.declared_backoff_of(made) == backoff.exponential()


@pytest.mark.parametrize(
    ("options", "exception", "allowed"),
    [
        ({}, ValueError(), True),
        ({"retry_on": (OSError,)}, ConnectionError(), True),
        ({"retry_on": (OSError,)}, ValueError(), False),
        ({"retry_on": ()}, ValueError(), False),
        ({"never_retry": (LookupError,)}, KeyError(), False),
        ({"retry_on": (OSError,), "never_retry": (ConnectionError,)}, ConnectionError(), False),
        ({"retry_on": (OSError,), "never_retry": (ConnectionError,)}, OSError(), True),
    ],
)
def test_which_failures_are_worth_another_attempt(options, exception, allowed):
    """never_retry is stronger than retry_on, and both count subclasses."""
    assert any_task.may_retry(task(**options)(charge), exception) is allowed


def test_an_exception_that_lies_about_its_class_is_judged_by_its_type():
    """The verdict on a failure does not depend on the failure's own code."""

    class Liar(Exception):
        @property
        def __class__(self):
            raise RuntimeError("no class")

    assert any_task.may_retry(task(never_retry=(KeyError,))(charge), Liar())


def test_modules_declare_once():
    """Variants of a task do not replace its declaration."""
    made = task(max_attempts=7)(charge)
    made.using(priority=50)

    assert tasks.declared()["tests.test_tasks.charge"] is made
    assert sys.modules[__name__].charge is charge
