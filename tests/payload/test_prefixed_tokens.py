"""Tokens of makers whom no list has are told by a prefix that says so and a random tail; ids and names are not."""

import pytest

from django_jobqueue.payload.secret_shapes import findings
from tests.payload.dice import ALNUM, DICE, HEX, LOWER, URLSAFE, an_id, some

TOKENS = {
    "acme_live_<base62 24>": lambda: "acme" + "_live_" + some(ALNUM, 24),
    "zz-secret-<base64url 40>": lambda: "zz" + "-secret-" + some(URLSAFE, 40),
    "abckey-<base36 30>": lambda: "abc" + "key-" + some(LOWER, 30),
    "xx_pat_<base62 20>": lambda: "xx" + "_pat_" + some(ALNUM, 20),
    "key_<hex 64>": lambda: "ke" + "y_" + some(HEX, 64),
    "sk-zz-<uuid>": lambda: "s" + "k-" + an_id(),
    "foo_<base62 40>": lambda: "foo_" + some(ALNUM, 40),
}
WRAPS = {
    "alone": lambda token: {"data": token},
    "in a sentence": lambda token: {"message": f"Use {token}, please."},
    "in JSON": lambda token: {"body": f'{{"a": "{token}"}}'},
    "in a URL": lambda token: {"url": f"https://example.com/v2/items?page=5&t={token}"},
    "after an escape": lambda token: {"log": f"first\\n{token}"},
}
IDS = {
    "cus_<14>": lambda: "cus_" + some(ALNUM, 14),
    "price_<24>": lambda: "price_" + some(ALNUM, 24),
    "user_<27>": lambda: "user_" + some(ALNUM, 27),
    "order_<base32 26>": lambda: "order_" + some("0123456789abcdefghjkmnpqrstvwxyz", 26),
    "chatcmpl-<29>": lambda: "chatcmpl-" + some(ALNUM, 29),
    "resp_<hex 48>": lambda: "resp_" + some(HEX, 48),
    "test-<commit>": lambda: "test-" + some(HEX, 40),
    "session-<uuid>": lambda: "session-" + an_id(),
    "a pod": lambda: f"api-gateway-{some(HEX, 10)}-{some(LOWER, 5)}",
    "a checkout": lambda: "cs_test_" + some(ALNUM, 58),
    "a publishable key": lambda: "pk" + "_live_" + some(ALNUM, 99),
    "an integrity": lambda: "sha384-" + some(ALNUM, 64),
    "a slug": lambda: "key-facts-about-the-new-release-of-2026-for-developers",
    "a nanoid": lambda: some(URLSAFE, 21),
    "a KSUID": lambda: some(ALNUM, 27),
    "a wallet": lambda: "bc1q" + some("023456789acdefghjklmnpqrstuvwxyz", 38),
    "a key of SSH": lambda: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{some(ALNUM, 43)} anna@laptop",
    "a line of go.sum": lambda: f"golang.org/x/text v0.3.0 h1:{some(ALNUM, 43)}=",
}


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("name", TOKENS)
def test_token_of_an_unknown_maker_is_found(name, wrap):
    """Nearly all of such tokens are found, wherever they stand. A tail may fall out like a word by chance."""
    DICE.seed(name)
    found = [bool(findings(WRAPS[wrap](TOKENS[name]()))) for _ in range(40)]

    assert sum(found) >= 34


@pytest.mark.parametrize("name", IDS)
def test_id_with_a_prefix_is_let_through(name):
    """Ids say of what they are, and are random; so are checksums and what is public."""
    DICE.seed(name)
    ids = [IDS[name]() for _ in range(40)]
    alarms = [value for value in ids if findings({"data": value}) or findings({"text": f"see {value} there"})]

    assert len(alarms) <= 1, alarms


def test_token_under_the_name_of_an_id_is_let_through():
    """Where the payload itself says that it is an id, chance is not believed; a known format is."""
    DICE.seed("id")
    unknown = "foo_" + some(ALNUM, 40)

    assert not findings({"order_id": unknown})
    assert findings({"order_id": "gh" + "p_" + some(ALNUM, 36)})
