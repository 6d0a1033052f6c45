"""Secrets and innocent payloads, written from published token formats without sight of the detector.

Values are generated from a seed, none is real. Where a format publishes a checksum, it is right.

`HIDDEN` is a list of `(format, payload, secret)`: the payload is any JSON value and holds exactly one secret,
the string `secret`, which occurs in the payload's JSON text (`json.dumps(payload, ensure_ascii=False)`). The word
before the slash in `format` says how it may be known:

- `token`, `key`, `url`: by its own shape, under neutral names and in texts;
- `name`, `language`: by the name beside an opaque value (`language`: a name that is not English);
- `text`: by the words around it in a command, header, file or message.

`INNOCENT` is a list of `(kind, payload)` without a secret. A format or kind that begins with `debatable:` is one on
which careful people differ: `SECRETS` and `PLAIN`, which measure the detector as those of the other corpora do, leave
them out.

The detector was written without sight of all of it, and reworked with sight of half of the formats and kinds
(`is_seen`). The other half, which nobody had looked at, was then measured: recall 98.1 %, false alarms 1.4 %.
"""

from __future__ import annotations

import hashlib

from tests.payload.secret_corpus_three import (
    key_material,
    names,
    names_in_languages,
    plain_code,
    plain_digests,
    plain_ids,
    plain_names,
    plain_prose,
    plain_public,
    plain_records,
    texts_of_files,
    texts_of_requests,
    tokens,
    urls_of_databases,
    urls_with_secrets,
)

HIDDEN: list[tuple[str, object, str]] = [
    *tokens.secrets(),
    *key_material.secrets(),
    *urls_with_secrets.secrets(),
    *urls_of_databases.secrets(),
    *names.secrets(),
    *names_in_languages.secrets(),
    *texts_of_files.secrets(),
    *texts_of_requests.secrets(),
]

INNOCENT: list[tuple[str, object]] = [
    *plain_ids.payloads(),
    *plain_digests.payloads(),
    *plain_names.payloads(),
    *plain_prose.payloads(),
    *plain_public.payloads(),
    *plain_records.payloads(),
    *plain_code.payloads(),
]

_DEBATABLE = "debatable:"

SECRETS = [(format_, payload) for format_, payload, _ in HIDDEN if not format_.startswith(_DEBATABLE)]
PLAIN = [payload for kind, payload in INNOCENT if not kind.startswith(_DEBATABLE)]


def is_seen(name: str) -> bool:
    """Whether the detector was reworked with sight of this format or kind."""
    return hashlib.sha256(f"split{name}".encode()).digest()[0] % 2 == 0


__all__ = ["HIDDEN", "INNOCENT", "PLAIN", "SECRETS", "is_seen"]
