# A sample is easier to read on one line.
# ruff: noqa: E501
"""What records hold: amounts, dates, places, paths, settings of a job."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.payload.secret_corpus_three.draw import WORDS, Draw
from tests.payload.secret_corpus_three.kinds import Kinds, payloads_of

PATHS = [
    "/srv/media/uploads/2024/05/IMG_20240502_081533.jpg",
    "C:\\Users\\dana\\Documents\\Rechnung 18.pdf",
    "../../etc/nginx/sites-enabled/shop.conf",
    "/home/dana/.ssh/known_hosts",
    "~/Library/Keychains/login.keychain-db",
    "/var/lib/postgresql/16/main/base/16384/2619",
    "file:///tmp/pytest-of-dana/pytest-12/test_export0/out.csv",
    "/etc/passwd",
    "\\\\files01\\share\\secret-santa\\list.xlsx",
    "/opt/app/node_modules/@scope/token-utils/dist/index.js",
]
CRON = [
    "*/5 * * * *",
    "0 3 * * 1-5",
    "@daily",
    "15 14 1 * *",
    "0 0 * * 0",
    "30 4 1,15 * 5",
    "0 */6 * * *",
    "5 0 * 8 *",
    "0 22 * * 1-5",
    "23 0-20/2 * * *",
]
VERSIONS = [
    "1.2.3",
    "v2.0.0-rc.1+build.5114f85",
    "3.12.4",
    "2024.05.1",
    "0.0.0-20240502081533-abcdef012345",
    "5.15.0-107-generic",
    "1:9.18.24-1",
    "r20240502",
    "14.12 (Debian 14.12-1.pgdg120+1)",
    "20.3.1-alpine3.19",
]
AGENTS = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36",
    "curl/8.6.0",
    "python-requests/2.32.0",
    "Googlebot/2.1 (+http://www.google.com/bot.html)",
    "okhttp/4.12.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1",
    "PostmanRuntime/7.37.3",
    "kube-probe/1.29",
    "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
    "GitHub-Hookshot/044aadd",
]
SETTINGS = [
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    "rest_framework.authentication.TokenAuthentication",
    "shop.tasks.rotate_api_keys",
    "django.contrib.auth.password_validation.CommonPasswordValidator",
    "com.example.security.JwtTokenProvider",
    "org.springframework.security.crypto.password.PasswordEncoder",
    "app.models.ApiKey",
    "accounts.views.PasswordResetView",
    "cryptography.hazmat.primitives.asymmetric.rsa",
    "AbstractSingletonProxyFactoryBeanTokenSecretKeyHolder",
]


def _price(draw: Draw) -> str:
    return f"{draw.randint(1, 999)}.{draw.randint(0, 99):02d}"


def _ip(draw: Draw) -> str:
    return ".".join(str(draw.randrange(256)) for _ in range(4))


KINDS: Kinds = {
    "prices": lambda d, n: {"total": _price(d), "currency": "EUR", "lines": [{"sku": f"L{n}", "net": _price(d), "vat": 0.19}]},
    "dates": lambda d, n: {"from": f"2024-0{n % 9 + 1}-01", "until": f"2024-0{n % 9 + 1}-28T23:59:59.999999+02:00", "epoch_ms": d.randint(10**12, 2 * 10**12)},
    "durations-and-windows": lambda d, n: {"every": f"PT{n + 1}H", "window": f"2024-W1{n}", "rrule": "FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20241231T000000Z"},
    "file-paths": lambda d, n: {"path": PATHS[n], "mode": "0644"},
    "s3-objects": lambda d, n: {"bucket": "acme-exports-eu", "key": f"tenant={n}/year=2024/part-{d.chars('d', 5)}-{d.uuid()}.c000.snappy.parquet"},
    "ip-addresses": lambda d, n: {"client": _ip(d), "v6": ":".join(d.chars("h", 4) for _ in range(8)), "cidr": "10.0.0.0/8"},
    "user-agents": lambda d, n: {"user_agent": AGENTS[n], "hits": d.randint(1, 999)},
    "cron": lambda d, n: {"schedule": CRON[n], "timezone": "Europe/Berlin"},
    "versions": lambda d, n: {"version": VERSIONS[n], "channel": "stable"},
    "colours": lambda d, n: {"palette": ["#" + d.chars("h", 6) for _ in range(5)], "accent": f"rgba({n}, 12, 200, .4)", "theme": "solarized-dark"},
    "coordinates": lambda d, n: {"lat": d.uniform(-90, 90), "lng": d.uniform(-180, 180), "wkt": f"POINT({d.uniform(0, 9):.7f} 51.3)", "polyline": "_p~iF~ps|U_ulLnnqC_mqNvxq`@"},
    "long-numbers": lambda d, n: {"reading": d.randint(10**30, 10**31), "pi": "3.14159265358979323846264338327950288419716939937510"},
    "dotted-paths": lambda d, n: {"callable": SETTINGS[n], "args": [n]},
    "languages-and-codes": lambda d, n: {"locale": "zh-Hant-TW", "currency": ["JPY", "EUR", "CHF", "PLN", "TRY", "BRL", "INR", "KRW", "ZAR", "SEK"][n], "country": "DE-SN", "mime": "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    "json-text": lambda d, n: {"payload": json.dumps({"event": "order.paid", "id": d.uuid(), "items": [{"n": n, "name": WORDS[n]}], "author": None})},
    "json-text-twice": lambda d, n: {"Message": json.dumps({"detail": json.dumps({"bucket": "b", "key": f"a/{n}.csv", "eTag": d.chars("h", 32)})})},
    "csv-text": lambda d, n: {"csv": "id,name,email,total\n" + "".join(f"{d.randint(1, 999)},{d.choice(WORDS)},{d.choice(WORDS)}@example.com,{_price(d)}\n" for _ in range(4))},
    "xml-text": lambda d, n: {"xml": f'<?xml version="1.0"?><order id="{d.uuid()}"><line sku="A-{n}" qty="2"/><note>Bitte klingeln</note></order>'},
    "yaml-text": lambda d, n: {"yaml": f"name: build-{n}\non: [push]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@{d.chars('h', 40)}\n"},
    "env-text-harmless": lambda d, n: {"env": f"DEBUG=0\nLANG=de_DE.UTF-8\nPATH=/usr/local/bin:/usr/bin\nPORT=80{n}0\nTOKEN_TTL=3600\n"},
    "nested-job-arguments": lambda d, n: {"args": [d.randint(1, 99), [WORDS[n], None, True]], "kwargs": {"since": "2024-05-01", "opts": {"dry_run": False, "limit": 50}}},
    "statistics": lambda d, n: {"passed": d.randint(1, 99), "skipped": n, "p95_ms": d.uniform(1, 999), "histogram": [d.randint(0, 9) for _ in range(20)]},
    "ids-in-sentences": lambda d, n: {"message": f"Order {d.uuid()} of customer {d.randint(1, 9999)} was shipped as {d.fill('JD01[d16]')}."},
    "plain-scalars": lambda d, n: [True, None, n, 1.5, "", " ", "ok", WORDS[n]],
    "personal-record": lambda d, n: {"first_name": WORDS[n].title(), "born": f"19{50 + n}-03-04", "height_cm": 170 + n, "newsletter": False, "login": f"{WORDS[n]}{n}"},
    "search-queries": lambda d, n: {"q": ["best password manager", "how to reset api key", "token ring network", "secret garden book", "private key vs public key", "basic auth example", "cookie recipe", "session musician", "bearer of bad news", "signing bonus"][n]},
}  # fmt: skip


def payloads() -> Iterator[tuple[str, object]]:
    """Ten payloads of each kind."""
    return payloads_of(KINDS)
