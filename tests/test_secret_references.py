"""References to secrets, from the enqueue to the pages: the value is where the task runs, and only there."""

import json
import logging
import re
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.core.checks import run_checks
from django.core.management import call_command
from django.core.management.base import CommandError

from django_jobqueue import Secret, guard, once, operations
from django_jobqueue.compat import PACKAGE, task_backends
from django_jobqueue.exceptions import InvalidOptions, InvalidPayload
from django_jobqueue.models import Attempt, DeadLetter, Effect, Job
from django_jobqueue.testing import assert_enqueued, run_jobs
from django_jobqueue.worker import discretion
from tests import planted, vault
from tests import tasks as cast
from tests.factories import make_dead_letter, make_job
from tests.stage import keyholders as keys

pytestmark = pytest.mark.django_db

VALUE = planted.LOOKED_UP
KEY = Secret("settings:STAGE_PARTNER")
STORED = {"$secret": "settings:STAGE_PARTNER"}


@pytest.fixture(autouse=True)
def _the_project(settings, monkeypatch):
    """Have a secret under a name that says nothing, a source, and a process that has said and heard nothing."""
    settings.STAGE_PARTNER = VALUE
    set_options(settings, secret_sources=vault.SOURCES)
    monkeypatch.setattr(guard, "_told", {})
    monkeypatch.setattr(discretion, "_remembered", {})


def set_options(settings, **options):
    default = settings.TASKS["default"]
    settings.TASKS = {"default": default | {"OPTIONS": default["OPTIONS"] | options}}


def run_one():
    (ran,) = run_jobs()
    return ran


def test_what_is_stored_is_the_reference(caplog):
    """The row has it wherever it stood; nothing is warned of, whatever it is called."""
    caplog.set_level(logging.WARNING, "django_jobqueue")
    result = cast.take.enqueue(KEY, [{"api_key": KEY}], value={"password": KEY})

    job = Job.objects.get()
    assert (job.args, job.kwargs) == ([STORED, [{"api_key": STORED}]], {"value": {"password": STORED}})
    assert (result.args, result.kwargs) == ([KEY, [{"api_key": KEY}]], {"value": {"password": KEY}})
    assert task_backends["default"].get_result(result.id).args == result.args
    assert_enqueued(cast.take, KEY, second=[{"api_key": KEY}], value={"password": KEY})
    assert caplog.text == ""


def test_many_are_stored_and_refused_as_one_is(settings):
    """By the strictest policy too; a refusal names the call and the place, and nothing is written."""
    set_options(settings, secrets="refuse")
    backend = task_backends["default"]
    backend.enqueue_many([(cast.take, [KEY], {}), (cast.take, [], {"first": {"api_key": Secret("vault:x")}})])
    assert [job.args or job.kwargs for job in Job.objects.order_by("pk")] == [
        [STORED],
        {"first": {"api_key": {"$secret": "vault:x"}}},
    ]

    with pytest.raises(InvalidPayload, match=r"^jobs\[1\]\.kwargs\['first'\]\['k'\]: refers to the unknown"):
        backend.enqueue_many([(cast.take, [KEY], {}), (cast.take, [], {"first": {"k": Secret("kms:x")}})])
    with pytest.raises(InvalidPayload, match=r"^args\[0\]: has the key '\$secret', which is kept for references"):
        cast.take.enqueue(STORED)
    assert Job.objects.count() == 2


def test_a_name_that_is_not_there_is_no_refusal():
    """The settings of a worker may have it."""
    cast.take.enqueue(Secret("settings:STAGE_NOWHERE"), Secret("env:STAGE_NOWHERE"))

    assert Job.objects.count() == 1


@pytest.mark.parametrize("maker", ["invoice:{invoice_id}", lambda invoice_id: f"invoice:{invoice_id}"])
def test_a_unique_key_is_made_of_the_reference(maker):
    """By a template, or by a function."""
    cast.succeed.using(unique_key="{{}}").enqueue()
    bill = cast.remind.using(unique_key=maker)
    bill.enqueue(KEY)

    assert bill.enqueue(KEY).created is False
    assert Job.objects.last().unique_key == "invoice:settings:STAGE_PARTNER"


def test_run_jobs_looks_it_up():
    """As a worker does."""
    keys.use_key.enqueue(KEY, client={"key": Secret("vault:kv/stripe#key")})

    assert run_one().job.result == {"length": len(VALUE), "kind": "str", "client": len(vault.VALUES["kv/stripe#key"])}


def test_what_is_missing_is_tried_again_and_ends_as_a_dead_letter(settings):
    """Each attempt and the letter's page name the reference; with the setting there, a replay succeeds."""
    cast.give_back.using().enqueue(Secret("settings:STAGE_LATER.key"))
    ran = run_jobs(within=timedelta(days=1))

    assert len(ran) == 3
    words = "the job needs Secret('settings:STAGE_LATER.key'), which cannot be had: the settings have no STAGE_LATER"
    assert all(message.startswith(words) for message in Attempt.objects.values_list("message", flat=True))
    letter = DeadLetter.objects.get()
    assert letter.reason == "attempts_exhausted"
    assert words in planted.commands()[f"jobqueue dead show {letter.pk}"]

    settings.STAGE_LATER = {"key": "test"}
    operations.replay(letter, by="ada", reason="the setting is there")
    assert run_one().job.result == "test"


def test_an_edit_of_a_replay_may_have_references():
    """As they are stored, typed by a person, or as a Secret; the task gets the values."""
    letter = make_dead_letter(task=keys.use_key.module_path, args=["old"])
    call_command("jobqueue", "dead", "replay", str(letter.pk), "--args", json.dumps([STORED]), "--by", "ada")
    assert Job.objects.get().args == [STORED]
    assert run_one().job.result["length"] == len(VALUE)

    letter = make_dead_letter(task=keys.use_key.module_path, args=[STORED])
    job = operations.replay(letter, by="ada", reason="", kwargs={"client": {"key": Secret("vault:kv/stripe#key")}})
    assert (job.args, job.kwargs) == ([STORED], {"client": {"key": {"$secret": "vault:kv/stripe#key"}}})
    assert run_one().outcome == "succeeded"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (
            {"$secret": "STRIPE_KEY"},
            "args[0]: has the key '$secret', and is no reference to a secret: it names",
        ),
        ({"$secret": "setings:X"}, "args[0]: refers to the unknown source 'setings'; did you mean 'settings'?"),
    ],
)
@pytest.mark.parametrize("task", [keys.use_key.module_path, "gone.task"])
def test_a_wrong_reference_is_refused_at_a_replay(typed, words, task):
    """The letter stays as it was, whether the task is known here or not."""
    letter = make_dead_letter(task=task, args=["old"])

    with pytest.raises((InvalidPayload, CommandError)) as error:
        operations.replay(letter, by="ada", reason="", args=[typed])

    assert str(error.value).startswith(words)
    letter.refresh_from_db()
    assert letter.status == "OPEN"


def test_once_compares_the_reference(settings, monkeypatch):
    """A new value between two attempts is no other request."""
    monkeypatch.setenv("STAGE_FAILS_ONCE", "1")
    keys.charge_once.enqueue(KEY)
    assert run_one().outcome == "failed"
    settings.STAGE_PARTNER = "another-value-51c2"

    assert [ran.outcome for ran in run_jobs(within=timedelta(days=1))] == ["succeeded"]
    assert Job.objects.get().result == len("Bearer ")


@pytest.mark.parametrize(
    ("task", "old", "new", "given"),
    [
        (keys.charge_once_in_a_mode, "test", "live", [KEY, "test"]),
        (keys.charge_once_in_a_mode, "test", "live", [KEY]),  # which is in the code, as in the settings
        (keys.charge_once_in_a_mode, "no", "yes", [KEY, "no"]),
        (keys.charge_once_by_number, "8273645190", "5190827364", [KEY, "x"]),
    ],
)
def test_once_knows_the_reference_from_what_equals_it_by_chance(settings, monkeypatch, task, old, new, given):
    """A mode `test` beside a key `test` stays what it is when the key is another; and a number is as good as text."""
    settings.STAGE_PARTNER = old
    monkeypatch.setenv("STAGE_FAILS_ONCE", "1")
    task.enqueue(*given)
    assert run_one().outcome == "failed"
    settings.STAGE_PARTNER = new

    assert [ran.outcome for ran in run_jobs(within=timedelta(days=1))] == ["succeeded"]


def test_once_takes_a_reference_as_any_argument(settings):
    """As the context has it: what it stands for is not looked up."""
    assert once("k", len, [KEY]) == once("k", len, [KEY]) == 1


@pytest.mark.parametrize(
    ("task", "value", "where"),
    [
        (keys.return_bytes, "pässwört-gëheim-straße-7", "result: "),
        (keys.return_number, "8273645190", "result['pin']: "),
        (keys.hand_number_on, "8273645190", "kwargs['client']['key']: "),
    ],
)
def test_the_value_is_not_stored_in_another_form(settings, task, value, where):
    """Bytes and numbers say as much as text."""
    settings.STAGE_PARTNER = value
    task.enqueue(KEY)
    run_jobs()

    job = Job.objects.get()
    assert job.result is None
    assert job.attempts.get().message.startswith(f"{where}has the value of the secret 'settings:STAGE_PARTNER'")


REFUSED = [
    (keys.return_key, {}, "result['sent'][0]: has the value of the secret", "invalid_result"),
    (keys.hand_key_on, {}, "kwargs['client']['key']: has the value of the secret", "attempts_exhausted"),
    (keys.make_it_a_unique_key, {}, "unique_key: has the value of the secret", "attempts_exhausted"),
    (keys.charge_once, {"how": "kept"}, "result: has the value of the secret", "attempts_exhausted"),
]


@pytest.mark.parametrize(("task", "more", "words", "reason"), REFUSED)
def test_the_value_is_not_stored(task, more, words, reason):
    """Neither as a result, nor with another job, nor by `once`; the error names the place and the reference."""
    task.enqueue(KEY, **more)
    run_jobs(within=timedelta(days=1))

    letter = DeadLetter.objects.get()
    assert letter.reason == reason
    assert Attempt.objects.last().message.startswith(f"{words} 'settings:STAGE_PARTNER' in it; ")
    assert Job.objects.count() == 1
    assert not Effect.objects.exists()


def test_nowhere_is_the_value_shown_or_stored(client, caplog):
    """In no page, no answer of the command line, no log, no row; the reference is, under a sensitive name too."""
    caplog.set_level(logging.DEBUG)
    for name in ("django_jobqueue", "django_jobqueue.worker", "django_jobqueue.jobs"):
        caplog.set_level(logging.DEBUG, name)
    caplog.set_level(logging.INFO, "django.db.backends")
    client.force_login(get_user_model().objects.create_superuser("boss", password="x"))
    for task in (keys.spill_key, keys.spill_key_from_a_coroutine):
        task.enqueue(KEY, api_key=KEY, deep=[{"password": KEY}])
    cast.keep_quiet.using(queue_name="later").enqueue(KEY, iban=KEY)
    for task in (keys.return_key, keys.hand_key_on, keys.make_it_a_unique_key):
        task.enqueue(KEY)
    run_jobs(within=timedelta(days=1))
    quiet = Job.objects.get(task=cast.keep_quiet.module_path)

    shown = planted.pages(client) | planted.commands()

    assert DeadLetter.objects.count() == 6
    places = shown | {"log": caplog.text} | planted.rows()
    assert planted.leaks(places, {"looked up": VALUE}) == []
    for page in (f"/admin/django_jobqueue/job/{quiet.pk}/change/ ", f"jobqueue jobs show {quiet.pk}"):
        assert len(re.findall("settings:STAGE_PARTNER", shown[page])) >= 2, page


def check(capsys):
    """Run `jobs check`; answer with the problems that it names."""
    try:
        call_command("jobqueue", "jobs", "check", "--json")
    except SystemExit as error:
        assert error.code == 1
    tasks = json.loads(capsys.readouterr().out)["tasks"]
    return [each["problem"] for row in tasks for each in row["problems"]]


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("settings:STAGE_PARTNER", None),
        ("vault:never/asked", None),
        ("kms:x", "refers to the unknown source 'kms'; known are broken, env, "),
        ("settings:STAGE_PARTNR", "the settings have no STAGE_PARTNR"),
        ("env:STAGE_NOWHERE", "the environment has no STAGE_NOWHERE"),
        ("hunter2", "args[0]: has the key '$secret', and is no reference to a secret"),
    ],
)
def test_jobs_check_looks_for_them(capsys, reference, words):
    """What is written wrong, unknown, or missing here; no source is asked."""
    vault.asked.clear()
    make_job("READY", task=cast.take.module_path, args=[{"$secret": reference}])

    problems = check(capsys)

    assert len(problems) == (words is not None)
    assert words is None or words in problems[0]
    assert vault.asked == []


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("tests.vault.nowhere", 'cannot be imported: ImportError: Module "tests.vault" does not define'),
        ("tests.vault.VALUES", "is of type dict, and is no function"),
        ("tests.vault.later", "is a coroutine, and its answer cannot be awaited"),
    ],
)
def test_a_source_that_cannot_be_called_is_found_by_a_check(settings, path, words):
    """At the start of a worker, rather than by its first job."""
    set_options(settings, secret_sources={"vault": path})

    (error,) = [message for message in run_checks() if message.id == "django_jobqueue.E008"]

    assert f"'{path}', which {words}" in error.msg


@pytest.mark.parametrize(
    "wrong", ["tests.vault.read", {"Vault": "a.b"}, {"env": "a.b"}, {"vault": "read"}, {"vault": len}, {7: "a.b"}]
)
def test_sources_of_another_form_are_a_fault_of_the_options(settings, wrong):
    """Told with the form; an enqueue says so too."""
    set_options(settings, secret_sources=wrong)

    (error,) = [message for message in run_checks() if message.id in ("django_jobqueue.E001", "django_jobqueue.E008")]
    assert "secret_sources is a dict of names and dotted paths" in error.msg
    with pytest.raises(InvalidOptions, match="secret_sources is a dict"):
        cast.succeed.enqueue()


def test_djangos_own_backends_take_none(settings):
    """They take plain JSON only."""
    settings.TASKS = {"default": {"BACKEND": f"{PACKAGE}.backends.immediate.ImmediateBackend"}}

    with pytest.raises(TypeError, match="Secret"):
        keys.use_key.enqueue(KEY)


def test_a_name_leads_to_no_code():
    """It is only ever passed to the function that the settings name."""
    vault.asked.clear()
    keys.use_key.enqueue(Secret("vault:os.getcwd"))

    assert run_one().message.startswith("the job needs Secret('vault:os.getcwd'), which cannot be had: its source")
    assert vault.asked == ["os.getcwd"]


@pytest.mark.parametrize(
    ("args", "kwargs"), [(STORED, [STORED]), ([{"$secret": 7}], {}), ([1], {"$secret": "env:A"}), (7, "x")]
)
def test_a_damaged_row_is_answered_as_it_is(args, kwargs):
    """`get_result` does not fail over what is no reference, or no arguments at all."""
    job = make_job("READY", task=cast.take.module_path, args=args, kwargs=kwargs)

    found = task_backends["default"].get_result(str(job.pk))

    assert (found.args, found.kwargs) == (args, kwargs)
