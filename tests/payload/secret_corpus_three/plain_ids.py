# A sample is easier to read on one line.
# ruff: noqa: E501
"""Identifiers: of rows, of things in the world, of clouds and services."""

from __future__ import annotations

from collections.abc import Iterator

from tests.payload.secret_corpus_three.draw import WORDS, Draw
from tests.payload.secret_corpus_three.kinds import Kinds, payloads_of

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def _ulid(draw: Draw) -> str:
    return "01H" + "".join(draw.choices(CROCKFORD, k=23))


def _isbn(draw: Draw) -> str:
    digits = [9, 7, 8, *(draw.randrange(10) for _ in range(9))]
    check = -sum(d * (3 if i % 2 else 1) for i, d in enumerate(digits)) % 10
    return "".join(map(str, [*digits, check]))


def _iban(draw: Draw) -> str:
    account = draw.chars("d", 18)
    check = 98 - int(account + "131400") % 97
    return f"DE{check:02d}{account}"


def _slug(draw: Draw) -> str:
    return "-".join(draw.sample(WORDS, 4)) + f"-{draw.randint(1, 99)}"


CLOUD_IDS = [
    "arn:aws:iam::[d12]:role/worker-prod", "arn:aws:sqs:eu-central-1:[d12]:orders.fifo", "i-0[h16]", "vpc-0[h16]",
    "subnet-0[h16]", "/subscriptions/[U]/resourceGroups/prod/providers/Microsoft.Web/sites/shop", "projects/acme-prod-[d6]",
    "ami-0[h16]", "arn:aws:acm:us-east-1:[d12]:certificate/[U]", "ocid1.instance.oc1.eu-frankfurt-1.[l60]",
]  # fmt: skip
SERVICE_IDS = [
    ("customer", "cus_[a14]"), ("charge", "ch_3[a23]"), ("payment_intent", "pi_3[a23]"), ("invoice", "in_1[a23]"),
    ("slack_channel", "C0[u9]"), ("slack_user", "U0[u9]"), ("github_client_id", "Iv1.[h16]"), ("twilio_sid", "AC[h32]"),
    ("message_sid", "SM[h32]"), ("openai_response_id", "chatcmpl-[a29]"), ("google_client_id", "[d12]-[l32].apps.googleusercontent.com"),
    ("stripe_price", "price_1[a23]"), ("airtable_base", "app[a14]"), ("airtable_record", "rec[a14]"), ("notion_page", "[h32]"),
    ("sendgrid_message_id", "[w22].filter0001p1.[d5].[h8]-1.0"), ("discord_guild", "11[d17]"), ("youtube_id", "[w11]"),
    ("figma_file", "[a22]"), ("google_sheet_id", "1[w43]"),
]  # fmt: skip
COUNTRY = ["+49 30 [d8]", "+33 1 [d2] [d2] [d2] [d2]", "+1-415-555-[d4]", "+44 20 7946 0[d3]", "+81-3-[d4]-[d4]"]
TRACKING = ["1Z[u6]0[d9]", "JD01[d16]", "003[d17]", "RR[d9]DE", "9400 1[d3] [d4] [d4] [d4] [d2]"]
KINDS: Kinds = {
    "integer-ids": lambda d, n: {"order_id": d.randint(1, 10**9), "line_ids": d.sample(range(10**6), 5)},
    "snowflake-ids": lambda d, n: {"message_id": str(d.randint(10**17, 10**18)), "author_id": d.randint(10**17, 10**18)},
    "uuid": lambda d, n: {"order": d.uuid(), "parent": None if n % 2 else d.uuid()},
    "uuid-list": lambda d, n: {"ids": [d.uuid() for _ in range(4)], "dry_run": True},
    "uuid-hex": lambda d, n: {"upload": d.uuid().replace("-", ""), "part": n},
    "ulid": lambda d, n: {"event": _ulid(d), "cause": _ulid(d)},
    "nanoid": lambda d, n: {"board": d.chars("w", 21), "column": d.chars("w", 10)},
    "cuid-ksuid-objectid": lambda d, n: {"doc": d.fill(d.choice(["c[l24]", "2[a26]", "65[h22]"])), "rev": n},
    "slug": lambda d, n: {"slug": _slug(d), "redirects": [_slug(d)]},
    "idempotency-key": lambda d, n: {"idempotency_key": d.uuid(), "amount_cents": d.randint(100, 99999)},
    "request-and-trace-ids": lambda d, n: {"request_id": d.uuid(), "traceparent": d.fill("00-[h32]-[h16]-01"), "span_id": d.chars("h", 16)},
    "correlation-aws": lambda d, n: {"x_amzn_trace_id": d.fill("Root=1-[h8]-[h24];Parent=[h16];Sampled=1")},
    "message-id-header": lambda d, n: {"in_reply_to": d.fill("<CA[w50]@mail.gmail.com>"), "folder": "INBOX"},
    "cloud-resource-ids": lambda d, n: {"resource": d.fill(CLOUD_IDS[n]), "action": "stop"},
    "service-object-ids": lambda d, n: {SERVICE_IDS[n][0]: d.fill(SERVICE_IDS[n][1]), SERVICE_IDS[n + 10][0]: d.fill(SERVICE_IDS[n + 10][1])},
    "isbn": lambda d, n: {"isbn": _isbn(d), "copies": d.randint(1, 9)},
    "iban": lambda d, n: {"iban": _iban(d), "bic": d.fill("[C4]DE[u2]XXX"), "amount": "129.00"},
    "phone": lambda d, n: {"to": d.fill(COUNTRY[n % 5]), "text": "Your parcel arrives today."},
    "tracking-number": lambda d, n: {"carrier": d.choice(["ups", "dhl", "usps"]), "tracking": d.fill(TRACKING[n % 5])},
    "product-codes": lambda d, n: {"sku": d.fill("[C3]-[d4]-[C2]-[u6]"), "ean": d.chars("d", 13), "mpn": d.fill("[u4]-[u7]/[d2]")},
    "tax-and-company-ids": lambda d, n: {"vat_id": d.fill("DE[d9]"), "duns": d.chars("d", 9), "lei": d.fill("[u4]00[u12][d2]")},
    "vehicle-and-flight": lambda d, n: {"vin": d.fill("WVWZZZ[d1]KZ[u1]W[d6]"), "flight": d.fill("LH[d4]"), "pnr": d.chars("u", 6)},
    "coupon-code": lambda d, n: {"campaign": "summer", "coupon": d.fill("SUMMER-[u4]-[u4]"), "percent": 15},
    "blockchain-address": lambda d, n: {"payout_to": d.choice([d.fill("0x[h40]"), "bc1q" + d.chars("z", 38), "1" + "".join(d.choices(BASE58, k=33))])},
    "device-and-network-ids": lambda d, n: {"mac": ":".join(d.chars("h", 2) for _ in range(6)), "imei": d.chars("d", 15), "serial": d.fill("C02[u9]")},
    "push-device-token": lambda d, n: {"device": {"platform": "ios", "model": "iPhone15,2"}, "installation": d.uuid()},
    "geohash-and-place": lambda d, n: {"geohash": d.fill("u33d[l5]"), "plus_code": "9F4MGCH7+R6", "what3words": ".".join(d.sample(WORDS, 3))},
    "dna-sequence": lambda d, n: {"sequence": "".join(d.choices("ACGT", k=120)), "organism": "E. coli", "offset": n * 120},
    "protein-sequence": lambda d, n: {"fasta": ">sp|P01308|INS\n" + "".join(d.choices("ACDEFGHIKLMNPQRSTVWY", k=110))},
    "inchi-key": lambda d, n: {"compound": d.fill("[C14]-[C10]-N"), "smiles": "CC(=O)OC1=CC=CC=C1C(=O)O", "cas": "50-78-2"},
    "task-names": lambda d, n: {"task": f"shop.tasks.{d.choice(WORDS)}_{d.choice(WORDS)}", "queue": "default", "group_id": d.fill("grp-[l8]")},
}  # fmt: skip


def payloads() -> Iterator[tuple[str, object]]:
    """Ten payloads of each kind."""
    return payloads_of(KINDS)
