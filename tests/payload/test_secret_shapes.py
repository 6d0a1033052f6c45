"""What looks like a secret is found, and what does not is let through."""

import importlib
import pkgutil

import pytest

import tests.payload
from django_jobqueue.payload.published_tokens import SHAPES
from django_jobqueue.payload.secret_shapes import call_findings, findings
from django_jobqueue.payload.token_shapes import token_places
from tests.payload import secret_corpus, token_samples
from tests.payload.secret_corpus import pem

CORPORA = sorted(
    module.name for module in pkgutil.iter_modules(tests.payload.__path__) if module.name.startswith("secret_corpus")
)


def corpus(name):
    return importlib.import_module(f"tests.payload.{name}")


@pytest.mark.parametrize("name", CORPORA)
def test_known_shapes_are_found(name):
    """Of the secrets of a corpus 95 in 100 are found at least."""
    secrets = corpus(name).SECRETS
    missed = [(kind, value) for kind, value in secrets if not findings(value)]
    recall = 1 - len(missed) / len(secrets)
    figure = f"{name}: {len(secrets)} secrets, recall {recall:.1%}"
    print(figure)

    assert recall >= 0.95, f"{figure}; missed: {missed}"


@pytest.mark.parametrize("name", CORPORA)
def test_plain_payloads_are_let_through(name):
    """Of the plain payloads of a corpus 2 in 100 raise an alarm at most."""
    plain = corpus(name).PLAIN
    alarms = [(value, found) for value in plain if (found := findings(value))]
    rate = len(alarms) / len(plain)
    figure = f"{name}: {len(plain)} plain payloads, false alarms {rate:.1%}"
    print(figure)

    assert rate <= 0.02, f"{figure}; {alarms}"


def test_formats_that_nobody_had_looked_at_are_found():
    """Of those of the third corpus that the detector was made without sight of; and what is plain is let through."""
    three = corpus("secret_corpus_three")
    secrets = [payload for kind, payload in three.SECRETS if not three.is_seen(kind)]
    plain = [each for kind, each in three.INNOCENT if not three.is_seen(kind) and not kind.startswith("debatable:")]
    recall = sum(bool(findings(payload)) for payload in secrets) / len(secrets)
    alarms = sum(bool(findings(payload)) for payload in plain) / len(plain)
    print(
        f"unseen: {len(secrets)} secrets, recall {recall:.1%}; {len(plain)} plain payloads, false alarms {alarms:.1%}"
    )

    assert recall >= 0.95
    assert alarms <= 0.02


TOKENS = [(name, secret_corpus.token_of(name)) for name in secret_corpus.TOKENS]
TOKENS += [(name, token_samples.sample_of(name)) for name in token_samples.TEMPLATES]


@pytest.mark.parametrize(("name", "token"), TOKENS, ids=[name for name, _ in TOKENS])
def test_token_is_found_in_a_sentence(name, token):
    """A token of a published format is found by itself, in a sentence and after an escape."""
    assert findings(token)
    assert findings(f"The call failed ({token}), try again.")
    assert findings(f"first line\\n{token}\\n")


def test_every_shape_has_a_token():
    """No shape of the detector is without a token to try it with."""
    seen = {place.why for _, token in TOKENS for place in token_places(token)}

    assert {shape.why for shape in SHAPES} - seen == set()


def test_place_is_told_and_not_the_value():
    """A finding names the path and the rule; the value is in neither."""
    value = {"billing": [{"api_key": "9f8e7d6c5b4a"}], "log": f"sent {'gh' + 'p_' + 'a1B2' * 9}"}

    found = findings(value)

    assert [(finding.path, finding.why) for finding in found] == [
        ("['billing'][0]['api_key']", "key name"),
        ("['log']", "GitHub token"),
    ]


def test_key_that_is_a_secret_is_found_and_not_told():
    """A dict may be keyed by tokens: the path then has a mask in it."""
    token = "gh" + "p_" + "a1B2" * 9

    (found,) = findings({token: 5})

    assert found.why == "the key itself"
    assert token not in str(found)


def test_sensitive_name_is_found_at_any_depth_whatever_its_value():
    """What a task declared sensitive needs not look like a secret."""
    found = findings({"a": [{"homeAddress": {"street": "x"}}], "home_address": None}, sensitive=["home_address"])

    assert [str(finding) for finding in found] == [
        "['a'][0]['homeAddress'] (sensitive)",
        "['home_address'] (sensitive)",
    ]


def test_what_stands_under_credentials_counts():
    """Below a name for secrets counts what a machine made, and not who it is for."""
    found = findings(
        {"credentials": {"user": "anna", "key": "9f8e7d6c5b4a", "ids": ["9f8e7d6c5b4a"], "expires": "2026-11-30"}}
    )

    assert [finding.path for finding in found] == ["['credentials']['key']"]


def test_value_has_the_name_that_stands_beside_it():
    """Headers and fields travel as pairs of a name and a value."""
    found = findings([{"name": "X-Api-Key", "value": "9f8e7d6c5b4a"}, {"name": "Colour", "value": "9f8e7d6c5b4a"}])

    assert [finding.path for finding in found] == ["[0]['value']"]


@pytest.mark.parametrize("kind", ["CERTIFICATE", "PUBLIC KEY", "PGP PUBLIC KEY BLOCK"])
def test_public_block_is_let_through(kind):
    """A certificate and a public key are made to be shown; what follows them is looked at."""
    block = pem(kind)

    assert not findings({"text": block})
    assert findings({"text": f"{block} q7Xk2mP9vL4tR8wZ1nB6c3Y5dF0gH2jK"})


def test_argument_has_the_name_of_its_parameter():
    """The arguments of a call are judged by their names too where they are given by position."""
    found = call_findings([5, "hunter2"], {"note": "x", "token": "9f8e7d6c5b4a"}, positional=("user_id", "password"))

    assert [finding.path for finding in found] == ["args[1]", "kwargs['token']"]


@pytest.mark.parametrize(
    "text",
    [
        "host=db user=app password=swordfish dbname=x",
        'could not log in: {"user": "anna", "password": "hunter2"}',
        '{\\"password\\": \\"hunter2\\"}',
        "{'apiKey': '9f8e7d6c5b4a'}",
        "https://example.com/hook?id=5&token=9f8e7d6c5b4a",
        "mysql --user app --password hunter2 shop",
        "Cookie: theme=dark; sessionid=9f8e7d6c5b4a9f8e7d6c",
        "Password: tr0ub4dor&3",
        "PGPASSWORD=hunter2 psql",
        "curl -u anna:hunter2 https://example.com",
        "machine example.com login anna password hunter2",
        "CREATE ROLE shop LOGIN PASSWORD 'hunter2'",
        "Votre mot de passe : Tournesol#88",
    ],
)
def test_text_that_names_its_secret_is_found(text):
    """Connection strings, JSON inside of text, URLs, headers and command lines say themselves what is secret."""
    assert findings(text)


@pytest.mark.parametrize(
    "text",
    [
        "Password: at least 8 characters",
        "raise LoginFailed(password=password, token=self.token)",
        "token = get_token(request)",
        "password=hash_v2(raw)",
        "WHERE password = %s AND token = ?",
        "https://example.com/list?page_token=9f8e7d6c5b4a&sort_key=name",
        "password=${PASSWORD} token={{ token }}",
        "password=••••••",
        "Secret: nobody knew",
        "https://host:8080/path@2x.png",
        "Basic subscription, Bearer of good news",
        "docker run -u 1000:1000 image",
        "please login with your password as usual",
        "arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-AbCdEf",
    ],
)
def test_text_that_speaks_of_secrets_is_let_through(text):
    """Prose, code and templates have the words, and no value."""
    assert not findings(text)


@pytest.mark.parametrize(
    "word",
    [
        "3c1f9b52-7b1e-4a6e-9f39-3a8f0f4f7f10",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "GB29NWBK60161331926819",
        "cus_NffrFeUfNV2HibQ8x1",
        "UHJvZHVjdDoxMjM0NTY3ODkwMTIzNDU2",
        "/srv/media/aB3dE5fG7hI9jK1lM3nO.jpg",
        "IMG_20261130_aB3dE5fG7hI9jK1l.jpg",
        "AbstractUserRegistrationViewFactory",
        "AbstractUserRegistrationView2Factory",
        "RaspberryPi-4B-kiosk-07",
        "google-site-verification=aB3dE5fG7hI9jK1lM3nO",
        "utm=1&https://example.com/?gclid=aB3dE5fG7hI9jK1lM3nO&a=aB3dE5fG7hI9jK1lM3nO",
        "frisk_" + "live_abcdefghijklmn",
        "how-to-tie-a-tie-in-2026-v2",
        "https://example.com/aB3dE5fG7hI9jK1lM3nO",
    ],
)
def test_word_with_a_meaning_is_no_chance(word):
    """Ids, digests, paths and names are long and mixed, and no secrets."""
    assert not findings({"text": word})


def test_word_of_a_generator_is_found_unless_it_is_an_id():
    """A random word counts by itself; under the name of an id or a checksum it does not."""
    word = "q7Xk2mP9vL4tR8wZ1nB6c3Y5dF0gH2jK"

    assert findings({"text": word})[0].why == "high entropy"
    assert not findings({"file_id": word, "etag": word, "cursor": word})
    assert not findings(f'{{"file_id": "{word}", "etag": "{word}"}}, cursor: {word}')
    assert findings(f'{{"file_id": "x", "comment": "{word}"}}')


def test_digest_under_the_name_of_a_secret_is_one():
    """32 hexadecimal digits are a checksum, but not as an API key."""
    digest = "0cc175b9c0f1b6a831c399e269772661"

    assert not findings({"checksum": digest, "text": digest})
    assert findings({"api_key": digest})


@pytest.mark.parametrize("number", ["4111111111111111", "4111 1111 1111 1111", 4111111111111111, "3782-822463-10005"])
def test_card_number_is_found(number):
    """A payment card's number passes Luhn's test, with separators and without."""
    assert findings({"text": number})[0].why == "payment card number"


@pytest.mark.parametrize(
    "number", ["4111111111111112", "DE89 3704 0044 0532 0130 00", "4111.1111111111", 10**15, "1" * 16]
)
def test_other_number_is_no_card(number):
    """Nor is an IBAN, an order's number or a decimal."""
    assert not findings({"text": number})
