"""Which values under a name for secrets are one: not switches, counts, labels, masks, templates and messages."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from django_jobqueue.payload.random_words import is_random
from django_jobqueue.payload.secret_names import kind_of
from django_jobqueue.payload.secret_words import Kind

_PLACEHOLDER = re.compile(
    r"(?i)(?:[*•.x_\-\s?#]*|\W*(?:none|null|true|false|yes|no|unset|empty|required|optional|hidden|masked|redacted|"
    r"filtered|removed|scrubbed|sanitized|omitted|withheld|(?:un)?changed|expired|reset|weak|strong|medium|invalid|valid|"
    r"missing|wrong|text|string|field|change|forgot|plain|bcrypt|argon2|default|undefined|disabled|enabled|unknown|"
    r"example|placeholder|dummy|(?:change|replace)[-_ ]?(?:me|it|this)|todo|tbd|n/?a|not[-_ ]set|bearer|basic)\W*"
    r"|.*(?:\*{3}|•|…|x{6}).*)",
    re.DOTALL,
)
# To be filled in, or a name of where the secret is kept.
_TEMPLATE = re.compile(
    r"\{\{|\{%|\$\{|\$\(|%\(|^[<{\[].*[>}\]]$|^\$[A-Za-z_]\w*$|^%\w+%$|^@\w+@$|^ENC\[|^!(?:vault|secret|env)\b"
    r"|^(?:arn|vault|env|ssm|file|projects|secretsmanager)[:/]"
    r"|^(?:op|vault|secret|env|ssm|sops|kv|conjur|ref\+\w{1,20}|\w{1,10}-secret)://"
    r"|^(?:os\.environ|os\.getenv|process\.env|getenv|secrets|vars|config|settings|var|self)[.(\[]"
)
_PUBLIC = re.compile(
    r"(?:ssh-|ecdsa-sha2-|sk-ssh-|sk-ecdsa-)\S+ AAAA|-----BEGIN (?:[A-Z0-9]+ )?(?:PUBLIC|CERTIFICATE)|age1[02-9a-z]{50}"
    r"|pk[_.](?:live|test|eyJ)"
)
_LABEL = re.compile(
    r"(?i)[^\d]*(?:passw|kennwort|passe\b|contrase|secret|token|key\b|schlüssel|schluessel|cookie|pin\b|senha|hasł|"
    r"парол|токен|секрет|密码|密碼|パスワード|비밀번호|암호|كلمة|पासवर्ड)[^\d]*"
)
# What a form answers: `This field is required.`, `too short`.
_MESSAGE = re.compile(
    r"(?:[^\W\d_a-z]|[¿¡])[^\n]*\s[^\n]*\s[^\n]*[.!?。]"
    r"|(?i:(?=[^\n]*\s)[^\n]*\b(?:required|must|should|too|invalid|incorrect|match|cannot|can't|blank|"
    r"at least|characters|field|please|not|obligatoire|requis|erforderlich|obligatori[oa]|inv[aá]lid[oa])\b[^\n]*)"
)
_CAPTION = re.compile(r"[A-Z][^\W\d_]*(?:[ -][^\W\d_]+)*[.:!?]?")
_TELLS = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ][\d:.+Z-]*)?"  # a date
    r"|[^\s@]{1,64}@[^\s@]{1,255}\.[a-zA-Z]{2,}"  # an address
    r"|[a-z][a-z0-9+.-]{1,20}://\S*|data:\S*|/[\w./-]*"  # a place
    r"|v?\d+(?:\.\d+)+"  # a version, a price
)
_WORDY = re.compile(r"[-_.]{0,2}[A-Za-z]+(?:[-_.:/ ][A-Za-z]+)*[-_.]{0,2}")
_PATH = re.compile(r"(?:[A-Z]:)?(?:[/\\][\w.@ -]{1,60}){1,20}[/\\]?")
_MIN_KEY, _MIN_SEED, _MAX_LABEL = 20, 16, 40
_CODE = re.compile(r"\d{3,10}|\d{3}[ -]\d{3}")


_RULE = re.compile(r"(?:\\+[nrt]|[\s|:+*=_-])*")
"""A line between the rows of a table, its breaks escaped or not."""


def is_secret(value: Any, kind: Kind) -> bool:
    """Say whether a scalar under a name of this kind can be the secret itself."""
    if isinstance(value, int):
        # A PIN or a password of digits alone may travel as a number; a count or True may not be taken for one.
        least = {Kind.DIGITS: 100, Kind.PASSWORD: 1000, Kind.CARD: 10**11}.get(kind)
        return least is not None and least <= value < 10**20
    if not isinstance(value, str) or len(value) > 100_000:
        return isinstance(value, str)
    text = value.strip()
    if (
        _RULE.fullmatch(text[:300])
        or _PLACEHOLDER.fullmatch(text[:300])
        or _TEMPLATE.search(text)
        or _PUBLIC.match(text)
    ):
        return False
    match kind:
        case Kind.PASSWORD | Kind.SECRET:
            return len(text) >= 4 and (_looks_made(text) or not _is_told(text, kind))
        case Kind.TOKEN:
            return is_made(text)
        case Kind.KEY:
            return is_random(text, _MIN_KEY)
        case Kind.DIGITS:
            return _CODE.fullmatch(text) is not None or is_random(text, _MIN_SEED)
        case Kind.CARD:
            return sum(map(str.isdigit, text)) >= 12


def _is_told(text: str, kind: Kind) -> bool:
    """Say whether a text speaks of a secret: a label, a caption, a message."""
    if _PATH.fullmatch(text):
        return True  # PWD is the place where a shell is
    if (kind is Kind.SECRET and _CAPTION.fullmatch(text)) or _LABEL.fullmatch(text) or _MESSAGE.fullmatch(text[:1000]):
        return True
    # In any language: what could be the name of a secret.
    return len(text) <= _MAX_LABEL and not any(map(str.isdigit, text)) and kind_of(text) not in (None, Kind.KEY)


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
    if len(text) < 10 or any(map(str.isspace, text)):
        return False
    changes = sum(
        left.islower() != right.islower() for left, right in pairwise(text) if left.isalpha() and right.isalpha()
    )
    return changes >= 0.35 * len(text)
