"""What a reference stands for is given to the task, and to nobody else."""

import asyncio
import logging
from dataclasses import dataclass

import pytest

from django_jobqueue import Retry, Secret, once, running, task
from django_jobqueue.compat import task_started
from django_jobqueue.policy.outcomes import Failed, Succeeded, TimedOut, Verdict
from django_jobqueue.worker import discretion
from tests import vault
from tests.worker import orders

pytestmark = pytest.mark.django_db(transaction=True, available_apps=["django_jobqueue"])

VALUE = "sk-live-unlikely-51c2 <&> \"'é"
STORED = {"$secret": "settings:STAGE_STRIPE"}
VAULT = {"$secret": "vault:kv/stripe#key"}


@pytest.fixture(autouse=True)
def _the_project(settings, monkeypatch):
    """Have secrets in the settings and the environment, under names that say nothing; nothing was looked up before."""
    settings.STAGE_STRIPE = VALUE
    settings.STAGE_PROVIDERS = {"stripe": {"key": VALUE, "n": 7}, "list": ["a-first", VALUE]}
    monkeypatch.setenv("STAGE_STRIPE", VALUE)
    monkeypatch.setattr(discretion, "_remembered", {})
    vault.asked.clear()
    vault.loops.clear()


given = []


@pytest.fixture(autouse=True)
def _nothing_given():
    given.clear()


def keep(*args, **kwargs):
    given.append((args, kwargs))


async def keep_async(*args, **kwargs):
    given.append((args, kwargs))


def said(outcome):
    assert isinstance(outcome, Failed), outcome
    return f"{outcome.failure.message}\n{outcome.failure.traceback}"


def hidden(words):
    """Whether no form of the value can be read in words."""
    return not any(part in words for part in ("sk-live", "51c2", "unlikely"))


REFERENCES = [
    "settings:STAGE_STRIPE",
    "settings:STAGE_PROVIDERS.stripe.key",
    "settings:STAGE_PROVIDERS.list.1",
    "env:STAGE_STRIPE",
]


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("function", [keep, keep_async])
def test_the_task_gets_the_value(function, reference):
    """Plain text in the place of the reference, by place, by name and inside."""
    stored = {"$secret": reference}
    run = orders.run_async if function is keep_async else orders.run

    outcome = run(task(function), stored, [{"a": stored}], kwargs={"key": stored})

    assert isinstance(outcome, Succeeded)
    assert given[0] == ((VALUE, [{"a": VALUE}]), {"key": VALUE})
    assert type(given[0][0][0]) is str


@pytest.mark.parametrize("function", [keep, keep_async])
def test_a_source_of_the_project_is_asked_once_an_attempt(function):
    """However often the reference stands there; and not in the thread of the event loop."""
    run = orders.run_async if function is keep_async else orders.run

    run(task(function), VAULT, [VAULT], {"$secret": "vault:loud"})

    assert given[0][0] == (vault.VALUES["kv/stripe#key"], [vault.VALUES["kv/stripe#key"]], "loud-unlikely-99x1")
    assert type(given[0][0][2]) is str
    assert vault.asked == ["kv/stripe#key", "loud"]
    assert vault.loops == [None, None]


MISSING = [
    ("settings:STAGE_NOTHING", "the settings have no STAGE_NOTHING; set it where the worker runs"),
    ("settings:STAGE_PROVIDERS.strip.key", "settings.STAGE_PROVIDERS has no 'strip'; set it"),
    ("settings:STAGE_PROVIDERS.stripe.key.upper", "settings.STAGE_PROVIDERS.stripe.key has no 'upper'"),
    ("settings:STAGE_PROVIDERS.list.2", "settings.STAGE_PROVIDERS.list has no '2'"),
    ("settings:STAGE_PROVIDERS.stripe.n", "it is of type int, and a secret is text"),
    ("env:STAGE_NOTHING", "the environment has no STAGE_NOTHING; set it where the worker runs"),
    ("vault:empty", "it is empty; set it where the worker runs"),
    ("vault:number", "it is of type int, and a secret is text"),
    ("vault:long", "it has 70000 characters, and a secret has 65536 at most"),
    ("vault:nothing", "its source tests.vault.read raised KeyError"),
    ("broken:x", "its source tests.vault.fail raised ConnectionError"),
    ("exit:x", "its source tests.vault.leave raised SystemExit"),
    ("gone:x", "its source tests.vault.nowhere raised ImportError"),
    ("vualt:x", "it refers to the unknown source 'vualt'; did you mean 'vault'?"),
]


@pytest.mark.parametrize(("reference", "why"), MISSING)
@pytest.mark.parametrize("function", [keep, keep_async])
def test_what_cannot_be_looked_up_fails_the_attempt(function, reference, why):
    """Before the task is called; it is tried again, whatever the task says of its errors; the reference is named."""
    run = orders.run_async if function is keep_async else orders.run

    outcome = run(task(never_retry=(Exception,))(function), {"$secret": reference})

    assert outcome.failure.exception_class == "django_jobqueue.exceptions.SecretUnavailable"
    assert outcome.failure.message.startswith(f"the job needs Secret('{reference}'), which cannot be had: {why}")
    assert outcome.verdict is Verdict.RETRYABLE
    assert given == []


def test_the_cause_of_a_source_that_fails_is_told():
    """Its own words are in the traceback."""
    assert "nobody answers for x" in said(orders.run(task(keep), {"$secret": "broken:x"}))


def test_a_back_off_is_asked_and_gets_no_value():
    """As for any failure."""

    def wait(error, result):
        given.append((type(error).__name__, result.args))
        return 7

    outcome = orders.run(task(backoff=wait)(keep), {"$secret": "env:STAGE_NOTHING"})

    assert outcome.after_seconds == 7
    assert given == [("SecretUnavailable", [Secret("env:STAGE_NOTHING")])]


@pytest.mark.parametrize("stored", [{"$secret": 7}, {"$secret": "hunter2"}, {"$secret": "env:A", "more": 1}])
def test_a_damaged_reference_is_an_invalid_payload(stored):
    """Nothing is called, and nothing tried again."""
    outcome = orders.run(task(keep), stored)

    assert outcome.verdict is Verdict.INVALID_PAYLOAD
    assert "the stored arguments do not fit: args[0]: has the key '$secret', and is no reference" in said(outcome)
    assert given == []


def upgrade(args, kwargs):
    given.append((args, kwargs))
    return [args[0], Secret("env:STAGE_STRIPE"), {"$secret": "settings:STAGE_STRIPE"}], kwargs


def test_upgrades_see_the_reference_and_may_make_one():
    """As it is stored, or as a Secret."""
    orders.run(task(version=2, upgrade={1: upgrade})(keep), STORED, version=1)

    assert given == [([STORED], {}), ((VALUE, VALUE, VALUE), {})]


def endless(args, kwargs):
    loop = []
    loop.append(loop)
    return [loop, Secret("env:STAGE_STRIPE")], kwargs


def test_an_upgrade_that_makes_a_loop_is_told():
    """It does not hang."""
    outcome = orders.run(task(version=2, upgrade={1: endless})(keep), version=1)

    assert "args[0][0][0]" in said(outcome)
    assert "contains itself" in said(outcome)


@dataclass
class Client:
    key: str
    size: int = 0

    def __post_init__(self):
        self.size = len(self.key) if isinstance(self.key, str) else 0
        if self.key == "too-weak-1":
            raise ValueError(f"{self.key} is weak")


def connect(client: Client, *, keys: tuple[str, ...] = ()):
    given.append((client, keys))


def test_a_dataclass_is_made_with_the_value():
    """By its own constructor."""
    orders.run(task(connect), {"key": STORED}, kwargs={"keys": [STORED, "b"]})

    assert given == [(Client(VALUE), (VALUE, "b"))]
    assert given[0][0].size == len(VALUE)


def test_a_value_that_does_not_fit_fails_the_attempt(settings):
    """It is the secret that is wrong, not the job: tried again, and not quoted."""
    settings.STAGE_STRIPE = "too-weak-1"

    outcome = orders.run(task(connect), {"key": STORED})

    assert outcome.verdict is Verdict.RETRYABLE
    assert outcome.failure.message == (
        "with what its secrets stand for the arguments do not fit: args[0]: is no Client: ValueError"
    )
    assert "weak" not in said(outcome)


def look_around(context, key):
    given.append((context.task_result.args, key, running.attempt.get().secrets))


def test_others_are_told_the_reference():
    """Receivers of task_started, and the context of the task."""

    def receiver(task_result, **_):
        given.append((task_result.args, task_result.kwargs))

    task_started.connect(receiver)
    try:
        orders.run(task(takes_context=True)(look_around), STORED)
    finally:
        task_started.disconnect(receiver)

    secret = Secret("settings:STAGE_STRIPE")
    assert given == [([secret], {}), ([secret], VALUE, {VALUE: "settings:STAGE_STRIPE"})]
    assert VALUE not in repr(running.RunningAttempt(1, None, "default", secrets={VALUE: "env:A"}))


class Rude(Exception):
    def __init__(self, key):
        self.key = key

    def __str__(self):
        return f"rude {self.key!r}"


def raise_plainly(key):
    raise ValueError(f"no {key}")


def raise_from_another(key):
    try:
        raise KeyError({"Authorization": f"Bearer {key}"})
    except KeyError as error:
        raise ValueError("it fails") from error


def raise_with_a_note(key):
    error = ValueError("it fails")
    error.add_note(f"{'x' * 490} {key}")
    raise error


def raise_a_group(key):
    raise ExceptionGroup("two", [ValueError(key), KeyError([key])])


def raise_another_class(key):
    raise Rude(key)


def raise_retry(key):
    raise Retry(after=1) from ValueError(key)


async def raise_from_the_loop(key):
    raise ValueError(f"no {key}")


ERRORS = [raise_plainly, raise_from_another, raise_with_a_note, raise_a_group, raise_another_class, raise_retry]


@pytest.mark.parametrize("function", [*ERRORS, raise_from_the_loop], ids=lambda function: function.__name__)
@pytest.mark.parametrize("stored", [STORED, VAULT], ids=["settings", "vault"])
def test_an_error_does_not_quote_the_value(function, stored):
    """Not in its message, its traceback, its cause, its notes or its members; what it says otherwise stays."""
    run = orders.run_async if function is raise_from_the_loop else orders.run

    words = said(run(task(function), stored))

    assert hidden(words)
    assert "sk-vault" not in words
    assert f"in {function.__name__}" in words


async def be_slow(key):
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError as error:
        raise TimeoutError(f"gave up with {key}") from error


def test_a_coroutine_that_took_too_long_does_not_quote_it():
    """What it says of its time-out is covered too."""
    outcome = orders.run_async(task(timeout=0.05)(be_slow), STORED)

    assert isinstance(outcome, TimedOut)
    assert "be_slow" in outcome.failure.traceback
    assert hidden(outcome.failure.traceback)


def test_a_source_that_takes_too_long_is_in_the_time_limit():
    """The lookup is told as begun, so that a keeper ends it; nothing before that."""
    told = []
    orders.run(task(keep), VAULT, is_limited=True, tell=lambda word: told.append((word, list(vault.asked))))

    assert told == [("taken", []), ("begun", [])]
    assert vault.asked == ["kv/stripe#key"]


def test_what_breaks_around_an_attempt_does_not_quote_it(monkeypatch, settings):
    """Whatever the process remembers: it is known in the context of the attempt, where it is described."""

    def break_down(value, *_, **__):
        raise RuntimeError(f"cannot write {value}")

    settings.STAGE_STRIPE = "only words in it"
    monkeypatch.setattr("django_jobqueue.worker.executor.remember", list)
    monkeypatch.setattr("django_jobqueue.worker.executor.dumps", break_down)

    words = said(orders.run(task(return_it), STORED))

    assert "cannot write {'sent': ['Bearer ••••••']}" in words


def raise_what_is_left():
    raise ValueError(f"the client of another job says {given[0]}")


def test_a_process_remembers_what_it_has_given_out(settings):
    """Another job, or a thread, may quote it later: a client that was given the key lives on."""
    settings.STAGE_STRIPE = "only words in it"
    orders.run(task(keep), STORED)

    words = said(orders.run(task(raise_what_is_left)))

    assert "the client of another job says" in words
    assert "only words" not in words
    assert "only words" not in discretion.cover_any("left behind: only words in it")


def test_what_is_logged_of_a_back_off_that_fails_has_none(caplog):
    """What is said of the project's code around the attempt is covered too."""

    def wait(error, result):
        raise RuntimeError(f"cannot count {error}")

    caplog.set_level(logging.ERROR, "django_jobqueue.worker")
    orders.run(task(backoff=wait)(raise_plainly), STORED)

    assert "cannot count no ••••••" in caplog.text
    assert hidden(caplog.text)


def test_a_process_remembers_the_latest():
    """Each makes the search longer; those of an attempt are covered in it however many there are."""
    discretion.remember(f"key-{n}-unlikely" for n in range(2 * discretion.MAX_REMEMBERED))

    assert discretion.cover_any("key-0-unlikely") == "key-0-unlikely"
    assert discretion.cover_any("key-99-unlikely") == "••••••"


def return_it(key):
    return {"sent": [f"Bearer {key}"]}


async def return_it_async(key):
    return {key: 1}


@pytest.mark.parametrize(
    ("function", "place"), [(return_it, "result['sent'][0]: has the"), (return_it_async, "result: has a key with the")]
)
def test_a_result_with_the_value_is_not_stored(function, place):
    """The job is buried with the place and the reference."""
    run = orders.run_async if function is return_it_async else orders.run

    outcome = run(task(function), STORED)

    assert outcome.verdict is Verdict.INVALID_RESULT
    assert outcome.failure.message == (
        f"{place} value of the secret 'settings:STAGE_STRIPE' in it; a result is stored, and secrets are not"
    )
    assert hidden(said(outcome))


def test_a_task_that_is_called_directly_gets_what_it_is_given():
    """The reference: nobody looks it up."""
    secret = Secret("settings:STAGE_STRIPE")
    task(keep).call(secret)
    task(keep).func(secret)

    assert given == [((secret,), {}), ((secret,), {})]


def once_with_its_key(key):
    once(f"charge:{key}", keep)


def test_a_key_of_once_has_none():
    """It would be stored."""
    words = said(orders.run(task(once_with_its_key), STORED))

    assert "key: has the value of the secret 'settings:STAGE_STRIPE' in it; make it of the reference" in words
    assert hidden(words)
