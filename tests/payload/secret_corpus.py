"""Secrets as their makers describe them, and plain payloads as real jobs have them.

SECRETS are generated from the published description of each format, with a fixed seed: none was ever valid. They are
put together at run time, so that no scanner of a forge takes this file for a leak. PLAIN is what must be let through.
"""

import base64
import json
import random
import string
import uuid

DICE = random.Random(20_261_130)

HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "_-"
BASE64 = ALNUM + "+/"


DRAWN = []
"""What was drawn, which nothing that is shown may have in it."""


def some(alphabet, length):
    DRAWN.append("".join(DICE.choice(alphabet) for _ in range(length)))
    return DRAWN[-1]


def segment(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def jwt():
    head, claims = {"alg": "HS256", "typ": "JWT"}, {"sub": some(LOWER, 8), "iat": 1516239022}
    return f"{segment(head)}.{segment(claims)}.{some(URLSAFE, 43)}"


def pem(kind):
    lines = "\n".join(some(BASE64, 64) for _ in range(6))
    return "-----BEGIN " + f"{kind}-----\n{lines}\n-----END " + f"{kind}-----\n"


def card(prefix, length):
    digits = prefix + some(string.digits, length - len(prefix) - 1)
    doubled = [int(digit) if index % 2 else sum(divmod(2 * int(digit), 10)) for index, digit in enumerate(digits[::-1])]
    return digits + str(-sum(doubled) % 10)


# The token alone, by name of the format. The source is each maker's own documentation of its tokens.
TOKENS = {
    "AWS access key id": lambda: "AK" + "IA" + some(UPPER, 16),
    "AWS temporary key id": lambda: "AS" + "IA" + some(UPPER, 16),
    "AWS secret access key": lambda: some(BASE64, 40),
    "GitHub personal token": lambda: "gh" + "p_" + some(ALNUM, 36),
    "GitHub OAuth token": lambda: "gh" + "o_" + some(ALNUM, 36),
    "GitHub server token": lambda: "gh" + "s_" + some(ALNUM, 36),
    "GitHub user token": lambda: "gh" + "u_" + some(ALNUM, 36),
    "GitHub refresh token": lambda: "gh" + "r_" + some(ALNUM, 76),
    "GitHub fine-grained token": lambda: "github" + "_pat_" + some(ALNUM, 22) + "_" + some(ALNUM, 59),
    "GitLab token": lambda: "gl" + "pat-" + some(URLSAFE, 20),
    "GitLab runner token": lambda: "gl" + "rt-" + some(URLSAFE, 20),
    "Slack bot token": lambda: "xo" + "xb-" + f"{some(string.digits, 12)}-{some(string.digits, 12)}-{some(ALNUM, 24)}",
    "Slack user token": lambda: "xo" + "xp-" + f"{some(string.digits, 12)}-{some(string.digits, 12)}-{some(HEX, 32)}",
    "Slack app token": lambda: "xa" + "pp-1-" + f"A{some(UPPER, 10)}-{some(string.digits, 13)}-{some(HEX, 64)}",
    "Slack webhook": lambda: (
        "https://hooks." + f"slack.com/services/T{some(UPPER, 8)}/B{some(UPPER, 10)}/{some(ALNUM, 24)}"
    ),
    "Stripe live key": lambda: "sk_" + "live_" + some(ALNUM, 24),
    "Stripe test key": lambda: "sk_" + "test_" + some(ALNUM, 99),
    "Stripe restricted key": lambda: "rk_" + "live_" + some(ALNUM, 24),
    "Stripe webhook secret": lambda: "wh" + "sec_" + some(ALNUM, 32),
    "Google API key": lambda: "AI" + "za" + some(URLSAFE, 35),
    "Google access token": lambda: "ya" + "29." + some(URLSAFE, 120),
    "Google client secret": lambda: "GOC" + "SPX-" + some(URLSAFE, 28),
    "Firebase server key": lambda: "AA" + "AA" + some(URLSAFE, 7) + ":APA" + "91b" + some(URLSAFE, 134),
    "Twilio key": lambda: "S" + "K" + some(HEX, 32),
    "SendGrid key": lambda: "S" + "G." + some(URLSAFE, 22) + "." + some(URLSAFE, 43),
    "Mailgun key": lambda: "ke" + "y-" + some(HEX, 32),
    "Mailchimp key": lambda: some(HEX, 32) + "-us" + str(DICE.randint(1, 21)),
    "Brevo key": lambda: "xkey" + "sib-" + some(HEX, 64) + "-" + some(ALNUM, 16),
    "npm token": lambda: "np" + "m_" + some(ALNUM, 36),
    "PyPI token": lambda: "py" + "pi-AgEIcHlwaS5vcmc" + some(URLSAFE, 150),
    "RubyGems key": lambda: "ruby" + "gems_" + some(HEX, 48),
    "Docker Hub token": lambda: "dckr" + "_pat_" + some(URLSAFE, 27),
    "DigitalOcean token": lambda: "do" + "p_v1_" + some(HEX, 64),
    "Shopify access token": lambda: "sh" + "pat_" + some(HEX, 32),
    "Shopify shared secret": lambda: "sh" + "pss_" + some(HEX, 32),
    "Square access token": lambda: "sq" + "0atp-" + some(URLSAFE, 22),
    "Square OAuth secret": lambda: "sq" + "0csp-" + some(URLSAFE, 43),
    "Telegram bot token": lambda: some("123456789", 10) + ":A" + "A" + some(URLSAFE, 33),
    "Discord bot token": lambda: "M" + some(ALNUM, 25) + "." + some(URLSAFE, 6) + "." + some(URLSAFE, 38),
    "Discord webhook": lambda: f"https://discord.com/api/webhooks/{some('123456789', 18)}/{some(URLSAFE, 68)}",
    "Azure storage": lambda: f"DefaultEndpointsProtocol=https;AccountName=shop;Account" + f"Key={some(BASE64, 86)}==",  # noqa: F541
    "Azure client secret": lambda: some(ALNUM, 3) + "8Q" + "~" + some(ALNUM + "_.-", 34),
    "Azure SAS": lambda: (
        "https://shop.blob.core.windows.net/a/b.pdf?sv=2024-11-04&sr=b&s" + f"ig={some(ALNUM, 40)}%2B1%3D"
    ),
    "OpenAI key": lambda: "s" + "k-" + some(ALNUM, 20) + "T3Blbk" + "FJ" + some(ALNUM, 20),
    "OpenAI project key": lambda: "s" + "k-proj-" + some(URLSAFE, 74) + "T3Blbk" + "FJ" + some(URLSAFE, 74),
    "Anthropic key": lambda: "s" + "k-ant-api03-" + some(URLSAFE, 93) + "AA",
    "Hugging Face token": lambda: "h" + "f_" + some(string.ascii_letters, 34),
    "Databricks token": lambda: "da" + "pi" + some(HEX, 32),
    "Heroku key": lambda: "HR" + "KU-AA" + some(URLSAFE, 58),
    "Atlassian token": lambda: "ATA" + "TT3xFfGF0" + some(URLSAFE, 180) + "=" + some(HEX, 8).upper(),
    "Linear key": lambda: "lin" + "_api_" + some(ALNUM, 40),
    "Notion token": lambda: "nt" + "n_" + some(ALNUM, 46),
    "Airtable token": lambda: "pat" + some(ALNUM, 14) + "." + some(HEX, 64),
    "Figma token": lambda: "fi" + "gd_" + some(URLSAFE, 40),
    "Postman key": lambda: "PM" + "AK-" + some(HEX, 24) + "-" + some(HEX, 34),
    "Grafana token": lambda: "gl" + "sa_" + some(ALNUM, 32) + "_" + some(HEX, 8),
    "New Relic key": lambda: "NR" + "AK-" + some(UPPER, 27),
    "Sentry token": lambda: "sn" + "tryu_" + some(HEX, 64),
    "Vault token": lambda: "hv" + "s." + some(URLSAFE, 95),
    "Terraform token": lambda: some(ALNUM, 14) + ".atlas" + "v1." + some(ALNUM, 67),
    "Doppler token": lambda: "dp" + ".pt." + some(ALNUM, 43),
    "Pulumi token": lambda: "pu" + "l-" + some(HEX, 40),
    "PlanetScale password": lambda: "psc" + "ale_pw_" + some(URLSAFE, 43),
    "Supabase token": lambda: "sb" + "p_" + some(HEX, 40),
    "Braintree token": lambda: "access_" + "token$production$" + some(LOWER, 16) + "$" + some(HEX, 32),
    "Plaid token": lambda: "access-" + "production-" + str(uuid.UUID(int=DICE.getrandbits(128), version=4)),
    "Fernet key": lambda: some(URLSAFE, 43) + "=",
    "Fernet token": lambda: "gAAA" + "AABk" + some(URLSAFE, 91) + "=",
    "JSON Web Token": jwt,
    "RSA private key": lambda: pem("RSA PRIVATE" + " KEY"),
    "private key": lambda: pem("PRIVATE" + " KEY"),
    "OpenSSH private key": lambda: pem("OPENSSH PRIVATE" + " KEY"),
    "URL with a password": lambda: f"postgres://shop:{some(ALNUM, 12)}@db.internal:5432/shop",
    "Redis URL": lambda: f"redis://:{some(ALNUM, 16)}@cache.internal:6379/0",
    "HTTP Basic": lambda: "Authorization: Basic " + base64.b64encode(f"anna:{some(ALNUM, 9)}".encode()).decode(),
    "HTTP Bearer": lambda: "Authorization: Bearer " + some(URLSAFE, 30) + "7",
    "Visa": lambda: card("4", 16),
    "MasterCard with spaces": lambda: " ".join(
        [(number := card("52", 16))[:4], number[4:8], number[8:12], number[12:]]
    ),
    "American Express": lambda: card("37", 15),
    "bcrypt hash": lambda: "$2" + "b$12$" + some(ALNUM + "./", 53),
    "Django password hash": lambda: "pbkdf2_" + f"sha256$1000000${some(ALNUM, 22)}${some(BASE64, 43)}=",
    "random base62": lambda: some(ALNUM, 40),
    "random base36": lambda: some(LOWER, 32),
    "presigned URL": lambda: f"https://b.s3.amazonaws.com/k.pdf?X-Amz-Expires=60&X-Amz-Sig" + f"nature={some(HEX, 64)}",  # noqa: F541
    "libpq string": lambda: f"host=db user=shop pass" + f"word={some(ALNUM, 10)} dbname=shop",  # noqa: F541
}

# What only its name betrays.
NAMED = [
    ("password", lambda: "hunter2"),
    ("user_password", lambda: "swordfish"),
    ("newPassword", lambda: "correct horse battery staple"),
    ("PASSWD", lambda: "tr0ub4dor&3"),
    ("api-key", lambda: some(HEX, 32)),
    ("apiKey", lambda: str(uuid.UUID(int=DICE.getrandbits(128), version=4))),
    ("x-api-key", lambda: some(HEX, 40)),
    ("client_secret", lambda: some(HEX, 64)),
    ("access_token", lambda: some(LOWER, 12)),
    ("refreshToken", lambda: some(URLSAFE, 18) + "7"),
    ("sessionid", lambda: some(LOWER, 20) + "4x"),
    ("session_id", lambda: str(uuid.UUID(int=DICE.getrandbits(128), version=4))),
    ("Cookie", lambda: f"theme=dark; sessionid={some(LOWER, 32)}"),
    ("Authorization", lambda: "Token " + some(HEX, 40)),
    ("private_key", lambda: some(BASE64, 300)),
    ("aws_secret_access_key", lambda: some(BASE64, 40)),
    ("card_number", lambda: "4000 1234 5678 9010"),
    ("cvv", lambda: 123),
    ("pin", lambda: "4711"),
    ("otp", lambda: "123456"),
    ("credentials", lambda: {"user": "anna", "key": some(HEX, 24)}),
    ("signing_secret", lambda: some(HEX, 32)),
    ("db_pass", lambda: some(ALNUM, 12) + "9"),
    ("recovery_codes", lambda: [f"{some(HEX, 4)}1-{some(HEX, 5)}" for _ in range(4)]),
    ("passphrase", lambda: "open sesame"),
]

WRAPS = [
    lambda token: token,
    lambda token: {"order": 17, "note": token},
    lambda token: {"steps": [{"text": f"The call failed with {token} as before"}]},
    lambda token: {"log": f'{{"level": "error", "sent": "{token}"}}'},
]

SECRETS = [
    *[(name, wrap(make())) for name, make in TOKENS.items() for wrap in WRAPS[: 2 if "PRIVATE" in make() else 4]],
    *[(f"key {name}", {"id": 5, name: make()}) for name, make in NAMED],
    *[(f"key {name}, deep", {"jobs": [{"options": {name: make()}}]}) for name, make in NAMED],
]

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


def an_id():
    return str(uuid.UUID(int=DICE.getrandbits(128), version=4))


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
        "user_agent": f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/{number(90, 140)}.0.6478.127 Safari/537"
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
