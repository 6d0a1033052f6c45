"""Commands, elements, calls, tables and sentences hold secrets in their own ways, and much else besides."""

import base64
import json

import pytest

from django_jobqueue.payload.masking import MASK, masked
from django_jobqueue.payload.secret_shapes import findings

FOUND = [
    # Files of settings.
    "<server><id>nexus</id><password>Tulip-Garden9</password></server>",
    "<wsse:Password Type='x'>Tulip-Garden9</wsse:Password>",
    '<add key="ClearTextPassword" value="Tulip-Garden9" />',
    '<property name="password" value="Tulip-Garden9"/>',
    '<entry key="apiKey">9f8e7d6c5b4a</entry>',
    "define( 'DB_PASSWORD', 'tulip-garden-9' );",
    "$db['password'] = 'Tulip-Garden9';",
    "os.environ.setdefault('DB_PASSWORD', 'tulip-garden-9')",
    "make_password('tulip-garden-9')",
    "env:\n  - name: DB_PASSWORD\n    value: Tulip-Garden9\n",
    'network={\n  ssid="Office"\n  psk="tulip-garden-9"\n}',
    "requirepass Tulip-Garden9\nmaxmemory 1gb",
    "db.example.com:5432:shop:app:Tulip-Garden9\n",
    '{"content": "[offsite]\\nkey = q7Xk2mP9vL4tR8wZ1nB6c3Y5dF0gH2jK\\n"}',
    # Command lines.
    "curl --user 'anna:Tulip-Garden9' https://example.com",
    "mysqldump -u root -pTulip-Garden9 shop",
    "sshpass -p Tulip-Garden9 ssh anna@example.com",
    "docker login -u ci -p Tulip-Garden9 registry.example.com",
    "redis-cli -h cache -a Tulip-Garden9 ping",
    "ldapsearch -x -D cn=admin -w Tulip-Garden9 -b dc=example",
    "net use Z: \\\\files\\share /user:ACME\\anna tulip-garden-9",
    "keytool -genkey -storepass Tulip-Garden9",
    "openssl rsa -in a.pem -passin pass:Tulip-Garden9",
    "echo 'Tulip-Garden9' | docker login --password-stdin",
    "$c = ConvertTo-SecureString 'Tulip-Garden9' -AsPlainText -Force",
    "sqlplus scott/Tulip9Garden@orcl",
    # Sentences.
    "your new password is: Tulip-Garden9",
    "the encryption key of the archive is 0cc175b9c0f1b6a831c399e2697726610cc175b9c0f1b6a831c399e269772661",
    "HMAC secret (base64): tIGuxwZkIKG9sKFWEqKxzKWtLuSDGNvtIbyieZSnuiU=",
    "here is the api key for staging: q7Xk2mP9vL4tR8wZ1nB6c3Y5dF0gH2jK",
    "Ihr neues Passwort lautet: Tulip-Garden9",
    "A senha é Tulip-Garden9",
    "Пароль: Tulip-Garden9",
    "密码\uff1aTulip-Garden9",
    "creds: anna / Tulip-Garden9",
    "Contraseña temporal: Tulip-Garden9",
    "您的密码是Tulip-Garden9",
    "Recovery phrase: noodle jungle rabbit cargo ladder eagle bicycle hammer badge galaxy ticket fabric",
    "smtp.login('anna@example.com', 'Tulip-Garden9')",
    # Tables.
    "| system | user | password |\n|---|---|---|\n| erp | batch | Tulip-Garden9 |\n",
    "username,password\nanna,Tulip-Garden9\n",
    "name\tapi_key\nshop\t9f8e7d6c5b4a\n",
    # Mail servers, URLs.
    "AUTH PLAIN " + base64.b64encode(b"\0robot\0Tulip-Garden9").decode(),
    "https://app.example.com/invite/accept?otp=wYlwWJmCNCctK8OsfOL43Et1bwh0GeWF",
    "https://app.example.com/reset-password/q7Xk2mP9vL4tR8wZ1nB6c3Y5dF0gH2jK",
]
LET_THROUGH = [
    "<label for=x>Password</label><input type=password name=password>",
    '<string name="password">Mot de passe</string>',
    '<xs:element name="password" type="xs:string"/>',
    "('username', 'password'), ('password', 'last_login')",
    "password = forms.CharField(label='Password')",
    "cfg.get('password', 'missing')",
    "Philippe <pw at example.com>\nAndrew Bailey <ab at example.com>",
    "PWD=/srv/app LANG=C ./run",
    "def ask(prompt='Password: '):\n    return input(prompt or '> 2')",
    'TOKEN_NAME = "_reset_token"\nSESSION_TOKEN = "_password_reset_token"',
    "f(\n    password,\n    salt=make_salt_v2(),\n    rounds=decoded[0],\n)",
    "Password (again)",
    "पासवर्ड: राख्नुहोस",
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db\n      key: password",
    "POSTGRES_PASSWORD_FILE=/run/secrets/postgres",
    "mysql -u root -p shop < dump.sql",
    "ssh -p 2222 anna@example.com",
    "docker run -p 8080:80 --user 1000:1000 nginx",
    "grep -w token src/*.py && cp -a src dst",
    "curl -u $USER:$PASS https://example.com",
    "redis-cli -a $REDIS_PASSWORD ping",
    "git commit -am 'fix password reset'",
    "Your password was changed on 2026-11-30 at 12:30.",
    "The secret to good coffee is 18g per shot.",
    "Token usage: 1523 prompt, 88 completion",
    "API key rotated for tenant acme-eu1",
    "the key is under the mat at no42b",
    "Password policy: min8 chars, 1 digit",
    "| field | type |\n|---|---|\n| password | string |\n| token | uuid |\n",
    "name,token_count\nshop,25\n",
    "Enter username, password, and code\nthen press 5, wait, and go",
    "https://example.com/reset/how-to-reset-your-password-in-2026",
    "https://example.com/webhooks/3c1f9b52-7b1e-4a6e-9f39-3a8f0f4f7f10",
    "https://0cc175b9c0f1b6a831c399e269772661@sentry.example.com/5",
]


@pytest.mark.parametrize("text", FOUND)
def test_secret_is_found_where_it_is_written(text):
    """By itself, among others, and as JSON inside of text writes it."""
    assert findings({"body": text})
    assert findings([17, {"files": [{"text": f"{text}\n"}]}])


@pytest.mark.parametrize("text", LET_THROUGH)
def test_text_with_the_words_alone_is_let_through(text):
    """Forms, schemas, code and prose have the words, and names of other things where a secret would be."""
    assert not findings({"body": text})


@pytest.mark.parametrize("text", [text for text in FOUND if "Tulip-Garden9" in text])
def test_only_the_secret_is_masked(text):
    """What stands around it can be read, and nothing is left to find."""
    shown = masked({"body": text})["body"]

    assert shown == text.replace("Tulip-Garden9", MASK)
    assert not findings(shown)


def test_option_tells_the_word_after_it():
    """A command line that travels as a list has the option in one item and its value in the next."""
    argv = ["sync", "--password", "swordfish", "--user", "anna", "--token", "--verbose"]

    assert [finding.path for finding in findings({"argv": argv})] == ["['argv'][2]"]
    assert masked(argv) == ["sync", "--password", MASK, *argv[3:]]


def test_private_part_of_a_web_key_is_found():
    """Of a JSON Web Key `d` is private, `x` and `y` are not."""
    key = {"kty": "EC", "crv": "P-256", "x": "q7Xk2mP9vL4tR8wZ1nB6", "d": "c3Y5dF0gH2jKq7Xk2mP9"}

    assert [finding.path for finding in findings({"keys": [key]})] == ["['keys'][0]['d']"]


def test_json_in_base64_is_looked_into():
    """Whole files travel so; a cursor, which is base64 of JSON too, has no secret in it."""
    file, cursor = (
        base64.b64encode(json.dumps(value).encode()).decode()
        for value in ({"user": "anna", "password": "Tulip-Garden9"}, {"after": 500, "order": "created"})
    )

    assert findings({"data": file})
    assert masked({"data": f"got {file}"}) == {"data": f"got {MASK}"}
    assert not findings({"data": cursor})


def test_private_key_in_base64_is_found_and_a_certificate_is_not():
    """Kubernetes and CI variables write PEM in base64 once more."""
    private, public = (
        base64.b64encode(f"-----BEGIN {kind}-----\nMIIB{'Ab3/' * 60}\n".encode()).decode()
        for kind in ("RSA PRIVATE" + " KEY", "CERTIFICATE")
    )

    assert findings({"data": private})
    assert not findings({"data": public})
