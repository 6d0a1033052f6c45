# A sample is easier to read on one line.
# ruff: noqa: E501
"""Keys, tokens and URLs that are meant to be public, and those on which careful people differ."""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Iterator

from tests.payload.secret_corpus_three.draw import WORDS, Draw
from tests.payload.secret_corpus_three.kinds import Kinds, payloads_of


def _armour(label: str, body: str) -> str:
    dashes = "-" * 5
    return f"{dashes}BEGIN {label}{dashes}\n" + "\n".join(textwrap.wrap(body, 64)) + f"\n{dashes}END {label}{dashes}\n"


def _rsa_public(draw: Draw) -> str:
    head = bytes.fromhex("30820122300d06092a864886f70d01010105000382010f003082010a0282010100")
    return _armour("PUBLIC KEY", base64.b64encode(head + draw.randbytes(256) + bytes.fromhex("0203010001")).decode())


def _certificate(draw: Draw) -> str:
    return _armour(
        "CERTIFICATE", base64.b64encode(bytes.fromhex("308203a130820289a003020102") + draw.randbytes(700)).decode()
    )


def _ssh_public(draw: Draw) -> str:
    head = b"\0\0\0\x0bssh-ed25519\0\0\0\x20"
    return "ssh-ed25519 " + base64.b64encode(head + draw.randbytes(32)).decode() + " dana@laptop"


PUBLIC_IDS = [
    ("ga", "G-[u10]"), ("ga_legacy", "UA-[d8]-1"), ("gtm", "GTM-[u7]"), ("adsense", "ca-pub-[d16]"), ("fb_pixel", "[d15]"),
    ("recaptcha_site", "6L[w38]"), ("turnstile_site", "0x4AAAAAAA[w14]"), ("posthog_project", "phc_[a43]"), ("mapbox_public", "pk.eyJ1Ijoi[a30].[w22]"),
    ("plausible_domain", "shop-[l4].example.com"),
]  # fmt: skip
SITES = [
    "https://shop.example.com/p/[d6]?utm_source=mail&utm_campaign=may24",
    "https://www.youtube.com/watch?v=[w11]&t=42s",
    "https://example.com/a?gclid=Cj0KCQjw[w60]",
    "https://example.com/b?fbclid=IwAR[w58]",
    "https://maps.example.com/@51.3397,12.3731,15z",
    "https://example.com/orders/[U]/invoice.pdf",
    "https://i.example.com/t/[h32]/640x480.webp",
    "https://docs.google.com/document/d/1[w43]/edit",
    "https://bit.ly/3[a6]",
    "https://example.com/search?q=password+manager&page=[d1]",
]
KINDS: Kinds = {
    "public-key-pem": lambda d, n: {"partner": n, "public_key": _rsa_public(d)},
    "certificate-pem": lambda d, n: {"domain": "shop.example.com", "certificate": _certificate(d)},
    "ssh-public-key": lambda d, n: {"authorized_keys": [_ssh_public(d)], "host": "web01"},
    "ssh-host-fingerprint": lambda d, n: {"host": f"web{n}", "fingerprint": "SHA256:" + d.base64(32).rstrip("=")},
    "pgp-public-key": lambda d, n: {"contact": "dana@example.com", "text": _armour("PGP PUBLIC KEY BLOCK", d.base64(420))},
    "pgp-signed-message": lambda d, n: {"text": "Release 1.2 is out.\n" + _armour("PGP SIGNATURE", d.base64(360))},
    "jwks-public": lambda d, n: {"keys": [{"kty": "EC", "crv": "P-256", "kid": f"2024-0{n}", "use": "sig", "x": d.base64url(32), "y": d.base64url(32)}]},
    "age-recipient": lambda d, n: {"recipients": ["age1" + d.chars("z", 58)]},
    "wireguard-public": lambda d, n: {"peer": {"public_key": d.base64(32), "endpoint": "vpn.example.com:51820"}},
    "dkim-record": lambda d, n: {"dns": {"name": f"s{n}._domainkey", "txt": "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQ" + d.chars("b", 180)}},
    "stripe-publishable": lambda d, n: {"stripe_pk": d.fill("pk_live_51[a97]" if n % 2 else "pk_test_[a24]"), "locale": "de"},
    "public-site-ids": lambda d, n: {PUBLIC_IDS[n][0]: d.fill(PUBLIC_IDS[n][1])},
    "supabase-publishable": lambda d, n: {"client": {"url": d.fill("https://[l20].supabase.co"), "key": d.fill("sb_publishable_[w22]_[a8]")}},
    "vapid-public": lambda d, n: {"vapid_public_key": "B" + d.base64url(64)[:86]},
    "urls-with-ids": lambda d, n: {"url": d.fill(SITES[n]), "depth": n},
    "urls-plain-list": lambda d, n: {"urls": [f"https://{d.choice(WORDS)}.example.com/{d.choice(WORDS)}/{d.randint(1, 99)}" for _ in range(4)]},
    "urls-with-user-no-password": lambda d, n: {"remote": f"ssh://git@git.example.com:22/acme/{WORDS[n]}.git", "db": f"postgresql://app@db{n}.example.com/shop"},
    "host-and-port": lambda d, n: {"broker": f"amqp://rabbit{n}.example.com:5672", "cache": "redis://cache:6379/0", "site": "http://localhost:8000/"},
    "csp-nonce-and-sri": lambda d, n: {"header": f"Content-Security-Policy: script-src 'self' 'sha256-{d.base64(32)}'"},
    "debatable:cursor": lambda d, n: {"next_page_token": d.fill("CAUQ[w42]"), "limit": 100},
    "debatable:csrf-token": lambda d, n: {"csrfmiddlewaretoken": d.chars("a", 64), "name": "Dana"},
    "debatable:unsubscribe-link": lambda d, n: {"unsubscribe": f"https://example.com/u/{d.randint(1, 999)}/{d.base64url(20)}"},
    "debatable:upload-id": lambda d, n: {"bucket": "exports", "upload_id": d.fill("2~[w44]"), "part": n + 1},
    "debatable:push-token": lambda d, n: {"device_token": d.chars("h", 64), "platform": "ios"},
}  # fmt: skip


def payloads() -> Iterator[tuple[str, object]]:
    """Ten payloads of each kind."""
    return payloads_of(KINDS)
