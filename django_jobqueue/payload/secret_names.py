"""Names under which secrets are kept, and which values under them are one.

A name is read as words, however it is written: `api_key`, `apiKey`, `API-KEY` and `x-api-key` are the same. It counts
if it *ends* in a word for a secret: `stripe_secret_key` does, `secret_santa_id`, `token_count` and `password_reset_url`
do not. Of what counts, the value must be able to be a secret too: True, None, a count, `"bearer"`, `"required"`, a
template or a label are not.

Deliberately no secret by name: `key`, and keys that order, cache or identify (`primary_key`, `s3_key`,
`idempotency_key`); tokens of pages, models and searches (`next_page_token`, `max_tokens`); codes that are printed on
tickets (`confirmation_code`, `pin_code`, which is a postal code in India); licence keys. Personal data are not secrets
either (names, addresses, an IBAN): a task names them with `sensitive`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from typing import Any
from unicodedata import normalize


class Kind(Enum):
    """What sort of secret a name announces: it decides which values are believed."""

    PASSWORD = "password"  # noqa: S105 - people choose these: nearly any text is one
    SECRET = "secret"  # noqa: S105 - people choose some: any text but a label
    TOKEN = "token"  # noqa: S105 - machines make these: a word or a sentence is none
    DIGITS = "digits"  # PINs, one-time codes, what is on the back of a card
    CARD = "card"


_ENDINGS = {
    Kind.PASSWORD: (
        "password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "motdepasse", "contrasena",
        "wachtwoord", "seedphrase", "mnemonic",
    ),
    Kind.SECRET: (
        "secret", "apikey", "secretkey", "privatekey", "secretaccesskey", "cleapi", "claveapi", "apischluessel",
    ),
    Kind.TOKEN: (
        "token", "authorization", "cookie", "sessionid", "sessionkey", "accesskey", "accesskeyid", "signingkey",
        "encryptionkey", "decryptionkey", "masterkey", "authkey", "accountkey", "sharedkey", "sharedaccesskey",
        "sharedaccesssignature", "sshkey", "deploykey", "servicekey", "servicerolekey", "hmackey", "jwtkey",
        "fernetkey", "credential", "connectionstring", "recoverycode", "backupcode", "authorizationcode", "appkey",
        "storagekey", "integrationkey", "routingkey", "webhookkey", "keymaterial",
    ),
    Kind.DIGITS: (
        "securitycode", "onetimecode", "onetimepassword", "verificationcode", "twofactorcode", "mfacode", "otpcode",
        "smscode", "pinnumber", "cardpin",
    ),
    Kind.CARD: ("cardnumber", "ccnumber", "creditcard", "debitcard", "cardno"),
}  # fmt: skip
_WORDS = {
    # Short ones end many other words: they must stand alone.
    "pwd": Kind.PASSWORD, "pw": Kind.PASSWORD, "passe": Kind.PASSWORD, "pass": Kind.TOKEN, "auth": Kind.TOKEN,
    "jwt": Kind.TOKEN,
    "bearer": Kind.TOKEN, "cred": Kind.TOKEN, "pat": Kind.TOKEN, "pin": Kind.DIGITS,
    "cvv": Kind.DIGITS, "cvc": Kind.DIGITS, "csc": Kind.DIGITS, "otp": Kind.DIGITS, "totp": Kind.DIGITS,
    "pan": Kind.CARD,
}  # fmt: skip
_TRAILING = frozenset(
    (
        "value", "plain", "raw", "hash", "hashed", "encrypted", "header", "confirm", "confirmation", "repeat",
        "again", "new", "old", "current", "live", "test", "prod", "production", "staging", "sandbox", "dev",
        "b64", "base64", "hex", "base", "fallback", "primary", "secondary",
    )
)  # fmt: skip
_NO_TOKENS = frozenset(
    (
        "page", "next", "prev", "previous", "continuation", "pagination", "sync", "resume", "cursor",
        "idempotency", "stop", "special", "max", "min", "total", "prompt", "completion", "input", "output",
        "cached", "eos", "bos", "pad", "unk", "sep", "search", "design", "nft", "erc",
    )
)  # fmt: skip
_NO_CARDS = frozenset(("loyalty", "membership", "member", "library", "bonus", "club", "student"))
_ACCOUNTS = frozenset(
    (
        "db", "database", "user", "smtp", "mysql", "postgres", "pg", "ftp", "sftp", "redis", "rabbitmq", "mail",
        "email", "admin", "root", "my",
    )
)  # fmt: skip
_STORAGE = frozenset(("object", "s3", "file", "blob", "image"))

_SPLIT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MAX_NAME = 100


@lru_cache(maxsize=4096)
def kind_of(name: str) -> Kind | None:
    """Say what secret a name announces; None for other names."""
    plain = normalize("NFKD", name[:_MAX_NAME])  # contraseña is contrasena, and its tilde a sign beside it
    words = [word.lower() for word in _SPLIT.findall(plain.replace("\N{COMBINING TILDE}", ""))]
    while len(words) > 1 and (words[-1] in _TRAILING or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    last, before = words[-1], frozenset(words[:-1])
    if last.endswith("s") and not last.endswith("ss"):
        last = last[:-1]
    joined = "".join([*words[:-1], last])
    if last in _WORDS:
        # A boarding pass, a season pass: only what a password is for may stand before it.
        if last == "pass" and before:
            return None if before - _ACCOUNTS else Kind.PASSWORD
        return _WORDS[last]
    for kind, endings in _ENDINGS.items():
        if joined.endswith(endings):
            if kind is Kind.TOKEN and last == "token" and before & _NO_TOKENS:
                return None
            if (kind is Kind.CARD and before & _NO_CARDS) or (joined.endswith("storagekey") and before & _STORAGE):
                return None
            return kind
    return None


_PLACEHOLDER = re.compile(
    r"(?i)(?:[*•.x_\-\s?#]*|\W*(?:none|null|true|false|yes|no|unset|empty|required|optional|hidden|masked|redacted|"
    r"filtered|changed|expired|reset|weak|strong|medium|invalid|valid|missing|wrong|text|string|field|change|forgot|"
    r"plain|bcrypt|argon2|default|undefined|disabled|enabled|unknown|example|changeme|todo|bearer|basic)\W*)"
)
_TEMPLATE = re.compile(
    r"\{\{|\{%|\$\{|\$\(|%\(|^[<{\[].*[>}\]]$|^(?:arn|vault|env|ssm|file|projects|secretsmanager)[:/]"
)
_LABEL = re.compile(r"(?i)[^\d]*(?:passw|kennwort|passe\b|contrase|secret|token|key|cookie|pin\b)[^\d]*")
_CAPTION = re.compile(r"[A-Z][^\W\d_]*(?:[ -][^\W\d_]+)*[.:!?]?")
_TELLS = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ][\d:.+Z-]*)?"  # a date
    r"|[^\s@]{1,64}@[^\s@]{1,255}\.[a-zA-Z]{2,}"  # an address
    r"|[a-z][a-z0-9+.-]{1,20}://\S*|data:\S*|/[\w./-]*"  # a place
    r"|v?\d+(?:\.\d+)+"  # a version, a price
)
_WORDY = re.compile(r"[A-Za-z]+(?:[-_.:/ ][A-Za-z]+)*")
_CODE = re.compile(r"\d{3,10}|\d{3}[ -]\d{3}")


def is_secret(value: Any, kind: Kind) -> bool:
    """Say whether a scalar under a name of this kind can be the secret itself."""
    if isinstance(value, int):
        # A PIN or a password of digits alone may travel as a number; a count or True may not be taken for one.
        least = {Kind.DIGITS: 100, Kind.PASSWORD: 1000, Kind.CARD: 10**11}.get(kind)
        return least is not None and least <= value < 10**20
    if not isinstance(value, str) or len(value) > 100_000:
        return isinstance(value, str)
    text = value.strip()
    if _PLACEHOLDER.fullmatch(text) or _TEMPLATE.search(text):
        return False
    match kind:
        case Kind.PASSWORD | Kind.SECRET:
            is_label = _LABEL.fullmatch(text) or (kind is Kind.SECRET and _CAPTION.fullmatch(text))
            return len(text) >= 4 and (not is_label or _looks_made(text))
        case Kind.TOKEN:
            return is_made(text)
        case Kind.DIGITS:
            return _CODE.fullmatch(text) is not None
        case Kind.CARD:
            return sum(map(str.isdigit, text)) >= 12


def is_made(text: str) -> bool:
    """Say whether a text is no word, sentence, address, date or place: something a machine made."""
    if len(text) < 8 or _TELLS.fullmatch(text):
        return False
    if any(map(str.isspace, text)):
        # "Bearer …", "sessionid=…; theme=dark": one of its parts is.
        return any(len(part) >= 12 and is_made(part) for part in re.split(r"[\s;,=]+", text[:4000]))
    return not _WORDY.fullmatch(text) or _looks_made(text)


def _looks_made(text: str) -> bool:
    """Say whether letters alone change their case as no word does."""
    changes = sum(left.islower() != right.islower() for left, right in pairwise(text))
    return len(text) >= 10 and changes >= 0.35 * len(text) and not any(map(str.isspace, text))


class Names:
    """The names that a task has declared sensitive.

    Written in any way: `api_key` is `apiKey`, `API-KEY` and `apikey` too. A name, not a path, at every depth. It masks
    too much rather than too little.
    """

    __slots__ = ("_names",)

    def __init__(self, names: Collection[str]) -> None:
        # One name instead of several is a mistake that would declare its letters.
        self._names = frozenset(map(_plain, [names] if isinstance(names, str) else names))

    def __contains__(self, name: object) -> bool:
        return bool(self._names) and isinstance(name, str) and _plain(name) in self._names


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).casefold()
