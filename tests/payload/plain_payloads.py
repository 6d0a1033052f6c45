"""Plain payloads as real jobs have them: nothing in them is a secret, and much looks a little like one."""

import string

from tests.payload.dice import ALNUM, BASE64, DICE, HEX, UPPER, an_id, segment, some

WORDS = [
    "Thank you for your order, it will be shipped on Monday.",
    "Sehr geehrte Frau Müller, anbei die Rechnung.",
    "Votre mot de passe a été modifié; si ce n'était pas vous, écrivez-nous.",
    "Estimado cliente: su pedido está en camino.",
    "Reset your password: click the link below.",
    "Password: at least 8 characters, one digit.",
    "ご注文ありがとうございます。",
    "Ваш заказ отправлен.",
    "The token of appreciation was a mug.",
    "Your session will expire in 30 minutes.",
    "Zahlungsart: Kreditkarte; Betrag: 120,00 EUR",
    "Please enter your PIN at the terminal.",
    "Author: Anna; key: value",
    "He kept it secret: nobody knew.",
    "Secret Santa: draw a name!",
    "Basic plan: 5 users, Bearer of good news included",
]
NAMES = ["anna", "juergen", "maria.lopez", "o.brien", "sato"]


def number(low, high):
    return DICE.randint(low, high)


def slug():
    return "-".join(
        DICE.choice(["summer", "sale", "red", "shoes", "2026", "winter", "kids", "how", "to", "v2"]) for _ in range(6)
    )


def iban():
    return "DE" + some(string.digits, 20)


PLAIN_MAKERS = [
    lambda: {
        "order_id": number(1, 10**7),
        "total": f"{number(1, 999)}.{number(10, 99)}",
        "currency": "EUR",
        "paid": True,
    },
    lambda: {"to": f"{DICE.choice(NAMES)}@example.com", "subject": "Your order", "body": DICE.choice(WORDS)},
    lambda: {
        "street": f"Hauptstr. {number(1, 200)}",
        "zip": str(number(10000, 99999)),
        "city": "Köln",
        "country": "DE",
    },
    lambda: {"url": f"https://shop.example.com/{slug()}?utm_source=mail&utm_campaign={slug()}&page={number(1, 9)}"},
    lambda: {"id": an_id(), "parent": an_id(), "kind": "invoice"},
    lambda: {"slug": slug(), "title": slug().replace("-", " ").title()},
    lambda: {"commit": some(HEX, 40), "branch": f"feature/{slug()}", "short": some(HEX, 7)},
    lambda: {"path": f"/srv/media/uploads/2026/11/{some(HEX, 12)}/IMG_{some(string.digits, 8)}.jpg"},
    lambda: {"html": f'<p class="lead">{DICE.choice(WORDS)}</p><input type="password" name="token" required>'},
    lambda: {"phone": f"+49 221 {number(100000, 999999)}", "fax": f"(030) {number(1000, 9999)}-{number(10, 99)}"},
    lambda: {"from": f"2026-{number(10, 12)}-{number(10, 28)}T08:30:00+01:00", "until": "2026-12-31"},
    lambda: {"bucket": "media-prod", "key": f"exports/2026/{number(10, 12)}/report_{an_id()}.csv"},
    lambda: {"etag": f'"{some(HEX, 32)}-{number(1, 20)}"', "sha256": some(HEX, 64)},
    lambda: {"thumbnail": "data:image/png;base64,iVBORw0KGgo" + some(BASE64, 400) + "=="},
    lambda: {"image": "/9j/4AAQSkZJRgABAQ" + some(BASE64, 1500)},
    lambda: {"tracking": "1Z" + some(UPPER, 16), "carrier": "UPS"},
    lambda: {"tracking_number": "00340434" + some(string.digits, 12), "carrier": "dhl"},
    lambda: {"iban": iban(), "bic": "COBADEFFXXX", "note": f"IBAN GB29 NWBK {number(1000, 9999)} 1331 9268 19"},
    lambda: {"number": f"2026-{number(10000, 99999)}/A", "reference": f"RF{some(string.digits, 18)}"},
    lambda: {
        "user_agent": f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/{number(90, 140)}.0.6478.127 Safari"
    },
    lambda: {"sql": f"SELECT id, token_count FROM runs WHERE password IS NOT NULL AND key = {number(1, 99)} -- all"},
    lambda: {
        "type": "object",
        "properties": {"password": {"type": "string", "minLength": 8}},
        "required": ["password"],
    },
    lambda: {
        "token_count": number(1, 9999),
        "max_tokens": 4096,
        "completion_tokens": number(1, 500),
        "stop_token": "</s>",
    },
    lambda: {
        "keyboard": "de",
        "author": "Anna",
        "monkey": "banana",
        "authority": "Stadt Köln",
        "secretary_name": "Sato",
    },
    lambda: {
        "passport_country": "JP",
        "compass": "north",
        "passenger": "Maria",
        "pass": True,
        "boarding_pass": "printed",
    },
    lambda: {"secret_santa_id": number(1, 99), "session_minutes": 30, "csrf_enabled": True, "password_reset": False},
    lambda: {
        "next_page_token": "CiAKGjBpNDd2Nmp2Zml2cXRwYjBpOXA",
        "page_size": 50,
        "cursor": segment({"after": number(1, 999)}),
    },
    lambda: {
        "token_type": "bearer",
        "expires_in": 3600,
        "scope": "read write",
        "auth": "oauth2",
        "authorization": "approved",
    },
    lambda: {"event": "charge.succeeded", "customer": "cus_" + some(ALNUM, 14), "intent": "pi_3" + some(ALNUM, 23)},
    lambda: {"session": "cs_live_" + some(ALNUM, 58), "mode": "payment"},
    lambda: {"task": "shop.tasks.billing.charge_customer_subscription", "queue": "billing", "attempt": number(1, 5)},
    lambda: {
        "template": "emails/password_reset.html",
        "context": {"password_reset_url": f"https://shop.example.com/r/{number(1, 9)}"},
    },
    lambda: {"labels": {"password": "Passwort", "token": "Token", "secret": "Geheimnis", "api_key": "API-Schlüssel"}},
    lambda: {"text": "token={{ token }}&password=${PASSWORD}", "authorization": "{{ header }}"},
    lambda: {
        "primary_key": number(1, 999),
        "sort_key": slug(),
        "cache_key": f"views:{slug()}:{number(1, 99)}",
        "key": "colour",
    },
    lambda: {
        "ulid": "01J" + some("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 23),
        "trace": some(HEX, 32),
        "span": some(HEX, 16),
    },
    lambda: {"lat": number(-90, 90) + 0.123456, "lon": 6.9583, "zoom": 12, "pin": number(1, 40)},
    lambda: {"error": f"KeyError: 'token' in line {number(1, 500)}; expected key: str, got None"},
    lambda: {
        "css": "body{font:12px/1.5 -apple-system,BlinkMacSystemFont}",
        "class": "btn btn-primary-outline-secondary-large",
    },
    lambda: {"csv": f"id;name;price\n1;Tisch;{number(1, 99)},90\n2;Stuhl;19,90", "delimiter": ";", "header": True},
    lambda: {
        "vin": "WVWZZZ1JZ3W" + some(string.digits, 6),
        "plate": f"K-AB {number(100, 999)}",
        "isbn": "978-3-16-148410-0",
    },
    lambda: {
        "ip": f"10.0.{number(0, 255)}.{number(0, 255)}",
        "ipv6": "2001:db8::8a2e:370:7334",
        "mac": "00:1b:44:11:3a:b7",
    },
    lambda: {
        "cron": "0 3 * * *",
        "timezone": "Europe/Berlin",
        "locale": "de_DE.UTF-8",
        "version": f"v{number(1, 9)}.2.0-rc.1",
    },
    lambda: {"document": "JVBERi0xLjcK" + some(BASE64, 900) + "=", "file_name": "Rechnung_2026-11-30_Mueller_GmbH.pdf"},
    lambda: {"digest": "sha256:" + some(HEX, 64), "image": f"registry.example.com/shop/web:{some(HEX, 12)}"},
    lambda: {
        "integrity": "sha384-" + some(BASE64, 64),
        "src": "https://cdn.example.com/lib@5.3.3/dist/js/bundle.min.js",
    },
    lambda: {"public_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + some(ALNUM, 43) + " anna@laptop"},
    lambda: {"token": None, "password": None, "secret": False, "api_key": "", "cookie": "required"},
    lambda: {"sku": f"SHOE-RED-{number(30, 46)}-{some(UPPER, 4)}", "ean": "4006381333931", "qty": number(1, 9)},
    lambda: {"coupon": "SUMMER" + some(UPPER, 6), "confirmation_code": some(UPPER, 6), "pin_code": "560001"},
    lambda: [number(1, 10**15) for _ in range(5)],
    lambda: f"{DICE.choice(WORDS)} {DICE.choice(WORDS)}",
]
PLAIN = [make() for make in PLAIN_MAKERS for _ in range(12)]
