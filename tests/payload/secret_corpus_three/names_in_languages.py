# A list of words is easier to read as a text.
# ruff: noqa: SIM905
"""Opaque secrets beside names that are not English; each name is a format of its own."""

from __future__ import annotations

from collections.abc import Iterator

from tests.payload.secret_corpus_three.draw import Draw

NAMES = (
    "passwort kennwort Passwort benutzer_passwort zugangspasswort geheimnis geheimer_schluessel zugangsdaten "
    "mot_de_passe motDePasse mdp cle_api cle_secrete contraseña contrasena clave_secreta clave_api senha palavra_passe "
    "chave_secreta wachtwoord lösenord losenord passord adgangskode salasana hasło haslo heslo jelszo jelszó parola "
    "chiave_segreta sifre şifre lozinka пароль пароль_пользователя κωδικός パスワード 密码 密钥 비밀번호 kata_sandi "
    "mật_khẩu รหัสผ่าน सीक्रेट_पासवर्ड סיסמה كلمة_المرور"
).split()
KEYS = ("geheim", "schluessel", "cle_", "clave", "chave", "chiave", "密钥")


def secrets() -> Iterator[tuple[str, object, str]]:
    """Two payloads for each name: at the top, and two levels down."""
    for name in NAMES:
        draw = Draw(f"language/{name}")
        key = name.startswith(KEYS)
        for place in range(2):
            secret = draw.opaque() if key else draw.password()
            if place == 0:
                payload: object = {"id": draw.randint(1, 9999), name: secret}
            else:
                payload = {"import": {"host": "sftp.example.com", "login": {"user": "dana", name: secret}}}
            yield f"language/{name}", payload, secret
