"""What the settings hold stands in nothing that is shown."""

import json
import pickle
from urllib.parse import quote

import pytest

from django_jobqueue.payload.known_secrets import KnownSecrets
from django_jobqueue.payload.masking import masked, masked_text
from django_jobqueue.payload.secret_shapes import findings

SETTINGS = {
    "SECRET_KEY": "django-insecure-9f8e7d6c5b4a&x",
    "STRIPE_KEYS": {"live": "lv-9f8e7d6c5b4a3210"},
    "DATABASES": {
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "PASSWORD": "tr0ub4dor&3",
            "HOST": "localhost",
            "NAME": "shop4-production2",
        }
    },
    "CACHES": {"default": {"LOCATION": "redis://:r3disP4ss%21@cache:6379/0"}},
    "SECRET_KEY_FALLBACKS": ["old-key-1234567890"],
    "API_TOKEN": "default",
    "OTHER_PASSWORD": "postgres",
    "DEBUG": True,
}


KNOWN = KnownSecrets(SETTINGS)


@pytest.mark.parametrize(
    "secret",
    [
        "django-insecure-9f8e7d6c5b4a&x",
        "lv-9f8e7d6c5b4a3210",
        "tr0ub4dor&3",
        "r3disP4ss%21",
        "r3disP4ss!",
        "old-key-1234567890",
    ],
)
def test_value_of_a_setting_is_found_inside_text(secret):
    """What the settings hold is a secret by equality, inside of text, and in a URL's or JSON's form."""
    assert findings({"note": secret}, known=KNOWN)[0].why.startswith("the value of settings.")
    for form in (secret, quote(secret, safe=""), json.dumps(secret)):
        assert secret not in masked({"note": f"it is {form}!"}, known=KNOWN)["note"]
        assert form.strip('"') not in masked_text(f"it is {form}!", known=KNOWN)


@pytest.mark.parametrize(
    "text", ["default", "localhost", "postgres", "django.db.backends.postgresql", "True", "redis", "shop4-production2"]
)
def test_plain_setting_is_no_secret(text):
    """Words that are settings are words all the same."""
    assert not findings({"note": f"{text}, {text}"}, known=KNOWN)


def test_known_secrets_tell_nothing():
    """Neither repr nor pickle has a value in it."""
    assert repr(KNOWN).startswith("<KnownSecrets: ")
    assert not any(secret in repr(KNOWN) for secret in ("9f8e7d6c", "tr0ub4dor", "r3dis", "old-key"))
    with pytest.raises(TypeError):
        pickle.dumps(KNOWN)


def test_no_settings_are_no_secrets():
    """An empty guard is false, and finds nothing."""
    assert not KnownSecrets({})
    assert masked("x" * 30, known=KnownSecrets({"A": None, "B": {"c": [1]}})) == "x" * 30
