"""Secrets that a text names itself: `password=…`, `"api_key": "…"`, `?token=…`, `Cookie: …`, `--password …`.

Error messages, connection strings, URLs and JSON inside of text write them so. The name before the sign is judged as
the key of a dict is; what is not in quotes must have a digit or a sign in it after a colon, for prose has colons too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from django_jobqueue.payload.secret_names import kind_of
from django_jobqueue.payload.secret_values import is_made, is_secret
from django_jobqueue.payload.secret_words import Kind
from django_jobqueue.payload.table_secrets import table_secrets
from django_jobqueue.payload.written_secrets import written_secrets

_HINTS = (
    "pass", "pw", "secret", "token", "key", "auth", "cookie", "session", "cred", "sig", "cvv", "cvc", "cvn", "csc",
    "pin", "otp", "jwt", "code", "card", "kennwort", "contrase", "wachtwoord", "mnemonic", "seed", "bearer",
    "connection", "pan", "pat", "identified", "login", "psk", "mdp", "senha", "salasana", "haslo", "heslo", "parol",
    "lozinka", "clave", "chave", "sandi", "kek", "dek", "puk", "psw", "jdbc:", "phrase", "zugangsdaten", "net us",
    "sudo", "echo ", "securestring", "sqlplus", "pdo(", "mysqli", ":5432:", ":*:",
)  # fmt: skip
_SWITCHES = (" -u", " -p", " -a", " -w", " --user", " /user")
_SIGNS = frozenset("=:\uff1a")  # the last is full width
_SIGN = re.compile(r"=>|:=|[=:\uff1a]|(?<=[a-zA-Z]) (?=[^\s-])")
_NAME_BACKWARDS = re.compile(r"\s{0,3}\]?(?:[\"']\\{0,3})?([\w.\-\u0080-\u2021\u2023-\uff19\uff1b-\U0010ffff]{2,64})")
_OPENING = re.compile(r"\s{0,3}(?:[bru]?(\\{0,3}[\"'])|)")
_BARE = re.compile(r"[^\s\"'<>,;&(){}\[\]|\\•=\uff1a]{1,2000}={0,2}")
_REST = re.compile(r"[^\s\"'<>,;&\[\]|\\•]*")
_LINE = re.compile(r"[^\r\n\"'<>\\•]{1,2000}")
_HEADERS = frozenset(("authorization", "proxy-authorization", "cookie", "set-cookie"))
_QUERY_ONLY = frozenset(
    ("sig", "signature", "x-amz-signature", "x-goog-signature", "x-amz-security-token", "code", "key")
)
_MAX_QUOTED = 5000
_SWITCH = 4


def assigned_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the values stand that the text itself calls secret."""
    lower = text.lower()
    if text.isascii() and not _speaks(lower):
        return
    if "\n" in text or "\\n" in text:
        yield from table_secrets(text)
    yield from written_secrets(text, lower)
    if _SIGNS.isdisjoint(text) and " -" not in text:
        return
    passed = 0
    for sign in _SIGN.finditer(text):
        if sign.start() < passed:
            continue
        named = _NAME_BACKWARDS.match(text[max(0, sign.start() - 72) : sign.start()][::-1])
        if named is None:
            continue
        name = named.group(1)[::-1]
        # JSON inside of text: `\\nkey` is a line break and `key`.
        if name[0] in "nrt" and text[sign.start() - len(named.group()) - 1 : sign.start()].startswith("\\"):
            name = name[1:]
        # A resource's name is a chain of colons: `…:secret:prod/db`.
        if sign.group() == ":" and text[sign.start() - len(name) - 1 : sign.start()] == f":{name}":
            continue
        # `--password`; and `-storepass`, for one letter is a switch.
        is_option = name.startswith("--") or (name.startswith("-") and len(name) > _SWITCH)
        if sign.group() == " " and not is_option:
            continue
        if sign.group() == ":" and name.lower() in _HEADERS:
            line = _LINE.match(text, sign.end())
            if line is not None:
                # Judged once, whatever other signs are in it.
                passed = line.end()
                if _is_header(line.group()):
                    yield line.end() - len(line.group().lstrip()), passed
        elif place := _value(text, sign.end(), name.lstrip("-"), sign.group()):
            passed = place[1]
            yield place


def _speaks(lower: str) -> bool:
    # A loop of its own: this is asked of nearly every text.
    for hint in _HINTS:
        if hint in lower:
            return True
    return (" -" in lower or " /" in lower) and any(switch in lower for switch in _SWITCHES)


def _value(text: str, at: int, name: str, sign: str) -> tuple[int, int] | None:
    opening = _OPENING.match(text, at)
    start = opening.end() if opening is not None else at
    quote = opening.group(1) if opening is not None else None
    kind = kind_of(name)
    if kind is None:
        return _signature(text, start) if sign == "=" and name.lower() in _QUERY_ONLY else None
    if quote:
        end = text.find(quote, start, start + _MAX_QUOTED)
        if end >= 0:
            # A quote that ends something else opens nothing.
            quoted = text[start:end]
            return (start, end) if "•" not in quoted and "\n" not in quoted and is_secret(quoted, kind) else None
    bare = _BARE.match(text, start)
    if bare is None:
        return None
    value = bare.group().rstrip(".:!?")
    # A mask, an opening bracket: the value was hidden, or is code.
    if text[bare.end() : bare.end() + 1] in ("•", "("):
        return None
    if not _is_bare_secret(value, kind, sign, text[at:start]):
        return None
    rest = _REST.match(text, bare.end())
    return start, rest.end() if rest is not None and rest.group() else start + len(value)


def _is_bare_secret(value: str, kind: Kind, sign: str, gap: str) -> bool:
    if not is_secret(value, kind):
        return False
    if not value.isascii() and not any(map(str.isdigit, value)):
        return False  # a sentence: vowels of some scripts are no letters
    if value.replace("_", "a").replace(".", "a").isalpha() and not is_made(value):
        # `password=swordfish` in a connection string; not `password = value` in a line of code.
        return kind is Kind.PASSWORD and sign == "=" and not gap and value.isalpha()
    return True


def _is_header(line: str) -> bool:
    return any(
        len(part) >= 8 and is_made(part) and re.search(r"\d|[A-Z].*[A-Z]", part) for part in re.split(r"[\s;,=]+", line)
    )


def _signature(text: str, start: int) -> tuple[int, int] | None:
    """Find what signs a URL, and so opens it: 20 characters at least, so that `code=SUMMER24` is none."""
    bare = _BARE.match(text, start)
    if bare is None or len(bare.group()) < 20 or not re.search(r"\d", bare.group()) or not is_made(bare.group()):
        return None
    return bare.span()
