"""Names under which secrets are kept.

A name is read as words, however it is written: `api_key`, `apiKey`, `API-KEY` and `x-api-key` are the same. It counts
if it *ends* in a word for a secret: `stripe_secret_key` does, `secret_santa_id`, `token_count` and `password_reset_url`
do not. In other languages the word may also come first: `mot_de_passe_admin`, `пароль_пользователя`. Of what counts,
the value must be able to be a secret too: that is in `secret_values`.

Deliberately no secret by name: `key`, and keys that order, cache or identify (`primary_key`, `s3_key`,
`idempotency_key`), while those of anything unknown count if a generator made the value; tokens of pages, models and
searches (`next_page_token`, `max_tokens`); codes that are printed on tickets (`confirmation_code`, `pin_code`, which is
a postal code in India); licence keys. Personal data are not secrets either (names, addresses, an IBAN): a task names
them with `sensitive`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from unicodedata import normalize

from django_jobqueue.payload.secret_words import (
    ALONE,
    ENDINGS,
    FOREIGN,
    KEY_OWNERS,
    MAYBE_SECRETS,
    NO_CARDS,
    NO_KEYS,
    NO_PASSES,
    NO_TOKENS,
    OWNERS,
    PASSWORDS,
    STORAGE,
    TRAILING,
    WORDS,
    Kind,
)

_SPLIT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\x00-\x7f]+")
# In one word: `bindpw`, `requirepass`.
_SHORT = re.compile(r"(\w+)(?:pass|pwd|pw)")
_FIRST_IDEOGRAM, _MAX_BENDING = "\u2e80", 2
_MAX_NAME, _MAX_WORDS = 100, 4
_MARKS = re.compile("[\u0300-\u036f]")
_UNFOLDED = str.maketrans(
    {
        "ł": "l",
        "Ł": "L",
        "ø": "o",
        "Ø": "O",
        "đ": "d",
        "Đ": "D",
        "ß": "ss",
        "æ": "ae",
        "œ": "oe",
        "\u0131": "i",
        "ð": "d",
    }
)


def folded(text: str) -> str:
    """Write letters as their plain forms: `contraseña` is contrasena, `hasło` haslo, full width narrow."""
    if text.isascii():
        return text
    # Composed again, for letters of Korean and vowels of India come apart too.
    return normalize("NFKC", _MARKS.sub("", normalize("NFKD", text))).translate(_UNFOLDED)


_FOREIGN = re.compile("|".join(re.escape(folded(word)) for word in FOREIGN))
_SEPARATORS = re.compile(r"[\x00-/:-@\[-`{-\x7f]+")


@lru_cache(maxsize=4096)
def kind_of(name: str) -> Kind | None:
    """Say what secret a name announces; None for other names."""
    plain = folded(name[:_MAX_NAME])
    words = [word.lower() for word in _SPLIT.findall(plain)]
    while len(words) > 1 and (words[-1] in TRAILING or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    return _english(words) or _foreign(words, plain)


def _english(words: list[str]) -> Kind | None:
    last, before = _singular(words[-1]), frozenset(words[:-1])
    if last == "pass":
        # A boarding pass, a season pass: what may stand before it decides.
        return Kind.PASSWORD if before and before <= OWNERS else None if before & NO_PASSES else Kind.TOKEN
    if last in WORDS:
        return WORDS[last]
    if (short := _SHORT.fullmatch(last)) and short.group(1) in OWNERS:
        return Kind.PASSWORD
    if kind := _by_ending(words[:-1], last):
        return kind
    if last == "key" and before:
        return (
            None
            if before & NO_KEYS or "".join(words[:-1]) in NO_KEYS
            else Kind.TOKEN
            if before & KEY_OWNERS
            else Kind.KEY
        )
    # `TOKEN_GITHUB`, `password_db`: whose it is comes last.
    if len(words) > 1 and words[-1] in OWNERS | KEY_OWNERS:
        owned = _by_ending(words[:-2], _singular(words[-2])) or WORDS.get(words[-2])
        return Kind.TOKEN if owned in (Kind.PASSWORD, Kind.SECRET, Kind.TOKEN) else None
    return None


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _by_ending(words: list[str], last: str) -> Kind | None:
    joined, before = "".join([*words, last]), frozenset(words)
    for kind, endings in ENDINGS.items():
        if joined.endswith(endings):
            if kind is Kind.TOKEN and last == "token" and before & NO_TOKENS:
                return None
            if (kind is Kind.CARD and before & NO_CARDS) or (joined.endswith("storagekey") and before & STORAGE):
                return None
            return kind
    return None


def _foreign(words: list[str], plain: str) -> Kind | None:
    for part, ends in _parts(words):
        if part in PASSWORDS:
            return Kind.PASSWORD if ends else Kind.TOKEN
        if part in MAYBE_SECRETS and not (part in ALONE and len(words) > 1):
            return Kind.TOKEN
    if plain.isascii():
        return None
    joined = _SEPARATORS.sub("", plain.lower())
    if found := _FOREIGN.search(joined):
        # `密码` is a password, `密码强度` its strength; `паролем` is a password still.
        rest = len(joined) - found.end()
        return Kind.PASSWORD if rest <= (0 if found.group() >= _FIRST_IDEOGRAM else _MAX_BENDING) else Kind.TOKEN
    return None


def _parts(words: list[str]) -> Iterator[tuple[str, bool]]:
    """Yield what the name begins with and ends in, joined, and whether it ends so."""
    for length in range(min(_MAX_WORDS, len(words)), 0, -1):
        for part, ends in (("".join(words[-length:]), True), ("".join(words[:length]), False)):
            yield part, ends
            yield part.removesuffix("s"), ends


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
