"""Names for secrets, and what under them is one."""

import pytest

from django_jobqueue.payload.secret_names import Names, kind_of
from django_jobqueue.payload.secret_values import is_secret
from django_jobqueue.payload.secret_words import Kind


@pytest.mark.parametrize(
    "name",
    [
        "password", "PASSWORD", "userPassword", "password2", "password_confirmation", "smtp_pass", "api_key",
        "apiKey", "X-API-Key", "APIKey", "stripe_secret_key_test", "clientSecret", "access_token", "idToken",
        "authorization", "Set-Cookie", "sessionid", "session_id", "private_key", "AWS_SECRET_ACCESS_KEY",
        "credentials", "card_number", "cvv", "pin", "csrfmiddlewaretoken", "tokens", "recovery_codes", "jwt",
        "sudo_pass", "bindpw", "requirepass", "mdp", "psk", "aes_key", "stripe_key", "recovery_key", "client-key-data",
        "TOKEN_GITHUB", "password_db", "PHPSESSID", "otp_seed", "blueberry_key",
    ],
)  # fmt: skip
def test_name_of_a_secret_counts(name):
    """A name counts that ends in a word for a secret, however it is written."""
    assert kind_of(name) is not None


@pytest.mark.parametrize(
    "name",
    [
        "token_count", "max_tokens", "next_page_token", "password_reset_url", "secret_santa_id", "key",
        "session_minutes", "csrf_enabled", "keyboard", "author", "authority", "monkey", "passport_country",
        "secretary_name", "primary_key", "idempotency_key", "s3_key", "boarding_pass", "compass", "pin_code",
        "confirmation_code", "token_type", "spin", "cookie_policy", "loyalty_card_number", "iban", "company",
        "secret_name", "_", "123", "", "passenger", "passed", "password_changed_at", "key_id", "cache_key", "row_key",
        "dedupe_key", "issue_key", "season_pass", "bypass", "token_ids", "password_hint", "secret_santa_group",
    ],
)  # fmt: skip
def test_name_of_something_else_does_not_count(name):
    """A name does not count that only has a secret's word in it."""
    assert kind_of(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "contraseña", "contraseña_usuario", "nueva_contrasena", "motDePasse", "mot_de_passe_admin", "senha_do_cliente",
        "neuesPasswort", "palavra-passe", "senha",
        "wachtwoord", "salasana", "hasło", "haslo_uzytkownika", "heslo", "lozinka", "jelszó", "şifre", "parola",
        "lösenord", "adgangskode", "mật_khẩu", "kata_sandi", "clave_api", "chave_secreta", "clé_secrète",
        "api_schlüssel", "klucz_api", "пароль", "пароль_пользователя", "новыйПароль", "секретный_ключ", "токен",
        "κωδικός_πρόσβασης", "סיסמה", "كلمة_المرور", "पासवर्ड", "सीक्रेट_पासवर्ड", "รหัสผ่าน", "密码", "登录密码", "密钥",
        "パスワード", "アクセスキー", "비밀번호", "პაროლი",
        "գաղտնաբառ", "\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44",
    ],
)  # fmt: skip
def test_name_counts_in_other_languages(name):
    """With accents and without, in other scripts and in full width; of two words also where the first one says it."""
    assert kind_of(name) is not None


@pytest.mark.parametrize(
    "name",
    [
        "mot_clé",
        "code_postal",
        "clave_cliente",
        "chave_pix",
        "schlüsselbund",
        "ключ",
        "имя",
        "关键词",
        "キーワード",
        "열쇠",
    ],
)
def test_name_of_something_else_does_not_count_in_other_languages(name):
    """Words for keys of other sorts, and for words."""
    assert kind_of(name) is None


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("hunter2", Kind.PASSWORD),
        ("correct horse battery staple", Kind.PASSWORD),
        ("Password123!", Kind.PASSWORD),
        (12345678, Kind.PASSWORD),
        ("s3cr3t", Kind.SECRET),
        ("swordfish", Kind.SECRET),
        ("9f8e7d6c5b4a", Kind.TOKEN),
        ("3c1f9b52-7b1e-4a6e-9f39-3a8f0f4f7f10", Kind.TOKEN),
        ("Bearer 9f8e7d6c5b4a", Kind.TOKEN),
        ("a=b; sid=9f8e7d6c5b4a", Kind.TOKEN),
        ("123 456", Kind.DIGITS),
        (123, Kind.DIGITS),
        (4000123456789010, Kind.CARD),
        ("4000-1234-5678-9010", Kind.CARD),
        ("q7Xk2mP9vL4tR8wZ1nB6c3Y5", Kind.KEY),
        ("tIGuxwZkIKG9sKFWEqKxzKWtLuSDGNvtIbyieZSnuiU=", Kind.KEY),
        ("wYlwWJmCNCctK8OsfOL43Et1bwh0GeWF", Kind.DIGITS),
    ],
)
def test_value_that_can_be_the_secret_counts(value, kind):
    """What people choose and what machines make counts under the names for it."""
    assert is_secret(value, kind)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, Kind.PASSWORD),
        (5, Kind.PASSWORD),
        (None, Kind.PASSWORD),
        (1.5, Kind.TOKEN),
        (4711, Kind.TOKEN),
        ("", Kind.PASSWORD),
        ("required", Kind.PASSWORD),
        ("********", Kind.PASSWORD),
        ("{{ password }}", Kind.PASSWORD),
        ("Enter your password", Kind.PASSWORD),
        ("arn:aws:secretsmanager:eu:1:secret:x", Kind.SECRET),
        ("Geheimnis", Kind.SECRET),
        ("bearer", Kind.TOKEN),
        ("client_credentials", Kind.TOKEN),
        ("anna@example.com", Kind.TOKEN),
        ("2026-11-30T08:00:00Z", Kind.TOKEN),
        ("https://example.com/9f8e7d6c", Kind.TOKEN),
        ("a word of thanks", Kind.TOKEN),
        ("Visa", Kind.CARD),
        ("**** 4242", Kind.CARD),
        ("north", Kind.DIGITS),
        (17, Kind.DIGITS),
        ("••••••", Kind.SECRET),
        ("***REMOVED***", Kind.TOKEN),
        ("[FILTERED]", Kind.TOKEN),
        ("your-api-key-here", Kind.SECRET),
        ("sk_live_********1234", Kind.TOKEN),
        ("xxxxxxxxxxxx", Kind.PASSWORD),
        ("change-me", Kind.PASSWORD),
        ("$DB_PASSWORD", Kind.PASSWORD),
        ("%DB_PASSWORD%", Kind.PASSWORD),
        ("op://vault/item/field", Kind.SECRET),
        ("os.environ['TOKEN']", Kind.TOKEN),
        ("This field is required.", Kind.PASSWORD),
        ("too short", Kind.PASSWORD),
        ("Wachtwoord", Kind.PASSWORD),
        ("/srv/app/current", Kind.PASSWORD),
        ("请输入密码", Kind.PASSWORD),
        ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI4Vbq anna@laptop", Kind.TOKEN),
        ("0cc175b9c0f1b6a831c399e269772661", Kind.KEY),
        ("3c1f9b52-7b1e-4a6e-9f39-3a8f0f4f7f10", Kind.KEY),
        ("products/4711/front.jpg", Kind.KEY),
    ],
)
def test_value_that_cannot_be_the_secret_does_not_count(value, kind):
    """Switches, counts, words, labels, templates and masks are no secrets under any name."""
    assert not is_secret(value, kind)


def test_declared_name_is_found_however_it_is_written():
    """A sensitive name holds for every way to write it, and for no part of it."""
    names = Names(["homeAddress", "tax-number"])

    assert all(name in names for name in ("home_address", "HOME-ADDRESS", "homeaddress", "taxNumber"))
    assert not any(name in names for name in ("address", "home", "tax_numbers", "", 5, None))


def test_one_name_may_be_given_as_text():
    """A text instead of a list is one name, not its letters."""
    assert "iban" in Names("iban")
    assert "i" not in Names("iban")
