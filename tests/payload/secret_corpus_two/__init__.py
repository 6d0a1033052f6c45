"""A second corpus for the guard of payloads, written without sight of the guard.

`SECRETS` measures recall: each payload holds exactly one secret of the named format.
`PLAIN` measures false alarms: payloads as shops, CRMs, billing, newsletters, reports and integrations queue them.

Every random part comes from a seed and is put together at run time: nothing here was ever a credential, and no
scanner of a code forge finds one in the source.
"""

from tests.payload.secret_corpus_two.credentials import CREDENTIALS
from tests.payload.secret_corpus_two.families import FAMILIES
from tests.payload.secret_corpus_two.formats import TOKENS
from tests.payload.secret_corpus_two.innocent import INNOCENT
from tests.payload.secret_corpus_two.texts import TEXTS

SECRETS: list[tuple[str, object]] = [*TOKENS, *CREDENTIALS]
PLAIN: list[object] = [*INNOCENT, *TEXTS, *FAMILIES]
