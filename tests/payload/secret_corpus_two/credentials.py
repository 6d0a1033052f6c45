"""Secrets that their surroundings give away: a key's name, a URL, a header, a PEM block, a card's check digit."""

import base64
import json

from tests.payload.secret_corpus_two.drawing import Dice

dice = Dice(20240301)


def _jwts():
    """Tokens of three parts as Django, an identity provider and a video service issue them (RFC 7519)."""
    session = {"user_id": 7, "exp": 1767225600, "jti": dice.text("hex", 32), "token_type": "access"}
    identity = {"iss": "https://login.example.com/", "sub": "auth0|5f7c8ec7", "aud": "shop", "exp": 1767225600}
    yield {"user_id": 7, "jwt": dice.jwt(session)}
    yield {"link": f"https://shop.example.com/magic-login/?t={dice.jwt(session)}"}
    yield {"args": [dice.jwt(identity, "RS256", 256)], "tenant": "acme"}
    yield f"curl -H 'X-Auth: {dice.jwt(identity, 'ES256', 64)}' https://api.example.com/v1/me"
    yield {"meeting": {"id": 84512, "join": dice.jwt({"iss": "video", "room": "42", "exp": 1767225600})}}


def _private_keys():
    """PEM blocks whose body is noise (RFC 7468, RFC 4880, OpenSSH's PROTOCOL.key, PuTTY's appendix C)."""
    rsa, elliptic, openssh, pkcs8, encrypted, dsa, pgp = (
        dice.pem(f"{kind}PRIVATE KEY{block}", size)
        for kind, block, size in (
            ("RSA ", "", 1190),
            ("EC ", "", 121),
            ("OPENSSH ", "", 411),
            ("", "", 1218),
            ("ENCRYPTED ", "", 1310),
            ("DSA ", "", 668),
            ("PGP ", " BLOCK", 900),
        )
    )
    account = {
        "type": "service_account",
        "project_id": "shop-prod-1234",
        "client_email": "exports@shop-prod-1234.iam.gserviceaccount.com",
        "client_id": dice.text("digit", 21),
        "private_key": dice.pem("PRIVATE KEY", 1218),
    }
    putty = f"PuTTY-User-Key-File-3: ssh-ed25519\nComment: deploy\nPrivate-Lines: 1\n{dice.base64(36)}\n"
    yield "RSA private key", {"host": "sftp.example.com", "identity": rsa}
    yield "EC private key", {"apns": {"team": "AB12CD34EF", "p8": elliptic}}
    yield "OpenSSH private key", f"Please use this to fetch the files:\n\n{openssh}\nThanks, Piotr"
    yield "OpenSSH private key", {"ssh": {"user": "deploy", "key": openssh}}
    yield "PKCS#8 private key", {"files": [{"name": "tls.key", "content": pkcs8}]}
    yield "Encrypted PKCS#8 private key", {"pem": encrypted}
    yield "DSA private key", [dsa]
    yield "PGP private key", {"armored": pgp}
    yield "PuTTY private key", {"content": putty}
    yield "Google service account file", {"credentials_file": account}
    yield "Google service account file", {"upload": json.dumps(account)}


def _urls():
    """Connection URLs with a password, as dj-database-url, Celery, Redis and GitHub's scanning write them."""
    for name, url in (
        ("PostgreSQL URL", "postgres://shop:{}@db.internal:5432/shop"),
        ("PostgreSQL URL", "postgresql+psycopg://report:{}@10.0.3.7/warehouse?sslmode=require"),
        ("MySQL URL", "mysql://root:{}@mysql.internal:3306/crm"),
        ("MongoDB URL", "mongodb+srv://app:{}@cluster0.ab1cd.mongodb.net/crm?retryWrites=true"),
        ("Redis URL", "redis://:{}@cache.internal:6379/0"),
        ("Redis URL", "rediss://default:{}@redis-11.cloud.example.com:11001"),
        ("AMQP URL", "amqp://worker:{}@rabbit.internal:5672/shop"),
        ("AMQP URL", "amqps://worker:{}@rabbit.example.com/%2f"),
        ("SMTP URL", "smtp+tls://mailer:{}@smtp.example.com:587"),
        ("FTP URL", "ftp://kunde:{}@ftp.example.de/export"),
        ("HTTP URL with password", "https://deploy:{}@git.example.com/acme/theme.git"),
        ("HTTP URL with password", "https://api:{}@stats.example.com/v2/report.csv?from=2026-01-01"),
    ):
        password = dice.text("alnum", 14)
        yield name, {"source": url.format(password), "table": "orders"}
        yield name, f"The job could not connect to {url.format(password)} (timeout)"


def _connection_strings():
    """Connection strings of Azure, SQL Server, libpq and ODBC, as their documentation shows them."""
    key, short = dice.base64(64), dice.base64(32)
    storage = f"DefaultEndpointsProtocol=https;AccountName=shopmedia;AccountKey={key};EndpointSuffix=core.windows.net"
    bus = f"Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={short}"
    cosmos = f"AccountEndpoint=https://shop.documents.azure.com:443/;AccountKey={key};"
    server = "Server=tcp:shop.database.windows.net,1433;Database=shop;User ID=web;Password={};Encrypt=True;"
    blob = "https://shopmedia.blob.core.windows.net/exports/orders.csv"
    access = "sp=r&st=2026-01-10T08:00:00Z&se=2026-02-10T16:00:00Z&spr=https&sv=2022-11-02&sr=b"
    signature = dice.base64(32).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
    yield "Azure storage connection string", {"target": storage}
    yield "Azure storage connection string", {"args": ["upload", storage]}
    yield "Azure Service Bus connection string", {"queue": {"connection": bus}}
    yield "Azure Cosmos DB connection string", {"connection": cosmos}
    yield "Azure SQL connection string", {"dsn": server.format(dice.text("alnum", 16))}
    # A SAS lets in for a month whoever has the link; scanners report it, a shorter one may be meant to be passed on.
    yield "Azure SAS URL", {"report": f"{blob}?{access}&sig={signature}"}
    yield "libpq connection string", {"dsn": f"host=db.internal dbname=crm user=crm password={dice.text('alnum', 12)}"}
    yield "ODBC connection string", {"odbc": f"Driver={{MySQL}};Server=10.0.0.5;Uid=erp;Pwd={dice.text('alnum', 12)};"}


def _headers():
    """HTTP's Authorization and what stands for it (RFC 7617, RFC 6750)."""
    basic = base64.b64encode(f"shop:{dice.text('alnum', 16)}".encode()).decode()
    bearer = dice.text("word", 43)
    yield "HTTP Basic", {"url": "https://erp.example.com/orders", "headers": {"Authorization": f"Basic {basic}"}}
    yield "HTTP Basic", f"POST /orders HTTP/1.1\r\nHost: erp.example.com\r\nAuthorization: Basic {basic}\r\n\r\n"
    yield "HTTP Basic", {"curl": f"curl -u shop:{dice.text('alnum', 16)} https://erp.example.com/orders"}
    yield "HTTP Bearer", {"headers": {"authorization": f"Bearer {bearer}", "accept": "application/json"}}
    yield "HTTP Bearer", {"headers": [{"name": "Authorization", "value": f"Bearer {bearer}"}]}
    yield "HTTP Bearer", f"curl -s -H 'Authorization: Bearer {bearer}' https://api.example.com/v1/contacts"
    yield "Django REST framework token", {"headers": [["Authorization", f"Token {dice.text('hex', 40)}"]]}
    yield "Django session cookie", {"headers": {"Cookie": f"csrf=1; sessionid={dice.text('lower', 32)}"}}
    yield "API key header", {"headers": {"X-API-Key": dice.text("alnum", 32)}, "method": "GET"}
    yield "API key header", {"headers": [{"key": "X-Api-Key", "value": dice.text("hex", 40)}]}
    yield "API key header", {"request": {"headers": {"DD-API-KEY": dice.text("hex", 32)}}}
    yield "API key header", {"headers": {"X-Postmark-Server-Token": dice.uuid()}}


def _assignments():
    """Secrets in text, with the name before them: environment files, query strings, mails, JSON and YAML as text."""
    word = dice.text("alnum", 40)
    yield "Environment line", {"env": f"DEBUG=0\nAWS_SECRET_ACCESS_KEY={dice.text('b64', 40)}\nREGION=eu-west-1\n"}
    yield "Environment line", {"command": f"PGPASSWORD={dice.text('alnum', 12)} pg_dump -h db shop"}
    yield "Environment line", f"export DATADOG_API_KEY={dice.text('hex', 32)}"
    # The prefix is what startproject writes; many a site has gone live with it.
    yield "Django secret key", {"settings": "SECRET_KEY = 'django-" + f"insecure-{dice.text('alnum', 50)}'"}
    yield "Query string", {"url": f"https://maps.example.com/geocode?q=Bonn&api_key={dice.text('alnum', 32)}"}
    yield "Query string", f"GET https://graph.example.com/v19.0/me?access_token={dice.text('alnum', 60)}&fields=id"
    yield "Query string", {"feed": f"https://feeds.example.com/products.xml?shop=7&token={dice.text('hex', 32)}"}
    yield "Query string", {"callback": f"https://crm.example.com/hook?client_secret={word}&shop=7"}
    yield "JSON as text", {"body": json.dumps({"grant_type": "client_credentials", "client_secret": word})}
    yield "JSON as text", json.dumps({"user": "anna", "password": "Blaubeere-77"})
    yield "YAML as text", {"yaml": f"smtp:\n  host: mail.example.com\n  password: {dice.text('alnum', 12)}\n"}
    yield "Password in a mail", {"to": "anna@example.com", "body": "Welcome! Your password: kV7-mond-Zaun"}
    yield "Password in a mail", {"body": "Hallo Anna,\n\nIhr Passwort: Regen!Bogen42\n\nIhr Shop-Team"}
    yield "Password in a mail", {"body": "Bonjour,\n\nVotre mot de passe : Tournesol#88\n\nÀ bientôt"}
    yield "Password in a form body", {"data": f"username=anna&password={dice.text('alnum', 10)}&next=%2F"}
    # Django's own reset link: whoever reads the payload within the time limit sets the password.
    yield (
        "Django password reset link",
        {
            "to": "anna@example.com",
            "text": f"Choose a new one: https://shop.example.com/accounts/reset/MTI/c8x4f2-{dice.text('hex', 32)}/",
        },
    )


# The test numbers that Stripe, Adyen and PayPal publish; each passes Luhn.
CARDS = ("42424242|42424242", "40000566|55665556", "55555555|55554444", "22230031|22003222", "3782822|46310005")
CARDS += ("60111111|11111117", "35661111|11111113", "305693|09025904", "41111111|11111111", "51051051|05105100")


def _hashes():
    """Hashed passwords as an import of users carries them (Django, bcrypt, PHC): to be guessed at leisure."""
    django = f"pbkdf2_sha256$600000${dice.text('alnum', 22)}${dice.base64(32)}"
    yield {"users": [{"username": "anna", "hash": django}]}
    yield {"email": "luc@example.com", "imported": f"$2b$12${dice.text('alnum', 53)}"}
    yield {"row": [4, "ewa", f"argon2$argon2id$v=19$m=102400,t=2,p=8${dice.text('b64', 22)}${dice.text('b64', 43)}"]}


def _cards():
    """Card numbers bare, in groups of four, in text and as a number."""
    cards = [card.replace("|", "") for card in CARDS]
    spaced, dashed = (sign.join(cards[-2][start : start + 4] for start in range(0, 16, 4)) for sign in " -")
    for card in cards:
        yield {"order_id": 81, "pan": card}
    yield {"note": f"Customer gave the card {spaced} on the phone"}
    yield f"Bitte die Karte {dashed} belasten, gültig bis 12/27"
    yield {"payment": {"card": {"number": cards[0], "holder": "A. Schmidt", "expires": "12/27"}}}
    yield {"card_number": cards[2]}
    yield {"charge": {"creditCardNumber": int(cards[8]), "amount": 1999}}


# Secrets that only the key gives away. Values are what people and machines choose: words, digits, hex, Base64, UUIDs.
NAMED = (
    {"password": "correct horse"},
    {"username": "anna", "password": "Sommer2026!"},
    {"user_id": 4, "new_password": "hunter2hunter2"},
    {"user": {"email": "a@example.com", "rawPassword": "tulip-garden-9"}},
    {"dbPassword": "x9-Kappa-33"},
    {"DB_PASSWORD": "shop"},
    {"database": {"HOST": "db", "NAME": "shop", "USER": "shop", "PASSWORD": "lampe"}},
    {"smtp": {"host": "mail.example.com", "user": "noreply", "passwd": "Zaunkönig7"}},
    {"ftp": {"login": "export", "pwd": "Karlsruhe76131"}},
    {"sftp_passphrase": "four small green frogs"},
    {"wifi": {"ssid": "Guests", "passphrase": "welcome-to-oslo"}},
    {"client-secret": dice.text("alnum", 40)},
    {"clientSecret": dice.text("word", 32)},
    {"oauth": {"client_id": "shop", "client_secret": dice.uuid()}},
    {"X-Api-Key": dice.text("hex", 32)},
    {"api_key": dice.text("alnum", 24)},
    {"apikey": dice.uuid()},
    {"APIKey": dice.text("upper", 20)},
    {"algolia": {"app": "B1G2GM9NG0", "adminApiKey": dice.text("hex", 32)}},
    {"shops": [{"id": 1, "api-key": dice.text("lower", 20)}]},
    {"access_token": dice.text("word", 64)},
    {"accessToken": dice.text("alnum", 40)},
    {"page": {"id": "10153", "page_access_token": dice.text("alnum", 80)}},
    {"refreshToken": dice.text("word", 48)},
    {"refresh_token": dice.text("hex", 64)},
    {"id": 3, "auth_token": dice.text("hex", 32)},
    {"account_sid": "shop", "twilioAuthToken": dice.text("hex", 32)},
    {"bearer_token": dice.text("word", 43)},
    {"token": dice.text("hex", 40)},
    {"api_token": dice.text("alnum", 32)},
    {"bot_token": dice.text("alnum", 32)},
    {"otp_seed": dice.text("base32", 32)},
    {"totp_secret": dice.text("base32", 16)},
    {"device": {"user": 4, "totpSecret": dice.text("base32", 32)}},
    {"private_key": dice.base64(48)},
    {"wallet": {"address": "0x" + dice.text("hex", 40), "privateKey": "0x" + dice.text("hex", 64)}},
    {"wireguard": {"PublicKey": dice.base64(32), "PrivateKey": dice.base64(32)}},
    {"signing_key": dice.text("hex", 64)},
    {"encryption_key": dice.base64(32)},
    {"fernet_key": dice.base64(32, urlsafe=True)},
    {"SECRET_KEY": dice.text("alnum", 50)},
    {"webhook_secret": dice.text("hex", 40)},
    {"webhooks": [{"url": "https://crm.example.com/in", "secret": dice.text("alnum", 32)}]},
    {"shared_secret": "mittwoch-abend"},
    {"hmacSecret": dice.text("hex", 32)},
    {"aws": {"region": "eu-central-1", "secret_access_key": dice.text("b64", 40)}},
    {"AWS_SECRET_ACCESS_KEY": dice.text("b64", 40)},
    {"awsSessionToken": dice.text("b64", 180)},
    {"azure": {"account": "shop", "account_key": dice.base64(64)}},
    {"intent": {"client_secret": "pi_" + dice.text("alnum", 24) + "_secret_" + dice.text("alnum", 25)}},
    {"session_key": dice.text("lower", 32)},
    {"sessionid": dice.text("lower", 32)},
    # What PCI DSS forbids to keep after the payment, however short.
    {"card": {"last4": "4242", "cvc": "737"}},
    {"cvv": "123", "order": 9},
    {"employee": 31, "pin": "4711", "terminal": "T7"},
    # Alive for minutes; a reviewer asks why it waits in a table.
    {"phone": "+33142685300", "otp": "482913"},
    {"recovery_codes": ["k3v9-x2mq"]},
    {"db": {"credentials": "shop:Herbstlaub9"}},
    {"servers": [[{"host": "a"}, {"host": "b", "root_password": "Wolke-Sieben-7"}]]},
    {"accounts": [{"login": "a", "settings": {"imap": {"imapPassword": "fern-valley-12"}}}]},
    # German, French and one Spanish name.
    {"benutzer": "anna", "passwort": "Blumenwiese1"},
    {"Kennwort": "Herbst-2026"},
    {"neuesPasswort": "apfelbaum99"},
    {"utilisateur": "luc", "mot_de_passe": "Tournesol!7"},
    {"motDePasse": "bonjour-paris"},
    {"compte": {"mot-de-passe": "lavande-bleue"}},
    {"cle_api": dice.text("hex", 32)},
    {"contraseña": "girasol-2026"},
)

CREDENTIALS = [
    *(("JSON Web Token", payload) for payload in _jwts()),
    *_private_keys(),
    *_urls(),
    *_connection_strings(),
    *_headers(),
    *_assignments(),
    *(("Password hash", payload) for payload in _hashes()),
    *(("Payment card number", payload) for payload in _cards()),
    *(("Telling key", payload) for payload in NAMED),
]
