"""URLs that whoever holds them may use: webhooks, signed links, links that log in.

Slack's, Discord's, Microsoft's, Google Chat's, Zapier's, IFTTT's, Telegram's documentation of webhooks (gitleaks
slack-webhook-url and microsoft-teams-webhook; GitHub's partner patterns for Discord and Google); Azure Storage and
Service Bus SAS, Logic Apps callback URLs (Microsoft Learn); Amazon S3 query authentication V2 and V4 and CloudFront
signed URLs; Google Cloud Storage V4 signed URLs; Cloudinary's CLOUDINARY_URL; Sentry's old DSN with a secret.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from urllib.parse import quote

from tests.payload.secret_corpus_three.draw import Draw

Url = tuple[str, str]  # the URL, and the part of it that is secret


def _with(template: str, secret: str) -> Callable[[Draw], Url]:
    """A URL around one secret part, both templates."""

    def drawn(draw: Draw) -> Url:
        part = draw.fill(secret)
        return draw.fill(template).replace("SECRET", part), part

    return drawn


def _signed(template: str, size: int) -> Callable[[Draw], Url]:
    """A URL that ends in a signature in quoted base 64."""

    def drawn(draw: Draw) -> Url:
        signature = quote(draw.base64(size), safe="")
        return draw.fill(template).replace("SECRET", signature), signature

    return drawn


BLOB = "https://acmeprod.blob.core.windows.net/invoices/2024-05.pdf"
S3 = "https://acme-exports.s3.eu-central-1.amazonaws.com/2024/05/report.csv"
LOGIC = "https://prod-42.westeurope.logic.azure.com:443/workflows/[h32]/triggers/manual/paths/invoke"
OFFICE = "https://acme.webhook.office.com/webhookb2/[U]@[U]/IncomingWebhook/"
URLS: dict[str, Callable[[Draw], Url]] = {
    "slack-webhook": _with("https://hooks.slack.com/services/T0[u9]/B0[u9]/SECRET", "[a24]"),
    "slack-workflow-trigger": _with("https://hooks.slack.com/triggers/T0[u9]/[d13]/SECRET", "[h32]"),
    "discord-webhook": _with("https://discord.com/api/webhooks/11[d17]/SECRET", "[w68]"),
    "teams-webhook": _with(OFFICE + "SECRET/[U]", "[h32]"),
    "teams-workflow": _with(LOGIC + "?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=SECRET", "[w43]"),
    "google-chat-webhook": _with(
        "https://chat.googleapis.com/v1/spaces/AAAA[w7]/messages?threadKey=ops&token=SECRET", "[w43]"
    ),
    "zapier-hook": _with("https://hooks.zapier.com/hooks/catch/[d7]/SECRET/", "[l7]"),
    "ifttt-webhook": _with("https://maker.ifttt.com/trigger/deployed/with/key/SECRET", "[w43]"),
    "make-webhook": _with("https://hook.eu1.make.com/SECRET", "[l32]"),
    "telegram-api-url": _with("https://api.telegram.org/botSECRET/sendMessage?chat_id=-100[d10]", "[d10]:AA[w33]"),
    "debatable:mattermost-hook": _with("https://chat.example.com/hooks/SECRET", "[l26]"),
    "google-calendar-private": _with(
        "https://calendar.google.com/calendar/ical/dana%40example.com/private-SECRET/basic.ics", "[h32]"
    ),
    "debatable:healthcheck-ping": _with("https://hc-ping.com/SECRET/nightly-backup", "[w22]"),
    "azure-blob-sas": _signed(
        BLOB + "?sp=r&st=2024-05-02T08:00:00Z&se=2024-06-02T16:00:00Z&sv=2022-11-02&sr=b&sig=SECRET", 32
    ),
    "azure-account-sas": _signed(
        "https://acmeprod.blob.core.windows.net/?sv=2022-11-02&ss=bf&srt=sco&sp=rwdlac&se=2025-01-01T00:00:00Z&spr=https&sig=SECRET",
        32,
    ),
    "s3-presigned-v4": _with(
        S3
        + "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA[s16]%2F20240502%2Feu-central-1%2Fs3%2Faws4_request"
        "&X-Amz-Date=20240502T080000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=SECRET",
        "[h64]",
    ),
    "s3-presigned-v2": _signed(S3 + "?AWSAccessKeyId=AKIA[s16]&Expires=17[d8]&Signature=SECRET", 20),
    "gcs-signed-v4": _with(
        "https://storage.googleapis.com/acme-exports/report.csv?X-Goog-Algorithm=GOOG4-RSA-SHA256"
        "&X-Goog-Credential=worker%40acme.iam.gserviceaccount.com%2F20240502%2Fauto%2Fstorage%2Fgoog4_request"
        "&X-Goog-Date=20240502T080000Z&X-Goog-Expires=900&X-Goog-SignedHeaders=host&X-Goog-Signature=SECRET",
        "[h512]",
    ),
    "cloudfront-signed": _with(
        "https://d[l13].cloudfront.net/video/intro.mp4?Expires=17[d8]&Signature=SECRET&Key-Pair-Id=K[u13]", "[w342]"
    ),
    "git-clone-url": _with("https://x-access-token:SECRET@github.com/acme/shop.git", "ghs_[a36]"),
    "git-clone-url-user": _with("https://deploy:SECRET@git.example.com/acme/shop.git", "[a20]"),
    "http-basic-url": _with("https://reports:SECRET@intranet.example.com/feeds/daily.xml", "[L4]-[a7]!x"),
    "http-basic-url-no-user": _with("https://:SECRET@logs.example.com/ingest", "[h32]"),
    "cloudinary-url": _with("cloudinary://[d15]:SECRET@acme", "[w27]"),
    "sentry-legacy-dsn": _with("https://[h32]:SECRET@sentry.example.com/42", "[h32]"),
    "pip-index-url": _with("https://build:SECRET@pypi.example.com/simple/", "[a24]"),
    "proxy-url": _with("http://svc-proxy:SECRET@proxy.example.com:3128", "[a12]"),
    "password-reset-link": _with("https://shop.example.com/accounts/reset/MTQy/SECRET/", "c[l5]-[h32]"),
    "magic-login-link": _with("https://app.example.com/login/magic?token=SECRET", "[w43]"),
    "one-time-link": _with("https://app.example.com/invite/accept?email=dana%40example.com&otp=SECRET", "[w32]"),
    "debatable:oauth-callback-code": _with("https://app.example.com/oauth/callback?state=eu&code=SECRET", "4/0A[w70]"),
    "implicit-flow-fragment": _with(
        "https://app.example.com/cb#access_token=SECRET&token_type=bearer&expires_in=3600", "[w64]"
    ),
    "websocket-url": _with("wss://stream.example.com/v1/orders?api_key=SECRET", "[a32]"),
}


def _placed(draw: Draw, url: str) -> object:
    return draw.choice(
        [
            {"url": url, "timeout": 30},
            {"target": {"href": url, "method": "POST"}},
            {"message": f"Hi, the file is here: {url} (until Friday)"},
            {"args": ["notify", url]},
            {"body": json.dumps({"link": url, "size": 812})},
            {"document": f"jobs:\n  - name: send\n    to: {url}\n"},
            {"script": f"curl -sS -d @out.json '{url}'"},
        ]
    )


def secrets() -> Iterator[tuple[str, object, str]]:
    """Two payloads for each kind of URL."""
    for name, shape in URLS.items():
        debatable = "debatable:" if name.startswith("debatable:") else ""
        title = f"{debatable}url/{name.removeprefix('debatable:')}"
        draw = Draw(title)
        for _ in range(2):
            url, secret = shape(draw)
            yield title, _placed(draw, url), secret
