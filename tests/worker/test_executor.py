"""The executor: whatever a task does, its attempt ends in an outcome."""

import asyncio
import json

import pytest

import tests.tasks
from django_jobqueue.compat import task_started
from django_jobqueue.policy.outcomes import Failed, Snoozed, Succeeded, TimedOut, Verdict
from django_jobqueue.worker import executor
from tests.worker import cast
from tests.worker.orders import BOUNDS, Text, run, run_async

pytestmark = pytest.mark.django_db(transaction=True, available_apps=["django_jobqueue"])


@pytest.mark.parametrize("value", [None, 0, "text", [1, {"a": None}], 1.5, "漢字 🎈"])
def test_a_return_value_is_a_success(value):
    """What a task returns is stored as JSON."""
    outcome = run(cast.give, value)

    assert isinstance(outcome, Succeeded)
    assert json.loads(outcome.result) == value


@pytest.mark.parametrize(("task", "args"), [(cast.give_object, ()), (cast.give_much, (BOUNDS.max_result_bytes,))])
def test_a_result_that_cannot_be_stored_is_a_failure(task, args):
    """What is no JSON, or too much of it, is an invalid result: to run the task again would not help."""
    outcome = run(task, *args)

    assert (type(outcome), outcome.verdict) == (Failed, Verdict.INVALID_RESULT)
    assert "result" in outcome.failure.message


EXCEPTION_CLASSES = {
    "exit 0": "builtins.SystemExit",
    "exit 1": "builtins.SystemExit",
    "exit with words": "builtins.SystemExit",
    "interrupt": "builtins.KeyboardInterrupt",
    "generator exit": "builtins.GeneratorExit",
    "cancelled": "asyncio.exceptions.CancelledError",
    "odd": "tests.worker.cast.Odd",
    "boom": "tests.worker.cast.Boom",
    "stop": "builtins.StopIteration",
    "memory": "builtins.MemoryError",
    "recursion": "builtins.RecursionError",
    "group": "builtins.ExceptionGroup",
    "shy": "tests.worker.cast.Shy",
    "half made": "tests.worker.cast.HalfMade",
    "snooze for nan": "tests.worker.cast.NeverEnding",
    "snooze for words": "tests.worker.cast.NeverEnding",
    "surrogate": "tests.worker.cast.Boom",
}


@pytest.mark.parametrize("how", EXCEPTION_CLASSES)
def test_whatever_a_function_raises_is_a_failed_attempt(how):
    """No exception gets past the executor: each is a failure that names its class, and may be retried."""
    outcome = run(cast.end, how)

    assert (type(outcome), outcome.verdict, outcome.after_seconds) == (Failed, Verdict.RETRYABLE, None)
    assert outcome.failure.exception_class == EXCEPTION_CLASSES[how]
    assert "in come_to" in outcome.failure.traceback or how.startswith("exit")


@pytest.mark.parametrize("how", [how for how in EXCEPTION_CLASSES if how != "stop"])
def test_whatever_a_coroutine_raises_is_a_failed_attempt(how):
    """No exception gets past the executor into the event loop, KeyboardInterrupt and CancelledError included."""
    outcome = run_async(cast.end_async, how)

    assert (type(outcome), outcome.verdict) == (Failed, Verdict.RETRYABLE)
    assert outcome.failure.exception_class == EXCEPTION_CLASSES[how]


def test_what_cannot_be_stored_is_written_as_an_escape():
    """Half a surrogate pair and NUL, which PostgreSQL cannot hold, are readable in the stored message."""
    assert run(cast.end, "surrogate").failure.message == "half a pair: \\ud800 and \\x00"


@pytest.mark.parametrize("after", [None, 0.0, 12.5])
def test_retry_is_a_failure_that_says_when(after):
    """Retry is charged, and asks for a wait or leaves it to the back-off."""
    outcome = run(cast.retry, after)

    assert (type(outcome), outcome.verdict, outcome.after_seconds) == (Failed, Verdict.RETRYABLE, after)


def test_snooze_is_no_failure():
    """Snooze asks to be called later."""
    assert run(cast.snooze, 60) == Snoozed(60.0)


def test_reject_is_final():
    """Reject goes to the dead letters, with its reason."""
    outcome = run(cast.reject, "no such customer")

    assert (type(outcome), outcome.verdict) == (Failed, Verdict.REJECTED)
    assert outcome.failure.message == "no such customer"


@pytest.mark.parametrize(
    "damage",
    [{"args": {}}, {"args": None}, {"args": "abc"}, {"args": 5}, {"kwargs": []}, {"kwargs": None}, {"kwargs": "abc"}],
    ids=str,
)
@pytest.mark.parametrize("task", [cast.give, cast.end_async], ids=["function", "coroutine"])
def test_a_damaged_payload_is_invalid(task, damage):
    """Stored arguments that are no list, or no object, never reach the task."""
    outcome = (run if task is cast.give else run_async)(task, **damage)

    assert (type(outcome), outcome.verdict) == (Failed, Verdict.INVALID_PAYLOAD)
    assert type(next(iter(damage.values()))).__name__ in outcome.failure.message


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [([], {}), ([1, 2, "hunter2"], {}), ([1], {"d": "hunter2"}), (["hunter2"], {"a": 1}), ([], {"b": "hunter2"})],
    ids=str,
)
@pytest.mark.parametrize("task", [cast.add, cast.add_decorated], ids=["plain", "decorated"])
def test_arguments_that_do_not_fit_are_invalid(task, args, kwargs):
    """A call that the function's signature refuses will be refused the next time too; the values are not told."""
    outcome = run(task, args=args, kwargs=kwargs)

    assert (type(outcome), outcome.verdict) == (Failed, Verdict.INVALID_PAYLOAD)
    assert f"{task.module_path} does not take the stored arguments: " in outcome.failure.message
    assert "hunter2" not in str(outcome.failure)


def test_what_a_decorator_does_not_take_is_invalid():
    """The call goes to the decorator, whatever its function would take."""
    assert run(cast.add_narrowed, 1, 2).verdict == Verdict.INVALID_PAYLOAD


def test_what_a_decorator_passes_on_and_does_not_fit_is_invalid():
    """Its own call fails: Python says of which parameter, and no attempt more would help."""
    outcome = run(cast.add_with_client, kwargs={"client": "hunter2"})

    assert outcome.verdict == Verdict.INVALID_PAYLOAD
    assert "add_with_client() got multiple values for argument 'client'" in outcome.failure.message
    assert "hunter2" not in str(outcome.failure)


@pytest.mark.parametrize("by_another", [True, False])
def test_a_mistake_of_a_decorator_is_an_ordinary_failure(by_another):
    """Only its own call of the function, with what it was given, says that this does not fit."""
    assert run(cast.misuse_in_a_decorator, by_another).verdict == Verdict.RETRYABLE


@pytest.mark.parametrize(
    ("version", "args", "kwargs"), [(1, [5], {}), (2, [], {"amount": 5}), (3, [], {"amount": 5, "currency": "EUR"})]
)
def test_older_arguments_are_upgraded_before_the_call(version, args, kwargs):
    """Step by step, from the version that the job was stored with."""
    assert run(tests.tasks.pay, version=version, args=args, kwargs=kwargs) == Succeeded('"5 EUR"')


def test_older_arguments_that_cannot_be_upgraded_are_invalid():
    """The dead letter says which step failed."""
    outcome = run(tests.tasks.pay, version=1)

    assert outcome.verdict == Verdict.INVALID_PAYLOAD
    assert "upgrade 1 raised IndexError" in outcome.failure.message


def test_arguments_are_passed_by_place_and_name():
    """args and kwargs arrive as they were given."""
    assert run(cast.add, args=[10], kwargs={"c": 5}) == Succeeded("16")


def test_a_type_error_inside_the_task_is_an_ordinary_failure():
    """Only a call that does not fit is invalid: the task's own mistakes may be mended by a deploy."""
    assert run(cast.misuse).verdict == Verdict.RETRYABLE
    assert run(cast.misuse_what_is_given, 1).verdict == Verdict.RETRYABLE


def test_a_task_that_nobody_knows():
    """A name without a task is a failure of its own kind."""
    outcome = run(None)

    assert (type(outcome), outcome.verdict) == (Failed, Verdict.UNKNOWN_TASK)
    assert "gone.task" in outcome.failure.message


@pytest.mark.parametrize(
    ("how", "verdict"),
    [
        ("boom", Verdict.RETRYABLE),
        ("big boom", Verdict.NOT_RETRYABLE),
        ("memory", Verdict.NOT_RETRYABLE),
        ("exit 0", Verdict.NOT_RETRYABLE),
    ],
)
def test_the_task_says_what_is_worth_another_attempt(how, verdict):
    """retry_on names what to try again, never_retry is stronger; subclasses count."""
    assert run(cast.choosy, how).verdict == verdict


def test_a_rule_that_cannot_be_asked_is_no_obstacle():
    """Where never_retry itself raises, the attempt is an ordinary failure with the task's own error."""
    outcome = run(cast.touchy)

    assert (type(outcome), outcome.verdict) == (Failed, Verdict.RETRYABLE)
    assert outcome.failure.exception_class == "tests.worker.cast.Boom"


@pytest.mark.parametrize(
    ("how", "seconds"),
    [("ten", 10.0), ("none", None), ("negative", 0.0), ("inf", float("inf")), ("sum up", 3.0)],
)
def test_a_callable_back_off_is_asked(how, seconds):
    """The task's own function says how long to wait: it is given the exception and the TaskResult."""
    assert run(cast.fail_and_ask, how).after_seconds == seconds


@pytest.mark.parametrize("how", ["words", "boom", "exit 0", "interrupt", "odd", "shy", "recursion"])
def test_a_back_off_that_fails_leaves_it_to_the_default(how, caplog):
    """Whatever the back-off raises, the attempt failed by the task's own error; the log tells of the other."""
    outcome = run(cast.fail_and_ask, how)

    assert (type(outcome), outcome.verdict, outcome.after_seconds) == (Failed, Verdict.RETRYABLE, None)
    assert outcome.failure.message == how
    assert "back-off" in caplog.text


def test_a_back_off_that_is_no_number_is_none():
    """NaN is no wait that could be stored."""
    assert run(cast.fail_and_ask, "nan").after_seconds in (None, 0.0)


def test_a_declared_back_off_is_left_to_the_keeper():
    """A policy needs no code of the task; the runner does not ask it."""
    assert run(cast.fail_with_policy).after_seconds is None


def test_a_coroutine_is_cancelled_at_its_limit():
    """A coroutine that waits for too long is timed out, and the traceback says where it was."""
    outcome = run_async(cast.hang)

    assert isinstance(outcome, TimedOut)
    assert "0.05 s" in outcome.failure.message
    assert "in hang" in outcome.failure.traceback


@pytest.mark.parametrize("outcome", [lambda: run(cast.end, "boom"), lambda: run_async(cast.end_async, "boom")])
def test_a_traceback_begins_with_the_task(outcome):
    """The first line that a person reads is of their own code, not of what called it."""
    first, second = outcome().failure.traceback.splitlines()[:2]

    assert first == "Traceback (most recent call last):"
    assert f'File "{cast.__file__}"' in second


def test_an_error_of_this_app_keeps_its_traceback():
    """Where no code but this app's has failed, it is shown."""
    assert "storable_json.py" in run(cast.give_object).failure.traceback


def test_a_time_out_of_the_task_s_own_is_a_failure():
    """A TimeoutError that the limit has nothing to do with is like any other error."""
    outcome = run_async(cast.time_out_by_itself)

    assert isinstance(outcome, Failed)
    assert outcome.failure.message == "the bank does not answer"


def test_a_coroutine_that_fails_on_the_way_out_has_failed():
    """What a cancelled coroutine raises instead is what there is to tell."""
    outcome = run_async(cast.tidy_up_when_cancelled)

    assert (type(outcome), outcome.failure.exception_class) == (Failed, "tests.worker.cast.Boom")


def test_a_coroutine_that_hides_its_error_on_the_way_out_has_failed():
    """An exception that will not say its class is a failure too; asyncio may ask it, and then fails itself."""
    outcome = run_async(cast.hide_when_cancelled)

    assert isinstance(outcome, Failed)
    assert outcome.failure.exception_class in ("tests.worker.cast.Shy", "builtins.RuntimeError")


def test_a_task_is_given_its_context():
    """The context knows the attempt, the job and the key that stays the same through retries."""
    outcome = run(cast.tell_context, 1, kwargs={"b": 2}, attempt_number=3, worker_ids=["w1", "w2", "w3"])

    assert json.loads(outcome.result) == {
        "attempt": 3,
        "job_id": 42,
        "key": "42",
        "status": "RUNNING",
        "worker_ids": ["w1", "w2", "w3"],
        "enqueued_at": "2026-11-29T16:10:00.250000+00:00",
        "args": [1],
        "kwargs": {"b": 2},
    }


def test_attempts_are_counted_where_workers_are_not_known():
    """A history that was pruned does not make a later attempt the first."""
    outcome = run(cast.tell_context, attempt_number=5, worker_ids=["w5"])

    assert json.loads(outcome.result)["attempt"] == 5


@pytest.fixture
def receiver():
    """Connect receivers of task_started; they are disconnected in the end."""
    connected = []

    def connect(call):
        task_started.connect(call, weak=False)
        connected.append(call)

    yield connect
    for call in connected:
        task_started.disconnect(call)


@pytest.mark.parametrize("attempt", [run, run_async], ids=["function", "coroutine"])
def test_task_started_is_sent_before_the_task_runs(receiver, attempt):
    """A receiver is told of the attempt, with the task and its arguments."""
    heard = []
    receiver(lambda sender, task_result, **_: heard.append((sender.__name__, task_result.id, task_result.args)))
    task, argument = (cast.give, "x") if attempt is run else (cast.end_async, "boom")

    attempt(task, argument)

    assert heard == [("JobQueueBackend", "42", [argument])]


@pytest.mark.parametrize("how", ["boom", "exit 0", "interrupt", "odd", "cancelled"])
@pytest.mark.parametrize("attempt", [run, run_async], ids=["function", "coroutine"])
def test_a_receiver_that_raises_is_no_obstacle(receiver, attempt, how):
    """A receiver is a guest: what it raises does not become the job's outcome, nor end its runner."""
    receiver(lambda **_: cast.come_to(how))

    if attempt is run:
        assert run(cast.give, "done") == Succeeded('"done"')
    else:
        assert isinstance(run_async(cast.snooze_async, 5), Snoozed)


@pytest.mark.parametrize("attempt", [run, run_async], ids=["function", "coroutine"])
def test_a_receiver_may_be_a_coroutine(receiver, attempt):
    """An async receiver is told too, wherever the task runs."""
    heard = []

    async def listen(task_result, **_):
        heard.append(task_result.id)

    receiver(listen)
    attempt(cast.give if attempt is run else cast.snooze_async, 5)

    assert heard == ["42"]


def test_arguments_that_cannot_be_parsed_are_the_job_s_own_trouble():
    """A number too long for Python, and nesting too deep for it, are a damaged payload and no crash."""
    digits = run(cast.give, args=Text("[" + "9" * 5000 + "]"))
    nested = run(cast.give, args=Text("[" * 200_000 + "]" * 200_000))

    assert [outcome.verdict for outcome in (digits, nested)] == ["invalid_payload", "invalid_payload"]


def test_the_idempotency_key_tells_edited_replays_apart():
    """The key is the job's id; after the second replay with edited arguments it is `id:2`."""
    first, edited = (run(cast.tell_its_key, edit_count=count) for count in (0, 2))

    assert [outcome.result for outcome in (first, edited)] == ['"42"', '"42:2"']


@pytest.mark.parametrize(("how", "task"), [(run, cast.give), (run_async, cast.give_async)])
@pytest.mark.parametrize("is_limited", [True, False])
def test_the_begin_of_a_task_that_has_a_limit_is_told(how, task, is_limited):
    """Its turn has come, receivers of task_started, the call of the task; without a limit nobody needs the words."""
    heard = []

    def listen(**_facts):
        heard.append("receiver")

    task_started.connect(listen)
    try:
        how(task, 1, is_limited=is_limited, tell=heard.append)
    finally:
        task_started.disconnect(listen)

    assert heard == (["taken", "receiver", "begun"] if is_limited else ["receiver"])


def test_a_receiver_that_never_returns_does_not_keep_a_coroutine_from_its_start(monkeypatch):
    """A receiver of task_started that is a coroutine is left behind after a while, and the log says so."""
    monkeypatch.setattr(executor, "RECEIVER_SECONDS", 0.01)

    async def never_return(**_facts):
        await asyncio.sleep(3600)

    task_started.connect(never_return)
    try:
        outcome = run_async(cast.give_async, 1)
    finally:
        task_started.disconnect(never_return)

    assert outcome == Succeeded("1")
