# A sample is easier to read on one line; a list of words is easier to read as a text.
# ruff: noqa: E501, SIM905
"""Opaque secrets beside a name that tells what they are, in the spellings that code uses.

The words are those of the rule sets' generic rules (gitleaks generic-api-key, detect-secrets KeywordDetector, Nosey
Parker generic) and of the denylists of Sentry's data scrubber, Django's SafeExceptionReporterFilter and Rails' filter
parameters.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from tests.payload.secret_corpus_three.draw import Draw

Value = Callable[[Draw], str]


def _password(draw: Draw) -> str:
    return draw.password()


def _opaque(draw: Draw) -> str:
    return draw.opaque()


def _card(draw: Draw) -> str:
    digits = [4, *(draw.randrange(10) for _ in range(14))]
    doubled = sum(sum(divmod(d * 2, 10)) if i % 2 == 0 else d for i, d in enumerate(digits))
    return "".join(map(str, digits)) + str(-doubled % 10)


NAMES: dict[Value, list[str]] = {
    _password: (
        "password passwd passphrase pass_phrase pwd user_password userPassword new_password newPassword "
        "password_confirmation Password PASSWORD db_password DB_PASSWORD dbPass db-password smtp_password "
        "emailPassword admin.password spring.datasource.password ftp_pwd wifi_password root_pw sudo_pass login_password "
        "temp_password initialPassword keystore_password truststorePassword master_password"
    ).split(),
    _opaque: (
        "api_key apiKey apikey api-key API_KEY X-Api-Key api_secret apiSecret api_token apiToken access_token "
        "accessToken refresh_token refreshToken id_token auth_token authToken bearer bearer_token Authorization "
        "secret secret_key secretKey SECRET_KEY client_secret clientSecret client-secret shared_secret app_secret "
        "consumer_secret webhook_secret signing_secret signing_key signingKey encryption_key encryptionKey aes_key "
        "hmac_key private_key privateKey master_key session_key sessionid debatable:session_id session_token sessionToken "
        "cookie csrf_secret jwt_secret oauth_token oauth_token_secret personal_access_token deploy_token "
        "aws_secret_access_key AWS_SECRET_ACCESS_KEY aws_session_token account_key storage_key service_key license_secret "
        "credentials credential token vault_token stripe_key sendgrid_api_key OPENAI_API_KEY slack_token github_token "
        "datadog.api.key twilio_auth_token AUTH_TOKEN security_token ssh_private_key recovery_key access_key bot_token"
    ).split(),
    lambda d: d.chars("s", 32): ["otp_seed", "totp_secret", "mfa_secret", "otpSecret"],
    lambda d: d.chars("d", 6): [
        "debatable:otp_code",
        "debatable:one_time_code",
        "debatable:verification_code",
        "debatable:pin",
    ],
    lambda d: d.fill("[l5]-[l5]"): ["recovery_code", "backup_code"],
    _card: ["card_number", "cardNumber", "credit_card"],
    lambda d: d.chars("d", 3): ["cvc", "cvv", "card_cvc"],
    lambda d: f"host=db.example.com dbname=crm user=app password={d.fill('[a20]')}": [
        "connection_string",
        "connectionString",
    ],
}
PLURALS = ["passwords", "api_keys", "tokens", "secrets", "backup_codes", "private_keys", "credentials_list"]


def _placed(draw: Draw, name: str, value: str) -> object:
    options: list[Callable[[], object]] = [
        lambda: {"user_id": draw.randint(1, 9999), name: value},
        lambda: {"connector": {"host": "api.example.com", name: value}, "since": "2024-05-01"},
        lambda: {"accounts": [{"id": 1, "region": "eu"}, {"id": 2, name: value}]},
        lambda: {"body": json.dumps({"name": "Dana", name: value})},
        lambda: {"args": [], "kwargs": {name: value, "retry": True}},
        lambda: {"changes": {"email": ["a@example.com", "b@example.com"]}, name: value},
    ]
    return draw.choice(options)()


def secrets() -> Iterator[tuple[str, object, str]]:
    """Two payloads for each name; one for each plural and each split of a name over two levels."""
    for value, spelled in NAMES.items():
        for name in spelled:
            debatable = "debatable:" if name.startswith("debatable:") else ""
            bare = name.removeprefix("debatable:")
            title = f"{debatable}name/{bare}"
            draw = Draw(title)
            for _ in range(2):
                secret = value(draw)
                shown = f"Bearer {secret}" if bare == "Authorization" else secret
                yield title, _placed(draw, bare, shown), secret.rpartition("password=")[2]
    for name in PLURALS:
        draw = Draw(f"name/{name}")
        secret = draw.password() if name == "passwords" else draw.opaque()
        yield f"name/{name}", {"service": "billing", name: [secret]}, secret
    draw = Draw("name/nested")
    secret = draw.opaque()
    yield "name/nested-secret-value", {"webhook": {"secret": {"value": secret, "version": 3}}}, secret
    secret = draw.password()
    yield "name/nested-auth-pair", {"smtp": {"auth": ["mailer@example.com", secret], "port": 587}}, secret
    secret = draw.opaque()
    yield (
        "name/name-and-value",
        {"env": [{"name": "LOG_LEVEL", "value": "info"}, {"name": "API_TOKEN", "value": secret}]},
        secret,
    )
    secret = draw.password()
    yield "name/field-and-value", {"fields": [{"field": "password", "value": secret}]}, secret
    secret = draw.opaque()
    yield "name/header-pairs", {"headers": [["Accept", "text/csv"], ["X-Auth-Token", secret]]}, secret
    secret = draw.opaque()
    yield "name/token-in-a-word-list", {"argv": ["sync", "--token", secret, "--verbose"]}, secret
