"""Arguments that look like secrets, at the enqueue: warned of, refused or ignored, and never changed."""

import logging

import pytest

from django_jobqueue import Secret, guard, operations
from django_jobqueue.compat import task_backends
from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.models import Job
from tests import tasks as cast
from tests.factories import make_dead_letter

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
PASSWORD = "correct horse battery"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _new_process(monkeypatch):
    """Nothing was told before."""
    monkeypatch.setattr(guard, "_told", {})


@pytest.fixture
def policy(settings):
    """Set the policy of the default alias."""

    def set_policy(word):
        default = settings.TASKS["default"]
        settings.TASKS = {"default": default | {"OPTIONS": default["OPTIONS"] | {"secrets": word}}}

    return set_policy


@pytest.fixture
def warnings(caplog):
    """Answer with the warnings so far."""
    caplog.set_level(logging.WARNING, "django_jobqueue")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "django_jobqueue"]


def test_a_secret_is_warned_of_and_stored_as_it_is(warnings):
    """By default the job is made; the warning names the task, the place and the reason, and not the value."""
    cast.take.enqueue({"password": PASSWORD}, TOKEN)

    assert Job.objects.get().args == [{"password": PASSWORD}, TOKEN]
    by_name, by_shape = sorted(warnings())
    assert "tests.tasks.take" in by_name
    assert "args[0]['password'] (key name)" in by_name
    assert "args[1] (GitHub token)" in by_shape
    assert not any(value in by_name + by_shape for value in (TOKEN, PASSWORD))


def test_a_place_is_warned_of_once(warnings):
    """A thousand calls of one kind are one warning; which element of a list it was makes no difference."""
    jobs = [(cast.take, [[{"n": 1}] * n + [{"password": PASSWORD}]], {}) for n in range(10)]
    task_backends["default"].enqueue_many(jobs)

    (warning,) = warnings()
    assert "args[0][…]['password']" in warning


def test_keys_that_are_data_do_not_flood_the_log(warnings):
    """A process tells of so many places in the arguments of one task, and no more."""
    cast.take.enqueue({f"user-{n}": {"password": PASSWORD} for n in range(50)})

    assert len(warnings()) == guard.MAX_TOLD


def test_refused_arguments_leave_no_job(policy):
    """The refusal names the place, the reason and what to do, and not the value."""
    policy("refuse")

    with pytest.raises(InvalidPayload) as refused:
        cast.take.enqueue(1, value=[{"api_key": TOKEN}])

    assert str(refused.value).startswith("kwargs['value'][0]['api_key']: looks like a secret (key name); pass a ref")
    assert "sensitive=" in str(refused.value)
    assert TOKEN not in str(refused.value)
    assert not Job.objects.exists()


def test_a_refusal_says_which_of_many_calls_it_was(policy):
    """As every refusal of enqueue_many does; nothing is written."""
    policy("refuse")

    with pytest.raises(InvalidPayload, match=r"jobs\[1\]\.args\[0\]"):
        task_backends["default"].enqueue_many([(cast.take, [1], {}), (cast.take, [TOKEN], {})])

    assert not Job.objects.exists()


def test_a_value_of_the_settings_is_a_secret(policy, settings):
    """Whatever it looks like: the settings say that it is one."""
    settings.EMAIL_HOST_PASSWORD = "Tr0ub4dor&3"
    policy("refuse")

    with pytest.raises(InvalidPayload, match=r"the value of settings\.EMAIL_HOST_PASSWORD"):
        cast.take.enqueue("login with Tr0ub4dor&3")


def test_what_a_task_declares_is_expected(policy, warnings):
    """Neither a warning nor a refusal for a name in `sensitive`, by place, by name or inside."""
    policy("refuse")

    cast.keep_quiet.enqueue(TOKEN, iban=TOKEN, more={"iban": {"password": PASSWORD}})

    assert Job.objects.get().kwargs["iban"] == TOKEN
    assert warnings() == []


def test_a_project_may_not_want_to_know(policy, warnings):
    """With "ignore" nothing is looked for."""
    policy("ignore")

    cast.take.enqueue(TOKEN)

    assert Job.objects.get().args == [TOKEN]
    assert warnings() == []


def test_arguments_edited_for_a_replay_are_guarded_too(policy):
    """They are stored as those of an enqueue are."""
    letter = make_dead_letter(task="tests.tasks.take", args=[1])
    policy("refuse")

    with pytest.raises(InvalidPayload, match="looks like a secret"):
        operations.replay(letter, by="ada", reason="", args=[TOKEN])


@pytest.mark.parametrize(
    "edit",
    [
        {"kwargs": {"value": TOKEN, "second": 2}},
        {"args": [{"password": PASSWORD}], "kwargs": {"value": 2}},
        {"args": [{"password": PASSWORD}, "plain"]},
    ],
)
def test_of_a_replay_only_what_was_edited_is_judged(policy, warnings, edit):
    """What is stored already is not what the person has asked for."""
    letter = make_dead_letter(task="tests.tasks.take", args=[{"password": PASSWORD}], kwargs={"value": TOKEN})
    policy("refuse")

    assert operations.replay(letter, by="ada", reason="", **edit).status == "READY"


@pytest.mark.parametrize(
    ("edit", "place"),
    [
        ({"args": [TOKEN, TOKEN]}, r"^args\[0\]: looks"),
        ({"args": [1, TOKEN, TOKEN]}, r"^args\[2\]: looks"),
        ({"kwargs": {"value": TOKEN}}, r"^kwargs\['value'\]: looks"),
    ],
)
def test_of_a_replay_what_was_edited_is_judged(policy, edit, place):
    """In its own place, beside a secret that was there before."""
    letter = make_dead_letter(task="tests.tasks.tell_context", args=[1, TOKEN], kwargs={"value": 1})
    policy("refuse")

    with pytest.raises(InvalidPayload, match=place):
        operations.replay(letter, by="ada", reason="", **edit)


def test_a_row_that_is_damaged_is_judged_as_a_whole(policy):
    """There is nothing to compare with."""
    letter = make_dead_letter(task="tests.tasks.take", args={"a": 1}, kwargs=["value"])
    policy("refuse")

    with pytest.raises(InvalidPayload, match=r"^args\[0\]: looks"):
        operations.replay(letter, by="ada", reason="", args=[TOKEN], kwargs={"value": 1})
    assert operations.replay(letter, by="ada", reason="", args=[1], kwargs={"value": 1}).status == "READY"


def test_a_reference_that_looks_like_a_token_is_judged_as_one(policy, warnings):
    """Somebody may have passed the secret in place of its name; a name that looks like one is no reason for a word."""
    cast.take.enqueue(Secret("env:PASSWORD"), Secret(f"env:{TOKEN}"))
    (warning,) = warnings()
    assert "args[1] (GitHub token)" in warning

    policy("refuse")
    with pytest.raises(InvalidPayload, match=r"args\[0\]: looks like a secret \(GitHub token\)"):
        cast.take.enqueue(Secret(f"env:{TOKEN}"))


def test_plain_arguments_are_no_secret(warnings):
    """Ids, names, times, paths and sentences pass without a word."""
    cast.take.enqueue(42, "Ada Lovelace", value={
        "order": "6a5f1c1e-7a1f-4c55-9f5e-0d9c3f9f3f11", "at": "2026-11-29T16:10:00+00:00", "file": "in/2026/photo.jpg",
        "text": "Your parcel has left our house, and will be with you on Tuesday.", "sha": "9f2c" * 16,
    })  # fmt: skip

    assert warnings() == []
