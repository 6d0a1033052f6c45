"""Plain payloads in families: each has the shape of a real job and is drawn several times from a seed."""

import base64
import hashlib
import string

from tests.payload.secret_corpus_two.drawing import Dice

dice = Dice(20240304)

FIRST = ("Anna", "Björn", "Chloé", "Dmitri", "Ewa", "Fátima", "Giulia", "Hiroshi", "İpek", "José", "Łukasz", "Nguyễn")
LAST = ("Schmidt", "Lefèvre", "Kowalska", "O'Brien", "Tanaka", "García Márquez", "Åkesson", "van der Berg", "Öztürk")
ADDRESSES = (
    {"street": "Hauptstraße 12a", "postcode": "50667", "city": "Köln", "country": "DE"},
    {"street": "8 bis, rue de l'Église", "postcode": "75015", "city": "Paris", "country": "FR"},
    {"street": "ul. Świętokrzyska 14/6", "postcode": "00-050", "city": "Warszawa", "country": "PL"},
    {"street": "221B Baker Street", "postcode": "NW1 6XE", "city": "London", "country": "GB"},
    {"street": "350 5th Ave, Fl 86", "postcode": "10118-0110", "city": "New York", "state": "NY", "country": "US"},
    {"street": "丸の内1-9-1", "postcode": "100-0005", "city": "東京都千代田区", "country": "JP"},
    {"street": "شارع التحرير ٥", "postcode": "11511", "city": "القاهرة", "country": "EG"},  # noqa: RUF001
    {"street": "Av. Paulista, 1578", "postcode": "01310-200", "city": "São Paulo", "country": "BR"},
)
PHONES = (
    "+49 221 1234567",
    "+33 1 42 68 53 00",
    "+48 22 555 01 23",
    "+1 (212) 555-0142",
    "+81-3-5555-0199",
    "0171/5550199",
)
AGENTS = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/122.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_3 like Mac OS X) AppleWebKit/605.1.15 Version/17.3 Mobile/15E148",
    "python-requests/2.31.0",
    "Googlebot/2.1 (+http://www.google.com/bot.html)",
)
MIMES = (
    "image/webp",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "text/csv",
    "application/pdf",
)
PLATES = ("K-AB 1234", "AA-229-BD", "WX 12345", "AB12 CDE", "7ABC123", "品川 330 あ 12-34")
DEVICES = ("SM-G991B", "iPhone14,5", "Pixel 8 Pro", "Zebra TC52-HC", "Epson TM-T88VI", "RaspberryPi-4B-kiosk-07")
FLAGS = ("new_checkout", "passwordless_login", "token_bucket_v2", "dark_mode", "keyboard_shortcuts", "secret_menu")
CURRENCIES = ("EUR", "USD", "PLN", "GBP", "JPY", "CHF")


def _digest(name):
    return hashlib.new(name, dice.randbytes(20))


def _iban(country, account):
    """Put the right check digits before an account (ISO 13616)."""
    digits = "".join(str(int(sign, 36)) for sign in f"{account}{country}00")
    return f"{country}{98 - int(digits) % 97:02}{account}"


def _ean():
    """Draw an EAN-13 with its check digit."""
    body = dice.choice(("400", "590", "301", "978")) + dice.text("digit", 9)
    return body + str(-sum(int(digit) * (1 + 2 * (place % 2)) for place, digit in enumerate(body)) % 10)


def _imei():
    """Draw a phone's number, which passes Luhn as a card does."""
    body = "35" + dice.text("digit", 12)
    total = sum(sum(divmod(int(digit) * (1 + place % 2), 10)) for place, digit in enumerate(body))
    return body + str(-total % 10)


def _price():
    return f"{dice.randrange(1, 900)}.{dice.randrange(100):02}"


def _day():
    return f"2026-{dice.randrange(1, 13):02}-{dice.randrange(1, 29):02}"


def _moment():
    return f"{_day()}T{dice.randrange(24):02}:{dice.randrange(60):02}:{dice.randrange(60):02}Z"


def _email():
    name = dice.choice(("anna.schmidt", "info", "k.nowak+shop", "luc_lefevre", "hiroshi1984", "buero"))
    return f"{name}@{dice.choice(('example.com', 'example.org', 'mail.example.de', 'sklep.example.pl'))}"


def _person():
    return f"{dice.choice(FIRST)} {dice.choice(LAST)}"


def _slug():
    words = dice.sample(("lamp", "sofa", "blue", "oak", "summer", "sale", "desk", "linen", "garden", "key-holder"), 3)
    return "-".join(words)


def _thumbnail():
    kind, head = dice.choice(
        (("png", b"\x89PNG\r\n\x1a\n"), ("jpeg", b"\xff\xd8\xff\xe0\x00\x10JFIF"), ("gif", b"GIF89a"))
    )
    return f"data:image/{kind};base64,{base64.b64encode(head + dice.randbytes(dice.randrange(150, 900))).decode()}"


def _relay(kind):
    return base64.b64encode(f"{kind}:{dice.randrange(10**6)}".encode()).decode()


def _stripe(prefix, length=24):
    return f"{prefix}_{dice.text('alnum', length)}"


def _point():
    return [round(dice.uniform(5, 15), 5), round(dice.uniform(45, 55), 5)]


def _cursor():
    # Opaque, but it opens a page and no account.
    return dice.choice((f"CAUQ{dice.text('word', 32)}", dice.base64(24), _relay("cursor"), dice.text("alnum", 40)))


SHAPES = (
    lambda: {"order_id": dice.randrange(10**6)},
    lambda: [dice.randrange(10**4), _slug(), True],
    lambda: {"user_ids": dice.sample(range(10**5), 8), "dry_run": False},
    lambda: {"id": dice.uuid(), "parent": dice.uuid()},
    lambda: {"customer": {"name": _person(), "email": _email(), "phone": dice.choice(PHONES)}},
    lambda: {"ship_to": {"name": _person(), **dice.choice(ADDRESSES)}, "weight_kg": dice.randrange(1, 300) / 10},
    lambda: {"lines": [{"sku": _slug().upper(), "quantity": dice.randrange(1, 9), "price": _price()} for _ in "abc"]},
    lambda: {"amount": _price(), "currency": dice.choice(CURRENCIES), "vat_rate": "19.00"},
    lambda: {"order": f"ORD-2026-{dice.text('digit', 6)}", "invoice": f"RE{dice.text('digit', 8)}", "due": _day()},
    lambda: {"carrier": "dhl", "tracking": f"00340434{dice.text('digit', 12)}"},
    lambda: {"carrier": "ups", "tracking": f"1Z{dice.text('upper', 6)}{dice.text('digit', 10)}"},
    lambda: {"carrier": "post", "tracking": f"R{dice.choice('ABC')}{dice.text('digit', 9)}DE"},
    lambda: {
        "iban": _iban("DE", dice.text("digit", 18)),
        "bic": "COBADEFFXXX",
        "purpose": f"Rechnung {dice.randrange(9999)}",
    },
    lambda: {"note": f"Paid from {' '.join(_groups(_iban('GB', 'NWBK' + dice.text('digit', 14))))}"},
    lambda: {"mandate": f"MNDT-{dice.text('upper', 10)}", "creditor": f"DE98ZZZ09{dice.text('digit', 9)}"},
    lambda: {
        "vat_id": dice.choice(("DE", "PL", "IT")) + dice.text("digit", 10),
        "company": f"{dice.choice(LAST)} GmbH",
    },
    lambda: {"since": _moment(), "until": _moment(), "timezone": "Europe/Warsaw"},
    lambda: {
        "timestamp_ms": 1767225600000 + dice.randrange(10**10),
        "trace_us": 1767225600000000 + dice.randrange(10**13),
    },
    lambda: {
        "bucket": "shop-media",
        "key": f"uploads/{_day()}/{dice.uuid()}.jpg",
        "etag": f'"{_digest("md5").hexdigest()}"',
    },
    lambda: {"file": f"{_slug()}.pdf", "md5": _digest("md5").hexdigest(), "size": dice.randrange(10**7)},
    lambda: {"sha1": _digest("sha1").hexdigest(), "repository": "acme/theme", "ref": "refs/heads/main"},
    lambda: {"commit": _digest("sha1").hexdigest(), "before": "0" * 40, "short": dice.text("hex", 7)},
    lambda: {"checksum": f"sha256:{_digest('sha256').hexdigest()}", "image": "registry.example.com/shop:2.4.1"},
    lambda: {"integrity": "sha512-" + base64.b64encode(_digest("sha512").digest()).decode(), "package": "left-pad"},
    lambda: {
        "content_sha256": base64.b64encode(_digest("sha256").digest()).decode(),
        "version_id": dice.text("word", 32),
    },
    lambda: {"next_cursor": _cursor(), "limit": 100},
    lambda: {"page_token": _cursor(), "list": "contacts"},
    lambda: {
        "pageInfo": {"endCursor": _relay("order"), "hasNextPage": True},
        "ids": [_relay("Product"), _relay("User")],
    },
    lambda: {"thumbnail": _thumbnail(), "width": 96, "height": 96},
    lambda: {"user_agent": dice.choice(AGENTS), "ip": f"203.0.113.{dice.randrange(255)}", "path": f"/p/{_slug()}/"},
    lambda: {"feature": dice.choice(FLAGS), "enabled": dice.random() < 0.5, "percent": dice.randrange(101)},
    lambda: {"geojson": {"type": "Polygon", "coordinates": [[_point() for _ in range(4)]]}, "srid": 4326},
    lambda: {"colour": f"#{dice.text('hex', 6)}", "background": f"#{dice.text('HEX', 8)}"},
    lambda: {
        "version": f"{dice.randrange(9)}.{dice.randrange(30)}.{dice.randrange(9)}-rc.1+build.{dice.text('hex', 7)}"
    },
    lambda: {"mime": dice.choice(MIMES), "name": f"{_slug()}.bin", "pages": dice.randrange(90)},
    lambda: {
        "ulid": f"01J{dice.text('crockford', 23)}",
        "ksuid": dice.text("alnum", 27),
        "nanoid": dice.text("word", 21),
    },
    lambda: {"stripe_customer": _stripe("cus", 14), "price": _stripe("price"), "subscription": _stripe("sub")},
    lambda: {"payment_intent": _stripe("pi"), "charge": _stripe("ch"), "amount": dice.randrange(10**5)},
    lambda: {"event": _stripe("evt"), "account": _stripe("acct", 16), "type": "invoice.paid"},
    lambda: {"checkout_session": f"cs_test_a1{dice.text('alnum', 58)}", "mode": "payment"},
    lambda: {
        "payment_method": _stripe("pm"),
        "card": {"brand": "visa", "last4": dice.text("digit", 4), "exp_year": 2028},
    },
    lambda: {
        "slack_channel": f"C0{dice.text('upper', 9)}",
        "user": f"U0{dice.text('upper', 9)}",
        "ts": f"17672256{dice.text('digit', 2)}.{dice.text('digit', 6)}",
    },
    lambda: {"airtable": f"rec{dice.text('alnum', 14)}", "base": f"app{dice.text('alnum', 14)}"},
    lambda: {"node_id": f"PR_kwDO{dice.text('word', 12)}", "number": dice.randrange(5000)},
    lambda: {"tweet_id": 1750000000000000000 + dice.randrange(10**16), "discord_guild": dice.randrange(10**17, 10**18)},
    lambda: {"firebase_uid": dice.text("alnum", 28), "locale": dice.choice(("de-DE", "pl", "ar-EG", "ja_JP"))},
    lambda: {"gid": f"gid://shopify/Product/{dice.randrange(10**12, 10**13)}", "tags": [_slug()]},
    lambda: {
        "message_id": f"<{dice.text('alnum', 24)}.{dice.text('digit', 14)}@mail.example.com>",
        "status": "bounced",
    },
    lambda: {"traceparent": f"00-{dice.text('hex', 32)}-{dice.text('hex', 16)}-01", "event_id": dice.text("hex", 32)},
    lambda: {"request_id": f"req_{dice.text('alnum', 14)}", "x-amz-request-id": dice.text("upper", 16)},
    lambda: {"instance": f"i-0{dice.text('hex', 16)}", "pod": f"web-{dice.text('hex', 10)}-{dice.text('lower', 5)}"},
    lambda: {"arn": f"arn:aws:sns:eu-central-1:{dice.text('digit', 12)}:orders", "subscription_id": dice.uuid()},
    lambda: {"device": dice.choice(DEVICES), "serial": dice.text("upper", 12), "imei": _imei()},
    lambda: {"ean": _ean(), "stock": dice.randrange(500), "shelf": f"{dice.choice('ABC')}{dice.randrange(40)}"},
    lambda: {
        "isbn": f"978-3-16-{dice.text('digit', 6)}-{dice.text('digit', 1)}",
        "title": _slug().replace("-", " ").title(),
    },
    lambda: {"plate": dice.choice(PLATES), "entered_at": _moment(), "gate": dice.randrange(4)},
    lambda: {"voucher": f"SUMMER{dice.randrange(10, 60)}", "gift_card_id": dice.randrange(9999), "campaign": _slug()},
    lambda: {"booking": dice.text("upper", 6), "flight": f"LO{dice.randrange(1000)}", "seat": f"{dice.randrange(40)}C"},
    lambda: {"mac": ":".join(dice.text("hex", 2) for _ in range(6)), "ipv6": f"2001:db8::{dice.text('hex', 4)}"},
    lambda: {"report": "revenue", "filters": {"from": _day(), "to": _day(), "stores": dice.sample(range(40), 3)}},
    lambda: {"list_id": dice.text("hex", 10), "subscriber_hash": _digest("md5").hexdigest(), "action": "unsubscribe"},
    lambda: {
        "blurhash": "L" + "".join(dice.choices(string.ascii_letters + string.digits + "#$%*+,-.:;=?@[]^_{|}~", k=27))
    },
    lambda: {"embedding": [round(dice.uniform(-1, 1), 6) for _ in range(12)], "model": "text-small-3"},
    lambda: f"{_person()} <{_email()}>",
    lambda: {"vin": "WVW" + dice.text("crockford", 14), "mileage": dice.randrange(10**5)},
    lambda: {"phash": dice.text("hex", 16), "image_ids": dice.sample(range(9999), 4), "sizes": [320, 640, 1280]},
)


def _groups(text):
    """Cut a text into groups of four, as an IBAN is printed."""
    return [text[start : start + 4] for start in range(0, len(text), 4)]


FAMILIES = [shape() for shape in SHAPES for _ in range(6)]
