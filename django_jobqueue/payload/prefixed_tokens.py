"""Tokens of makers whom no list has: a prefix that tells (`acme_live_…`, `xy-secret-…`, `abckey-…`) and a random tail.

Makers write what a token is into its first letters, so that scanners find it. Ids have prefixes too, and random tails:
`cus_…`, `evt_…`, `price_…`. So the prefix must have a word for a secret in it and none for what is public, and the tail
must be of a generator: letters and digits mixed, 20 of them, or 16 after a word that cannot be meant otherwise; after
any other word 30, for so long are no ids. A tail of hexadecimal digits may be a checksum: it counts only after a word
that cannot be meant otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from django_jobqueue.payload.innocent_words import is_identifier_name
from django_jobqueue.payload.random_words import is_random, name_before

MIN_PREFIXED = 18
"""Characters of the shortest."""
_MIN_SURE_TAIL, _MIN_TAIL, _MIN_LONG_TAIL = 16, 20, 30
_CANDIDATE = re.compile(
    r"[A-Za-z](?:(?<![A-Za-z0-9•_.-].)|(?<=\\[nrt].)|(?<=%3[ADad].))"
    r"[A-Za-z0-9]{0,15}[_-][A-Za-z0-9_-]{16,280}+={0,2}+(?![•.]\w|[\w@+-])"
)
_SEGMENT = re.compile(r"([A-Za-z][A-Za-z0-9]{0,15})[_-]")
_MAX_SEGMENTS = 4
_HEXADECIMAL = re.compile(r"[0-9a-f]{24,128}|[0-9A-F]{24,128}")
_UUID = re.compile(r"(?:[0-9a-f]{8}-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# After these also a checksum's alphabet counts, and a UUID after the first four.
_BARE_SECRETS = frozenset(("sk", "secret", "pat", "apikey"))
_SURE = _BARE_SECRETS | frozenset(
    ("rk", "key", "token", "tok", "api_key", "sec", "pass", "password", "pwd", "privkey", "skey", "authtoken", "akey")
)
_TELLING = _SURE | frozenset(
    (
        "live", "test", "prod", "production", "sandbox", "api", "auth", "oauth", "refresh", "access", "bearer", "admin",
        "sat", "svcacct", "personal", "private", "priv", "restricted", "whsec", "cred", "creds",
    )
)  # fmt: skip
_ENDINGS = ("key", "token", "secret", "pat", "sk")
_PUBLIC = frozenset(
    (
        "pk", "pub", "public", "publishable", "pubkey", "cs", "ssh", "cache", "idempotency", "client", "sha1", "sha256",
        "sha384", "sha512", "md5", "phc",
    )
)  # fmt: skip


def prefixed_tokens(text: str, name: str = "") -> Iterator[tuple[int, int]]:
    """Yield where tokens stand that nobody has listed. name is the key of the text, as for `secret_places`."""
    for match in _CANDIDATE.finditer(text):
        if _is_token(match.group()):
            outer = name if match.span() == (0, len(text)) else name_before(text, match.start())
            if not _is_id(outer):
                yield match.span()


def _is_token(word: str) -> bool:
    """Say whether a word is a telling prefix and a random tail, wherever the one ends and the other begins."""
    words: set[str] = set()
    at = 0
    while len(words) < _MAX_SEGMENTS and (segment := _SEGMENT.match(word, at)) is not None:
        spelt, at = segment.group(1).lower(), segment.end()
        if spelt in _PUBLIC:
            return False
        words.add(_telling_part(spelt))
        if (word[:at].islower() or not _TELLING.isdisjoint(words)) and _is_tail(word[at:], words):
            return True
    return False


def _telling_part(word: str) -> str:
    """Return what a word says: `abckey` and `key2` say `key`."""
    bare = word.rstrip("0123456789")
    if bare in _TELLING:
        return bare
    return next((ending for ending in _ENDINGS if bare.endswith(ending) and len(bare) <= 8), bare)


def _is_tail(tail: str, words: set[str]) -> bool:
    is_sure = not _SURE.isdisjoint(words)
    least = _MIN_SURE_TAIL if is_sure else _MIN_TAIL if not _TELLING.isdisjoint(words) else _MIN_LONG_TAIL
    if is_random(tail, least):
        return True
    if is_sure and _HEXADECIMAL.fullmatch(tail):
        return True
    return not _BARE_SECRETS.isdisjoint(words) and _UUID.fullmatch(tail) is not None


def _is_id(name: str) -> bool:
    return len(name) > 1 and is_identifier_name(name) and not name.lower().endswith("key")
