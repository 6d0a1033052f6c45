"""Plain payloads of words: mails, templates, languages, code, URLs and paths."""

from tests.payload.secret_corpus_two.drawing import Dice

dice = Dice(20240303)

HTML = (
    '<!doctype html><html><body style="margin:0"><table width="600"><tr><td><h1 style="color:#0a5">{title}</h1>'
    "<p>{body}</p>"
    '<a href="https://shop.example.com/{path}?utm_source=newsletter&amp;utm_medium=email&amp;utm_campaign={path}">'
    '<img src="https://cdn.example.com/img/{path}@2x.jpg" width="600" alt=""></a></td></tr></table></body></html>'
)
MAILS = [
    ("en", "Your order has shipped", "Hello Anna, your parcel is on its way and should arrive on Thursday.", "track"),
    (
        "en",
        "Please change your password",
        "Your password is older than a year. You can change it in your account.",
        "me",
    ),
    ("en", "You changed your password", "If it was not you, reset your password at once and tell us.", "help"),
    ("en", "Secret sale", "Our secret sale starts on Friday. The key to the best price: be early!", "sale"),
    ("en", "Forgot your password?", "Click the button below to choose a new password.", "reset"),
    ("de", "Ihre Bestellung ist da", "Guten Tag Frau Müller, Ihr Paket liegt in der Packstation 112 bereit.", "paket"),
    ("de", "Passwort vergessen?", "Kein Problem: Ein neues Passwort wählen Sie in Ihrem Kundenkonto.", "konto"),
    ("de", "Schlüsselfertig", "Der Schlüssel zum neuen Heim: unsere Geheimtipps für Küche und Bad.", "kueche"),
    ("fr", "Votre commande", "Bonjour, votre colis sera livré demain entre 9 h et 12 h.", "colis"),
    ("fr", "Mot de passe modifié", "Votre mot de passe a été modifié hier. Ce n'était pas vous ?", "compte"),
    ("fr", "Le secret de nos chocolats", "Le secret de nos chocolats est la patience. Venez goûter !", "chocolat"),
    ("pl", "Zamówienie wysłane", "Dzień dobry, Twoje zamówienie zostało wysłane. Źródło: sklep internetowy.", "paczka"),
    ("pl", "Zmień hasło", "Twoje hasło wygaśnie za 14 dni. Zmień je w ustawieniach konta.", "konto-pl"),
    ("ja", "ご注文ありがとうございます", "商品は明日発送いたします。パスワードは設定画面で変更できます。", "gochumon"),
    ("ar", "شكرا لطلبك", "سيصل طلبك خلال ثلاثة أيام. يمكنك تغيير كلمة المرور من حسابك.", "talab"),
]
TEMPLATES = [
    {
        "subject": "Invoice {{ invoice.number }}",
        "template": "Dear {{ customer.name }},\n\nplease find {{ total }} EUR due.",
    },
    {"template": "{% load i18n %}{% blocktranslate %}Hello {{ name }}{% endblocktranslate %}"},
    {"sms": "Hi %(name)s, your table for %(guests)d is booked at %(time)s."},
    {"push": {"title": "{0} new messages", "body": "Open the app to read them"}},
    {"text": "Reset your password: {{ protocol }}://{{ domain }}{% url 'reset' uidb64=uid token=token %}"},
    {"slack": {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "*{{ count }}* orders today"}}]}},
    {"mjml": "<mjml><mj-body><mj-section><mj-text>Hello {{ name }}</mj-text></mj-section></mj-body></mjml>"},
    {"markdown": "# Release 2.4\n\n- Faster search\n- [Docs](https://docs.example.com)\n\n```\npip install shop\n```"},
    {"markdown": "| SKU | Qty |\n|---|---|\n| LAMP-07 | 2 |\n| SOFA-3-BLUE | 1 |"},
    {"note": "Called the customer. She lost her password and will use the form; no further action."},
    {"note": "Token payment of one euro agreed until the dispute is over."},
    {"note": "Kunde wünscht Lieferung zum Nachbarn, Schlüssel liegt beim Hausmeister."},
    {"comment": "Author's note: the secret ingredient is cardamom."},
    {"ticket": {"subject": "Login does not work", "text": "I type my password and the page says invalid token."}},
    {"ticket": {"subject": "API key", "text": "Where do I find my API key? The page in the docs is gone."}},
    {"error": "ValueError: invalid literal for int() with base 10: 'abc' (orders/tasks.py:41)"},
    {"error": "CSRF token missing or incorrect.", "path": "/cart/add"},
    {"error": "psycopg.OperationalError: FATAL: password authentication failed for user shop"},
]
CODE = [
    {"sql": "SELECT id, email FROM auth_user WHERE password_changed_at < now() - interval '1 year' ORDER BY id"},
    {"sql": "UPDATE shop_order SET state = 'paid' WHERE id = ANY(%s)", "params": [[4, 8, 15, 16, 23, 42]]},
    {"sql": "ALTER TABLE crm_token ADD COLUMN revoked_at timestamptz"},
    {"query": "query($id: ID!) { product(id: $id) { title variants(first: 5) { nodes { sku price } } } }"},
    {"query": 'mutation { tagsAdd(id: "gid://shopify/Order/4711", tags: ["vip"]) { userErrors { message } } }'},
    {"variables": {"first": 50, "after": None}, "operationName": "Orders"},
    {"cron": "*/15 6-22 * * 1-5"},
    {"schedule": "0 3 * * SUN", "timezone": "Europe/Berlin"},
    {"rrule": "FREQ=MONTHLY;BYDAY=-1FR;COUNT=12"},
    {"regex": r"^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$"},
    {"jsonpath": "$.items[?(@.price < 10)].sku"},
    {"xpath": "//Order[@status='open']/Line/@sku"},
    {"command": ["ffmpeg", "-i", "in.mp4", "-vf", "scale=1280:-1", "-crf", "23", "out.mp4"]},
    {"function": "def total(lines): return sum(line.price * line.quantity for line in lines)"},
    {"js": "const total = items.reduce((sum, item) => sum + item.price, 0);"},
    {"css": ".btn{background:#ff6600;color:#fff;border-radius:4px}", "colours": ["#0a5", "#FF6600", "rgb(0, 85, 170)"]},
    {"xml": '<?xml version="1.0" encoding="UTF-8"?><Order><Id>4711</Id><Currency>EUR</Currency></Order>'},
    {"csv": "sku;name;price\nLAMP-07;Lampe;19,90\nSOFA-3;Sofa;899,00\n"},
    {"yaml": "replicas: 3\nimage: registry.example.com/shop:2.4.1\nports: [8000]\n"},
]
URLS = [
    "https://shop.example.com/p/lamp-07?utm_source=google&utm_medium=cpc&gclid=" + dice.text("word", 60),
    "https://www.youtube.com/watch?v=" + dice.text("word", 11),
    "https://www.google.com/maps/@48.1371,11.5754,15z",
    "https://medium.example.com/@anna.schmidt/ten-years-of-django-3f2a9c81b7d4",
    "https://docs.google.com/document/d/" + dice.text("word", 44) + "/edit",
    "https://cdn.example.com/assets/app.3f9a1c2b.js",
    "https://cdn.example.com/img/w_600,q_80,f_auto/v1700000000/products/lamp.jpg",
    "https://api.example.com/v2/orders?page=3&per_page=100&sort=-created_at&status=open",
    "https://accounts.example.com/password/reset/",
    "https://example.com/oauth/authorize?response_type=code&client_id=shop&scope=read%20write",
    "https://calendly.example.com/anna/30min?month=2026-03",
    "https://de.wikipedia.org/wiki/Geheimnis_(Begriffskl%C3%A4rung)",
    "mailto:service@example.com?subject=Order%204711",
    "tel:+33142685300",
    "git@github.com:acme/theme.git",
    "ssh://git@gitlab.example.com:2222/acme/theme.git",
    "s3://shop-exports/2026/02/orders.parquet",
    "postgres://db.internal:5432/shop",
    "postgres://readonly@db.internal/shop",
    "redis://cache.internal:6379/0",
    "amqp://rabbit.internal:5672/shop",
    "ftp://ftp.example.com/pub/prices.zip",
    "data:text/plain;charset=utf-8,Hello%20World",
    "urn:isbn:9783161484100",
    "wss://live.example.com/orders/4711",
    "http://localhost:8000/admin/auth/user/4/password/",
]
PATHS = [
    "/srv/shop/media/products/2026/02/lamp-07-front.jpg",
    "C:\\Users\\anna\\Documents\\Rechnungen\\2026-02.xlsx",
    "/etc/ssl/certs/shop.example.com.crt",
    "exports/orders_2026-02-01T000000Z.csv.gz",
    "../templates/registration/password_reset_email.html",
    "media/tokens/coin-gold.svg",
    "backups/shop-2026-02-01.dump.gpg",
    "\\\\fileserver\\Vertrieb\\Preisliste Frühjahr.pdf",
]

TEXTS = [
    *(
        {"locale": loc, "subject": title, "html": HTML.format(title=title, body=body, path=path)}
        for loc, title, body, path in MAILS
    ),
    *(
        {"to": f"user{number}@example.org", "subject": title, "text": f"{body}\n\n-- \nShop GmbH, Köln"}
        for number, (_, title, body, _) in enumerate(MAILS)
    ),
    *(body for _, _, body, _ in MAILS),
    *TEMPLATES,
    *CODE,
    *({"url": url, "depth": 1} for url in URLS),
    *({"path": path} for path in PATHS),
]
