"""What may be shown of a job, by the project's settings and by what its task has declared."""

import functools
import json
import warnings

import pytest
from django.conf import settings as django_settings

from django_jobqueue import shown, task
from django_jobqueue.payload.masking import MASK
from django_jobqueue.shown import Veil
from tests import tasks

PASSWORD = "nL8!vR2#xQ5zz"


@task(sensitive=("ibans",))
def pay_all(amount, *ibans, note=""):
    """Take accounts by place."""


@task(sensitive=("details",))
def pay_with(amount, note="", **details):
    """Take whatever belongs to an account."""


def passes_on(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@task(sensitive=("ibans", "details"))
@passes_on
def pay_through(*ibans, **details):
    """Take anything."""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SECRET_KEY", PASSWORD),
        ("SECRET_KEY_FALLBACKS", ["other-words-entirely", PASSWORD]),
        ("EMAIL_HOST_PASSWORD", PASSWORD),
        ("STRIPE_API_KEY", PASSWORD),
        ("BROKER_URL", f"redis://:{PASSWORD}@cache/0"),
        ("STORAGES", {"default": {"BACKEND": "x", "OPTIONS": {"secret_key": PASSWORD}}}),
        ("PARTNERS", [{"name": "crm", "password": PASSWORD}]),
    ],
)
def test_a_secret_of_the_settings_is_shown_nowhere(settings, name, value):
    """Settings are known by their names, at any depth, from the moment they change."""
    assert PASSWORD in shown.text(f"refused: {PASSWORD}")

    setattr(settings, name, value)

    assert PASSWORD not in shown.text(f"refused: {PASSWORD}")
    assert Veil().value({"note": [PASSWORD]}) == {"note": [MASK]}


def test_a_copy_does_not_quote_a_secret_that_was_stripped():
    """What a task was given with a newline it tells without."""
    copy = Veil().value({"note": ["no login with hunter2hunter2"]}, {"hunter2hunter2\n"})

    assert copy == {"note": [f"no login with {MASK}"]}


@pytest.mark.filterwarnings("ignore:it is deprecated")
def test_a_setting_that_warns_is_known_in_silence(settings, monkeypatch):
    """Django warns where a deprecated one is read; where that is an error the value would be shown."""

    def read(self, name):
        if name == "OLD_MAIL_PASSWORD":
            warnings.warn("it is deprecated", DeprecationWarning, stacklevel=2)
        return getattr_of_django(self, name)

    settings.OLD_MAIL_PASSWORD = PASSWORD
    getattr_of_django = type(django_settings).__getattr__
    monkeypatch.setattr(type(django_settings), "__getattr__", read)
    monkeypatch.delitem(vars(django_settings), "OLD_MAIL_PASSWORD", raising=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert PASSWORD not in shown.text(f"refused: {PASSWORD}")


def test_other_settings_are_words_like_any_other(settings):
    """What the names of settings do not call secret may be said: hosts, paths, names of classes."""
    settings.ALLOWED_HOSTS = ["shop.example.com"]
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]

    words = "shop.example.com django.contrib.auth.hashers.PBKDF2PasswordHasher django.db.backends.postgresql"
    assert shown.text(words) == words


def test_sensitive_names_cover_arguments_however_they_are_given():
    """By place, by name, and at any depth."""
    veil = shown.veil_of(tasks.keep_quiet)

    assert veil.arguments(["Ada", 1, 2], {"iban": 3, "more": [{"IBAN": 4}]}) == (
        [MASK, 1, 2],
        {"iban": MASK, "more": [{"IBAN": MASK}]},
    )
    assert veil.secrets_in(["Ada Lovelace", "Leeds"], {"more": [{"iban": 12345678}]}) == {"Ada Lovelace", "12345678"}


def test_of_a_task_that_nobody_knows_only_the_shape_is_shown():
    """Which names were sensitive cannot be told any more: each value may be."""
    veil = shown.veil_named("gone.task")

    assert veil.arguments(["x", [1, None]], {"to": {"Ada Lovelace": True}, "key": {"$secret": "env:KEY"}}) == (
        [MASK, [MASK, MASK]],
        {"to": {MASK: MASK}, "key": {"$secret": "env:KEY"}},
    )
    assert veil.value({"total": 2.5}) == {"total": MASK}
    assert veil.secrets_in(["Ada Lovelace"], {"to": [12345678]}) == {"Ada Lovelace", "12345678"}
    assert veil.broken_json('{"name": "Ada Lo') == MASK
    assert veil.record({"status": "DEAD", "args": ["x"]}) == {"status": "DEAD", "args": [MASK]}
    deep = json.loads("[" * 900 + "]" * 900)
    assert veil.value(deep) is not None


def test_a_keyword_of_a_sensitive_variadic_parameter_is_covered_where_json_was_cut():
    """Any of them may be the one that was cut."""
    assert shown.veil_of(pay_with).broken_json('{"iban": "DE89 3704') == MASK
    assert shown.veil_of(pay_all).broken_json('["DE89 3704') == MASK


@pytest.mark.parametrize("name", ["ibans", "IBANS"])
def test_variadic_parameters_are_names_too(name):
    """All that goes into one of that name is covered, and no more; a reference is shown."""
    takes_places = Veil((name,), shown.veil_of(pay_all).takes)
    assert takes_places.arguments([1, "x", {"y": 2}], {"note": "z"}) == ([1, MASK, MASK], {"note": "z"})
    assert takes_places.secrets_in([1, "x one", {"y": "y two"}], {"note": "z"}) == {"x one", "y two"}

    veil, reference = shown.veil_of(pay_with), {"$secret": "env:KEY"}
    assert veil.arguments(["x"], {"note": "y", "a": "z", "b": reference}) == (
        ["x"],
        {"note": "y", "a": MASK, "b": reference},
    )
    assert veil.secrets_in(["x one"], {"note": "y two", "a": ["z three"]}) == {"z three"}


def test_variadic_parameters_are_seen_through_decorators():
    """One that passes on whatever it gets says nothing of names."""
    assert shown.veil_of(pay_through).arguments(["x"], {"a": 1}) == ([MASK], {"a": MASK})


@pytest.mark.parametrize("written", [48151623, 48151623.0, "b'p\\xc3\\xa4ss'", ["no. 48151623"], {"48151623": 1}])
def test_what_a_result_quotes_of_its_job_is_hidden(written):
    """A number is as good as its text, and bytes are as good as letters."""
    copy = Veil().value(["kept", 4815, True, None, written], {"48151623", "48151623.0", "p\xe4ss"})

    assert copy[:4] == ["kept", 4815, True, None]
    assert MASK in str(copy[4])
    assert "4815" not in str(copy[4])
    assert "ss" not in str(copy[4])


@pytest.mark.parametrize("length", range(0, 90, 3))
def test_json_that_was_cut_shows_nothing_beyond_a_sensitive_name(length):
    """A value that has no end cannot be covered alone; wherever the text was cut, the secret is not in it."""
    whole = json.dumps({"city": "Leeds", "password": "hunter2-hunter2", "iban": ["DE8937040044", {"a": "Lovelace"}]})

    covered = shown.veil_of(tasks.keep_quiet).broken_json(whole[:length])

    assert not any(part in covered for part in ("hunt", "8937", "Love"))
    assert covered.startswith(whole[: min(length, 15)])


def test_cut_arguments_by_place_are_covered_whole():
    """Which of them is the sensitive one cannot be told without an end."""
    assert shown.veil_of(tasks.keep_quiet).broken_json('["Ada Lovelace", "Lee') == MASK
    assert "Ada" not in shown.veil_of(tasks.keep_quiet).broken_json('{"status": "READY", "args": ["Ada Lovelace", "Lee')


def test_anything_can_be_covered():
    """A damaged row holds what it likes where arguments belong."""
    veil = shown.veil_of(tasks.keep_quiet)

    assert veil.arguments("text", None) == ("text", None)
    assert veil.secrets_in(None, 5) == set()
    assert veil.record({"args": None, "kwargs": 5}) == {"args": None, "kwargs": 5}
    assert veil.record({"args": ["Ada"], "kwargs": {"iban": 3}}) == {"args": [MASK], "kwargs": {"iban": MASK}}
