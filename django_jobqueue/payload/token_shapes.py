"""Tokens that can be told by their looks: what their makers publish about prefix, alphabet and length.

A shape is searched for by a literal part of it, as fast as `in` is, and compared only where that stands. So a text
without secrets costs a few microseconds, and no text more than its length: what follows a literal is either of a
bounded length, or runs to the end of the word and is then behind us.

A new shape is one line in `_SHAPES`, and one in the corpus of the tests.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Place(NamedTuple):
    """Where in a text a secret stands, and what it looks like."""

    start: int
    end: int
    why: str


class _Shape(NamedTuple):
    why: str
    literal: str
    pattern: re.Pattern[str]
    back: int
    """How many characters the pattern begins before the literal."""


# Not inside a longer word, but after an escape: `\nsk_live_…`, `%3Dsk_live_…`. A mask is part of a word.
_START = r"(?:(?<![A-Za-z0-9•])|(?<=\\[nrt])|(?<=%[0-9A-F]{2})|(?<=\\u00[0-9a-f]{2}))"
_END = r"(?![A-Za-z0-9])"
_HEX, _ALNUM, _URLSAFE = "[0-9a-f]", "[A-Za-z0-9]", "[A-Za-z0-9_-]"


def _shape(why: str, literals: str, rest: str, *, start: str = _START, back: str = "", length: int = 0) -> list[_Shape]:
    return [
        _Shape(why, literal, re.compile(start + back + re.escape(literal) + rest), length)
        for literal in literals.split()
    ]


_SHAPES = [
    *_shape("AWS access key", "AKIA ASIA ABIA ACCA", "[A-Z0-9]{16}" + _END),
    *_shape("Amazon MWS token", "amzn.mws.", "[0-9a-f-]{36}"),
    *_shape("Amazon Bedrock key", "ABSK", "[A-Za-z0-9+/]{100,}={0,2}"),
    *_shape("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", "[A-Za-z0-9_]{36,}"),
    *_shape("GitHub token", "github_pat_", "[A-Za-z0-9_]{36,}"),
    *_shape("GitLab token", "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas-", r"[\w.-]{20,}"),
    *_shape("GitLab token", "GR1348941", _URLSAFE + "{20,}"),
    *_shape("Slack token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe.xox xoxo- xoxp- xoxr- xoxs- xapp-", r"[\w.%-]{10,}"),
    *_shape("Slack webhook", "hooks.slack.com/services/ hooks.slack.com/triggers/", r"[\w/-]{20,}"),
    *_shape("Slack webhook", "hooks.slack.com/workflows/", r"[\w/-]{20,}"),
    *_shape("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", _ALNUM + "{10,}"),
    *_shape("Stripe webhook secret", "whsec_", "[A-Za-z0-9+/]{24,}={0,2}"),
    *_shape("Google API key", "AIza", _URLSAFE + "{35}"),
    *_shape("Google OAuth token", "ya29.", r"[\w.-]{20,}"),
    *_shape("Google OAuth token", "1//0", _URLSAFE + "{40,}"),
    *_shape("Google client secret", "GOCSPX-", _URLSAFE + "{20,}"),
    *_shape("Firebase server key", ":APA91b", _URLSAFE + "{100,}", start="", back="AAAA[A-Za-z0-9_-]{7}", length=11),
    *_shape("Twilio key", "SK", _HEX + "{32}" + _END),
    *_shape("SendGrid key", "SG.", _URLSAFE + r"{16,32}\.[\w-]{16,}"),
    *_shape("Mailgun key", "key- pubkey-", "[0-9a-z]{32}" + _END),
    *_shape("Mailchimp key", "-us", r"\d{1,2}" + _END, back=_HEX + "{32}", length=32),
    *_shape("Mandrill key", "md-", "[A-Za-z0-9_-]{22}" + _END),
    *_shape("Brevo key", "xkeysib- xsmtpsib-", "[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    *_shape("Resend key", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    *_shape("npm token", "npm_", _ALNUM + "{36,}"),
    *_shape("PyPI token", "pypi-AgE", _URLSAFE + "{50,}"),
    *_shape("RubyGems key", "rubygems_", _HEX + "{48}"),
    *_shape("NuGet key", "oy2", "[a-z0-9]{43}" + _END),
    *_shape("Docker token", "dckr_pat_ dckr_oat_", _URLSAFE + "{20,}"),
    *_shape("Clojars token", "CLOJARS_", _ALNUM + "{60}"),
    *_shape("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", _HEX + "{64}"),
    *_shape("Shopify token", "shpat_ shpca_ shppa_ shpss_ shpua_ shprt_", "[0-9a-fA-F]{32,}"),
    *_shape("Square token", "sq0atp- sq0csp-", _URLSAFE + "{22,}"),
    *_shape("Square token", "EAAA", _URLSAFE + "{60}" + _END),
    *_shape("Facebook token", "EAA", _ALNUM + "{80,}"),
    *_shape("OpenAI key", "sk-proj- sk-svcacct- sk-admin- sk-None-", _URLSAFE + "{20,}"),
    *_shape("OpenAI key", "sk-", _ALNUM + "{32,}"),
    *_shape("Anthropic key", "sk-ant-", _URLSAFE + "{20,}"),
    *_shape("OpenRouter key", "sk-or-v1-", _HEX + "{64}"),
    *_shape("Hugging Face token", "hf_ api_org_", "[A-Za-z]{30,}" + _END),
    *_shape("Groq key", "gsk_", _ALNUM + "{40,}"),
    *_shape("xAI key", "xai-", _ALNUM + "{60,}"),
    *_shape("Perplexity key", "pplx-", _ALNUM + "{40,}"),
    *_shape("Replicate token", "r8_", _URLSAFE + "{37}"),
    *_shape("LangSmith key", "lsv2_pt_ lsv2_sk_", _HEX + "{32}_[0-9a-f]{10}"),
    *_shape("Databricks token", "dapi", _HEX + "{32}" + r"(?:-\d)?" + _END),
    *_shape("Heroku key", "HRKU-", _URLSAFE + "{36,}"),
    *_shape("Atlassian token", "ATATT3 ATCTT3 ATBB", r"[\w=-]{28,}"),
    *_shape("Airtable token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}" + _END),
    *_shape("Linear key", "lin_api_ lin_oauth_", _ALNUM + "{32,}"),
    *_shape("Notion token", "ntn_ secret_", _ALNUM + "{43,}"),
    *_shape("Figma token", "figd_ figu_", _URLSAFE + "{30,}"),
    *_shape("Postman key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}"),
    *_shape("Grafana token", "glsa_", "[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"),
    *_shape("Grafana token", "glc_", "[A-Za-z0-9+/]{32,}={0,2}"),
    *_shape("New Relic key", "NRAK- NRJS- NRII- NRSP-", "[A-Za-z0-9-]{19,}"),
    *_shape("Dynatrace token", "dt0c01. dt0s16. dt0s01.", "[A-Z0-9]{8,24}[.][A-Z0-9]{64}"),
    *_shape("Sentry token", "sntrys_ sntryu_", r"[\w+/-]{40,}={0,2}"),
    *_shape("Vault token", "hvs. hvb. hvr.", _URLSAFE + "{24,}"),
    *_shape("Terraform token", ".atlasv1.", r"[\w=-]{60,}", back=_ALNUM + "{14}", length=14),
    *_shape("Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[\w.-]{40,}"),
    *_shape("Pulumi token", "pul-", _HEX + "{40}"),
    *_shape("PlanetScale token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w=.-]{32,}"),
    *_shape("Supabase token", "sbp_ sb_secret_", r"[\w-]{20,}"),
    *_shape("Netlify token", "nfp_", _ALNUM + "{36,}"),
    *_shape("Fly.io token", "fo1_ fm1r_ fm1a_ fm2_", r"[\w+/-]{43,}={0,2}"),
    *_shape("Tailscale key", "tskey-", r"(?:api|auth|client|scim|webhook)-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}"),
    *_shape("CircleCI token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9]{16,}_[0-9a-f]{40}"),
    *_shape("Buildkite token", "bkua_", _HEX + "{40}"),
    *_shape("SonarQube token", "sqp_ squ_ sqa_", _HEX + "{40}"),
    *_shape("JFrog key", "AKCp", _ALNUM + "{60,}"),
    *_shape("Contentful token", "CFPAT-", _URLSAFE + "{43}"),
    *_shape("Typeform token", "tfp_", r"[\w.-]{40,}"),
    *_shape("Adafruit key", "aio_", _ALNUM + "{28}" + _END),
    *_shape("EasyPost key", "EZAK EZTK", _ALNUM + "{54}" + _END),
    *_shape("Shippo token", "shippo_live_ shippo_test_", _HEX + "{40}"),
    *_shape("Duffel token", "duffel_live_ duffel_test_", r"[\w=-]{40,}"),
    *_shape("Flutterwave key", "FLWSECK-", _ALNUM + "{12,}-X"),
    *_shape("Flutterwave key", "FLWSECK_TEST-", _ALNUM + "{12,}"),
    *_shape("PayPal Braintree token", "access_token$production$ access_token$sandbox$", r"[0-9a-z]{16}\$[0-9a-f]{32}"),
    *_shape("Plaid token", "access-production- access-sandbox- access-development-", "[0-9a-f-]{36}"),
    *_shape("Prefect key", "pnu_ pnb_", _ALNUM + "{36}" + _END),
    *_shape("Mapbox token", "sk.eyJ", r"[\w-]{30,}\.[\w-]{20,}"),
    *_shape("Dropbox token", "sl. sl.u.", _URLSAFE + "{120,}"),
    *_shape("Alibaba access key", "LTAI", _ALNUM + "{12,20}" + _END),
    *_shape("1Password token", "ops_eyJ", r"[\w+/-]{50,}={0,2}"),
    *_shape("age key", "AGE-SECRET-KEY-1", "[A-Z0-9]{58}"),
    *_shape("Twitter bearer token", "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{40,}"),
    *_shape("Azure client secret", "Q~", r"[\w~.-]{31,34}", back=r"[\w~.-]{3}\d", length=4),
    *_shape("Fernet token", "gAAAAA", _URLSAFE + "{70,}={0,2}"),
    *_shape("Discord webhook", "/api/webhooks/", r"\d{15,22}/[\w-]{40,}", start=""),
    *_shape("1Password secret key", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    *_shape("Adobe client secret", "p8e- p8-", "[A-Za-z0-9_-]{32,}"),
    *_shape("Cloudflare origin key", "v1.0-", _HEX + "{24}-[0-9a-f]{100,}"),
    *_shape("Mollie key", "live_ test_", _ALNUM + "{30,}" + _END, start=r"(?<![A-Za-z0-9_•])"),
    *_shape("GoCardless token", "live_", r"(?=[A-Za-z_-]{0,39}\d)[\w-]{40,}", start=r"(?<![A-Za-z0-9_•])"),
    *_shape("Harness token", "pat. sat.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    *_shape("HubSpot token", "pat-eu1- pat-na1- pat-na2-", "[0-9a-f-]{36}"),
    *_shape("Klaviyo key", "pk_", _HEX + "{34}" + _END),
    *_shape("Octopus Deploy key", "API-", "[A-Z0-9]{26,}" + _END),
    *_shape("ReadMe key", "rdme_", "[a-z0-9]{60,}"),
    *_shape("Sourcegraph token", "sgp_", r"(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    *_shape("Teams webhook", ".webhook.office.com/webhookb2/", r"[\w@/-]{70,}", start=""),
    *_shape("Teams webhook", "outlook.office.com/webhook/", r"[\w@/-]{70,}"),
    *_shape("Zapier webhook", "hooks.zapier.com/hooks/catch/", r"\d{4,10}/\w{6,}"),
    *_shape("Make webhook", "hook.eu1.make.com/ hook.eu2.make.com/ hook.us1.make.com/", r"\w{20,}"),
    *_shape("Frame.io token", "fio-u-", r"[\w=-]{60,}"),
    *_shape("Infracost key", "ico-", _ALNUM + "{32}" + _END),
    *_shape("OpenShift token", "sha256~", _URLSAFE + "{43}"),
    *_shape("Scalingo token", "tk-us-", r"[\w-]{48}"),
    *_shape("Pinecone key", "pcsk_", r"\w{50,}"),
    *_shape("NVIDIA key", "nvapi-", r"[\w-]{60,}"),
    *_shape("Render key", "rnd_", _ALNUM + "{24,}"),
    *_shape("Neon key", "napi_", _ALNUM + "{40,}"),
    *_shape("Paddle key", "pdl_live_apikey_ pdl_sdbx_apikey_", r"\w{40,}"),
    *_shape("Polar token", "polar_pat_ polar_oat_", r"\w{30,}"),
    *_shape("LaunchDarkly key", "sdk- mob-", "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"),
    *_shape("password hash", "$2a$ $2b$ $2y$", r"\d\d\$[A-Za-z0-9./]{53}", start=""),
    *_shape("password hash", "$argon2id$ $argon2i$ $argon2d$", r"[^\s\"'<>]{20,}", start=""),
    *_shape("password hash", "$6$ $5$ $1$ $y$", r"[^\s\"'<>:]{20,}", start=""),
    *_shape("password hash", "pbkdf2_sha256$ pbkdf2_sha1$ scrypt$ bcrypt_sha256$", r"[^\s\"'<>]{20,}"),
]  # fmt: skip

# One look for all literals, of which most texts have none. In a long text each alone is found faster.
_SHORT = 500
_ANY_LITERAL = re.compile("|".join(sorted({re.escape(shape.literal) for shape in _SHAPES})))

_LONG_WORD = re.compile(r"\S{15}")

# Only at the start of a run, so that no run is entered twice.
_JWT = re.compile(
    r"(?:(?<![\w.•-])|(?<=\\[nrt])|(?<=%[0-9A-F]{2}))eyJ[\w-]{10,}(?:\.[\w-]*\.[\w-]+[\w.-]*|:[\w-]{6}:[\w-]{27,})"
)
_DISCORD = re.compile(r"(?:(?<![\w.•-])|(?<=\\[nrt]))[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])")
_TELEGRAM = re.compile(r"(?<![0-9•])\d{7,12}:A[A-Za-z0-9_-]{34}(?![\w-])")
_LOGIN = re.compile(r"(?<=://)[^\s/?#:@\"'<>•]{0,100}:(?![{<]|\$\{|%\()([^\s/?#@\"'<>•]{1,300})@")
_BASIC = re.compile(r"(?i)\bBasic\s{1,3}([A-Za-z0-9+/_-]{6,2000}={0,2})")
_BEARER = re.compile(r"(?i)\b(?:Bearer|Token)\s{1,3}(?=[A-Za-z._~+/-]{0,60}\d)([A-Za-z0-9._~+/-]{16,}=*)")
_DIGITS = re.compile(r"\d{4}[ -]?\d{4,6}[ -]?\d{4}")
_RESET_LINK = re.compile(r"(?<=/)[0-9a-z]{5,8}-[0-9a-f]{32}(?![A-Za-z0-9])")
_CARD = re.compile(
    r"(?:(?<![\w.•-])|(?<=\\[nrt]))(?<!\d )(?:"
    r"(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6011|64[4-9]\d|65\d\d|62\d\d|35[2-8]\d)([ -]?)\d{4}\1\d{4}\1\d{4}"
    r"|3[47]\d\d([ -]?)\d{6}\2\d{5}"
    r"|3(?:0[0-5]|[68]\d)\d([ -]?)\d{6}\3\d{4}"
    r")(?![\w-]|[.,]\d| \d{4})"
)
_PEM_BEGIN = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d|---- BEGIN SSH2 ENCRYPTED PRIVATE"
)
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-MAC: [0-9a-f]+")


def token_places(text: str) -> Iterator[Place]:
    """Yield where tokens of known shapes stand in the text. Places may overlap."""
    for search in _SEARCHES:
        yield from search(text)
    # No token is shorter: most texts end here.
    if _LONG_WORD.search(text) is None or (len(text) < _SHORT and _ANY_LITERAL.search(text) is None):
        return
    for shape in _SHAPES:
        if shape.literal in text:
            yield from _shaped(shape, text)


def _shaped(shape: _Shape, text: str) -> Iterator[Place]:
    why, literal, pattern, back = shape
    at = text.find(literal)
    while at >= 0:
        match = pattern.match(text, at - back) if at >= back else None
        if match is not None:
            yield Place(match.start(), match.end(), why)
        at = text.find(literal, match.end() if match is not None and match.end() > at else at + 1)


def _private_keys(text: str) -> Iterator[Place]:
    at = 0
    while "PRIVATE" in text or "PuTTY" in text:
        begin = _PEM_BEGIN.search(text, at)
        if begin is None:
            return
        end = _PEM_END.search(text, begin.end())
        # Of a key that was cut off no one knows where it ends.
        at = end.end() if end is not None else len(text)
        yield Place(begin.start(), at, "private key")


def _by_pattern(why: str, literal: str, pattern: re.Pattern[str], group: int = 0) -> Callable[[str], Iterator[Place]]:
    def search(text: str) -> Iterator[Place]:
        if literal in text:
            for match in pattern.finditer(text):
                yield Place(match.start(group), match.end(group), why)

    return search


def _authorization(text: str) -> Iterator[Place]:
    if len(text) < 12:
        return
    lower = text.lower()
    if "basic" in lower:
        for match in _BASIC.finditer(text):
            if _is_login(match.group(1)):
                yield Place(match.start(1), match.end(1), "HTTP Basic login")
    if "bearer" in lower or "token" in lower:
        for match in _BEARER.finditer(text):
            yield Place(match.start(1), match.end(1), "HTTP Bearer token")


def _is_login(written: str) -> bool:
    try:
        bare = written.rstrip("=")
        decoded = base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_" if {"-", "_"} & set(bare) else None)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded[:200] and decoded[:1].isascii() and all(byte >= 32 for byte in decoded)


def _cards(text: str) -> Iterator[Place]:
    for match in _CARD.finditer(text) if len(text) >= 14 and _DIGITS.search(text) else ():
        if _passes_luhn(match.group()):
            yield Place(match.start(), match.end(), "payment card number")


def _passes_luhn(text: str) -> bool:
    digits = [int(char) for char in text if char.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


_SEARCHES = (
    _private_keys,
    _by_pattern("JSON Web Token", "eyJ", _JWT),
    _by_pattern("Discord token", ".", _DISCORD),
    _by_pattern("Telegram bot token", ":A", _TELEGRAM),
    _by_pattern("password in a URL", "://", _LOGIN, 1),
    _by_pattern("link to reset a password", "/", _RESET_LINK),
    _authorization,
    _cards,
)
