"""The words that name secrets: in English by what they announce, in other languages by how sure they are.

Written folded: lower case, without accents and separators (`contraseña` is contrasena, `mot de passe` motdepasse).
"""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """What sort of secret a name announces: it decides which values are believed."""

    PASSWORD = "password"  # noqa: S105 - people choose these: nearly any text is one
    SECRET = "secret"  # noqa: S105 - people choose some: any text but a label
    TOKEN = "token"  # noqa: S105 - machines make these: a word or a sentence is none
    KEY = "key"  # some are secrets, most are not: only what a generator made
    DIGITS = "digits"  # PINs, one-time codes, what is on the back of a card
    CARD = "card"


ENDINGS = {
    Kind.PASSWORD: (
        "password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "motdepasse", "contrasena",
        "wachtwoord", "seedphrase", "mnemonic", "passwrd", "passw", "pword", "pswd", "userpwd", "phrasesecrete",
        "recoveryphrase", "securityanswer", "secretanswer", "memorableword", "secretphrase", "presharedkey",
        "wpakey", "networkkey", "keyphrase",
    ),
    Kind.SECRET: (
        "secret", "apikey", "secretkey", "privatekey", "secretaccesskey", "cleapi", "claveapi", "apischluessel",
    ),
    Kind.TOKEN: (
        "token", "authorization", "cookie", "sessionid", "sessid", "sessionkey", "accesskey", "accesskeyid",
        "signingkey", "encryptionkey", "decryptionkey", "masterkey", "authkey", "accountkey", "sharedkey",
        "sharedaccesskey", "sharedaccesssignature", "sshkey", "deploykey", "servicekey", "servicerolekey",
        "hmackey", "jwtkey", "fernetkey", "credential", "connectionstring", "connstr", "connstring", "recoverycode",
        "backupcode", "authorizationcode", "authcode", "appkey", "storagekey", "integrationkey", "routingkey",
        "webhookkey", "keymaterial", "clientassertion", "codeverifier", "otpseed", "totpseed", "mfaseed",
        "masterseed", "walletseed", "subscriptionkey", "transactionkey", "writekey", "ingestkey", "functionkey",
        "signaturekey", "validationkey", "machinekey", "privkey", "secretaccess", "accesscode", "masterauth",
        "snmpcommunity", "communitystring", "passkey", "oauthverifier",
    ),
    Kind.DIGITS: (
        "securitycode", "onetimecode", "onetimepassword", "verificationcode", "twofactorcode", "mfacode", "otpcode",
        "smscode", "alarmcode", "doorcode", "safecode", "pinnumber", "cardpin", "geheimzahl", "codepin",
        "logincode", "authenticatorcode",
    ),
    Kind.CARD: ("cardnumber", "ccnumber", "creditcard", "debitcard", "cardno"),
}  # fmt: skip
WORDS = {
    # Short ones end many other words: they must stand alone.
    "pwd": Kind.PASSWORD, "pw": Kind.PASSWORD, "psw": Kind.PASSWORD, "passe": Kind.PASSWORD, "mdp": Kind.PASSWORD,
    "psk": Kind.PASSWORD, "auth": Kind.TOKEN, "jwt": Kind.TOKEN, "bearer": Kind.TOKEN, "cred": Kind.TOKEN,
    "pat": Kind.TOKEN, "kek": Kind.TOKEN, "dek": Kind.TOKEN, "pin": Kind.DIGITS, "puk": Kind.DIGITS,
    "cvv": Kind.DIGITS, "cvc": Kind.DIGITS, "cvn": Kind.DIGITS, "csc": Kind.DIGITS, "cvv2": Kind.DIGITS,
    "otp": Kind.DIGITS, "totp": Kind.DIGITS, "pan": Kind.CARD,
}  # fmt: skip
TRAILING = frozenset(
    (
        "value", "plain", "raw", "hash", "hashed", "encrypted", "header", "confirm", "confirmation", "repeat",
        "again", "new", "old", "current", "live", "test", "prod", "production", "staging", "sandbox", "dev",
        "b64", "base64", "hex", "base", "fallback", "primary", "secondary", "data", "text", "pem", "bytes", "default",
        "plaintext", "cleartext", "decrypted", "str", "string", "verify", "retype",
    )
)  # fmt: skip
NO_TOKENS = frozenset(
    (
        "page", "next", "prev", "previous", "continuation", "pagination", "sync", "resume", "cursor",
        "idempotency", "stop", "special", "max", "min", "total", "prompt", "completion", "input", "output",
        "cached", "eos", "bos", "pad", "unk", "sep", "search", "design", "nft", "erc", "cancellation", "contract",
    )
)  # fmt: skip
NO_CARDS = frozenset(("loyalty", "membership", "member", "library", "bonus", "club", "student"))
STORAGE = frozenset(("object", "s3", "file", "blob", "image"))

# What has an account: `smtp_pass` is a password, `boarding_pass` is none, and `token_github` a token.
OWNERS = frozenset(
    (
        "db", "database", "user", "smtp", "mysql", "postgres", "pg", "ftp", "sftp", "redis", "rabbitmq", "mail",
        "email", "admin", "root", "my", "sudo", "su", "ssh", "vpn", "ldap", "ad", "imap", "pop3", "proxy", "http",
        "login", "auth", "ssl", "tls", "key", "keystore", "truststore", "store", "p12", "pfx", "cert", "zip",
        "archive", "wifi", "wlan", "router", "bot", "service", "svc", "app", "host", "server", "client", "master",
        "old", "new", "tmp", "temp", "default", "elastic", "es", "mongo", "mq", "kafka", "oracle", "mssql", "sql",
        "mariadb", "jdbc", "broker", "amqp", "mqtt", "samba", "smb", "nas", "backup", "restic", "borg", "gpg",
        "pgp", "kdbx", "vault", "grafana", "jenkins", "nexus", "gitlab", "github", "docker", "registry", "npm",
        "pypi", "maven", "sonar", "kibana", "superuser", "sa", "system", "sys", "dba", "replication", "repl",
        "migration", "owner", "account", "bind", "require",
    )
)  # fmt: skip
NO_PASSES = frozenset(
    (
        "boarding", "season", "ski", "day", "week", "month", "year", "annual", "bus", "train", "rail", "travel",
        "event", "guest", "visitor", "museum", "festival", "gate", "hall", "press", "mountain", "forward", "first",
        "second", "last", "high", "low", "band", "test", "backward", "render", "shader", "by", "com", "tres",
        "under", "over",
    )
)  # fmt: skip

# Keys that order, cache, name or are public. A key of anything else is a secret if a generator made it.
NO_KEYS = frozenset(
    (
        "primary", "foreign", "cache", "sort", "order", "ordering", "partition", "idempotency", "object", "s3",
        "translation", "locale", "i18n", "natural", "unique", "composite", "public", "pub", "publishable",
        "product", "dict", "map", "hash", "range", "index", "lookup", "group", "column", "row", "message",
        "feature", "flag", "metric", "event", "room", "lock", "shard", "bucket", "legend", "hot", "short", "arrow",
        "tab", "issue", "project", "space", "board", "config", "setting", "option", "json", "xml", "attribute",
        "field", "form", "tree", "node", "step", "task", "job", "queue", "dedupe", "dedup", "deduplication",
        "correlation", "tracking", "search", "filter", "video", "file", "image", "document", "doc", "path",
        "folder", "template", "snapshot", "content", "answer", "score", "music", "musical", "house", "car", "door",
        "license", "licence", "activation", "registration", "instrumentation", "site", "measurement",
        "verification", "verifying", "host", "authorized", "resource", "entity", "record", "item", "data", "blob",
        "media", "upload", "download", "asset", "thumbnail", "surrogate", "business", "join", "merge",
        "distribution", "clustering", "dist", "routing", "state", "storage", "request", "response", "session",
        "context", "page", "cursor", "pagination", "evaluation", "last", "start", "next", "prev", "previous",
        "exclusive", "cognitive", "concurrency", "throttle", "rate", "version", "schema", "type", "kind",
        "category", "tag", "label", "menu", "nav", "news", "chart", "series", "dimension", "turn", "don", "mon",
        "whis", "hoc", "joc", "tur", "ticket", "thread", "conversation", "channel", "topic",
    )
)  # fmt: skip
KEY_OWNERS = frozenset(
    (
        "aes", "rsa", "ecdsa", "ed25519", "hmac", "des", "chacha", "nacl", "crypto", "crypt", "cipher", "encrypt",
        "decrypt", "kms", "vault", "wallet", "recovery", "backup", "unlock", "root", "admin", "bot", "device",
        "gpg", "pgp", "tls", "ssl", "ssh", "cert", "vpn", "wireguard", "wg", "client", "server", "consumer",
        "merchant", "partner", "personal", "developer", "dev", "user", "agent", "management", "api", "rest", "auth",
        "login", "cookie", "jwt", "jwe", "jws", "webhook", "secure", "security", "bearer", "stripe", "paypal",
        "square", "adyen", "mollie", "braintree", "plaid", "twilio", "sendgrid", "mailgun", "mailchimp", "postmark",
        "sparkpost", "ses", "brevo", "openai", "anthropic", "claude", "gemini", "mistral", "cohere", "groq",
        "huggingface", "replicate", "github", "gitlab", "bitbucket", "slack", "discord", "telegram", "aws", "gcp",
        "google", "azure", "firebase", "algolia", "mapbox", "maps", "shopify", "datadog", "dd", "sentry",
        "newrelic", "relic", "cloudflare", "heroku", "netlify", "vercel", "digitalocean", "linode", "vultr",
        "hetzner", "ovh", "scaleway", "fastly", "dropbox", "box", "zoom", "hubspot", "salesforce", "zendesk",
        "intercom", "segment", "mixpanel", "amplitude", "airtable", "notion", "asana", "jira", "trello",
        "pagerduty", "opsgenie", "okta", "auth0", "deepl", "weather", "openweather", "ipinfo", "maxmind", "dhl",
        "ups", "fedex", "usps", "shippo", "easypost", "smtp", "ftp", "sms", "mail", "email",
    )
)  # fmt: skip

PASSWORDS = frozenset(
    (
        "motdepasse", "motsdepasse", "motpasse", "passworter", "wachtwoorden", "paroladordine", "parolasegreta",
        "contrasena", "contrasenya", "contrasinal", "senha", "palavrapasse", "wachtwoord", "wagwoord", "salasana",
        "lozinka", "zaporka", "jelszo", "sifre", "sifreniz", "parolaniz", "parool", "parol", "slaptazodis",
        "kodeord", "adgangskode", "losenord", "passord", "katasandi", "katalaluan", "matkhau", "fjalekalimi",
        "fjalekalim", "nenosiri", "pasahitza", "lykilord", "pasfhocal", "cyfrinair", "pasvorto", "passwuert",
        "modpas", "kennwort", "passwort", "salasona", "tunnussana", "phrasedepasse", "frasesecreta", "contrasenia",
        "passwoord",
    )
)  # fmt: skip
# Those that mean other things too, and keys: only what a machine made, or what has digits and signs in it, is believed.
MAYBE_SECRETS = frozenset(
    (
        "parola", "parole", "haslo", "hasla", "hesla", "llavesecreta", "llaveprivada", "llaveapi", "codigosecreto",
        "codicesegreto", "heslo", "geslo", "sandi", "clave", "kodord", "segredo", "secreto", "segreto", "sekret",
        "geheimnis", "jeton", "clavesecreta", "claveprivada", "clavedeacceso", "claveacceso", "clavedeapi",
        "chavesecreta", "chaveapi", "chaveprivada", "chavedeacesso", "chavedeapi", "chavedaapi", "tokendeacesso",
        "tokendeacceso", "jetondacces", "jetonacces", "clesecrete", "cleprivee", "cledacces", "cledapi",
        "cledechiffrement", "apischluessel", "apischlussel", "geheimschluessel", "geheimschlussel",
        "privaterschluessel", "privaterschlussel", "zugangsdaten", "zugangsschluessel", "zugangsschlussel",
        "chiavesegreta", "chiaveapi", "chiaveprivata", "chiavediaccesso", "geheimesleutel", "apisleutel",
        "privesleutel", "toegangssleutel", "kluczapi", "tajnyklucz", "kluczprywatny", "kluczdostepu", "apiklic",
        "tajnyklic", "soukromyklic", "tajnykluc", "apikluc", "apikulcs", "titkoskulcs", "privatkulcs",
        "apianahtari", "gizlianahtar", "ozelanahtar", "erisimanahtari", "apinyckel", "hemlignyckel", "privatnyckel",
        "apinokkel", "hemmelignokkel", "privatnokkel", "apinogle", "hemmelignogle", "apiavain", "salainenavain",
        "yksityinenavain", "cheieapi", "cheiesecreta", "cheieprivata", "clauapi", "clausecreta", "clauprivada",
        "kunciapi", "kuncirahasia", "khoabimat", "khoaapi", "tajnikljuc", "apikljuc", "privatnikljuc", "koddostepu",
    )
)  # fmt: skip
# Of these only the whole name, for what follows tells of something else: `clave_cliente`, `secreto_profesional`.
ALONE = frozenset(("clave", "sandi", "segredo", "secreto", "segreto", "sekret", "geheimnis", "jeton", "parole"))
# In other scripts: parts of words, for most of these languages join or bend them.
FOREIGN = (
    "парол", "лозинк", "гасло", "токен", "секрет", "сакрэт", "приватныйключ", "закрытыйключ", "приватнийключ",
    "ключapi", "apiключ", "апиключ", "кодовоеслово", "құпиясөз", "нууцүг", "τοκεν", "κωδικοςπροσβασης",
    "συνθηματικ", "μυστικοκλειδι", "סיסמ", "סוד", "אסימון", "كلمةالمرور", "كلمةالسر", "كلمةمرور", "كلمةسر",
    "الرقمالسري", "رمزالوصول", "المفتاحالسري", "مفتاحسري", "رمزعبور", "گذرواژه", "کلمهعبور", "پاسورڈ", "पासवर्ड",
    "कूटशब्द", "सीक्रेट", "टोकन", "गुप्तकुंजी", "পাসওয়ার্ড", "গোপনকী", "கடவுச்சொல்", "పాస్‌వర్డ్", "పాస్వర్డ్",
    "ಪಾಸ್‌ವರ್ಡ್", "ಪಾಸ್ವರ್ಡ್", "പാസ്‌വേഡ്", "പാസ്‌വേർഡ്", "પાસવર્ડ", "ਪਾਸਵਰਡ", "මුරපදය", "รหัสผ่าน", "รหัสลับ",
    "ລະຫັດຜ່ານ", "ពាក្យសម្ងាត់", "စကားဝှက်", "密码", "密碼", "秘密", "暗証番号", "비번", "口令", "密钥", "密鑰",
    "私钥", "私鑰", "秘钥", "秘鑰", "令牌", "パスワード", "パスフレーズ", "秘密鍵", "シークレット", "トークン",
    "apiキー", "アクセスキー", "合言葉", "비밀번호", "암호", "패스워드", "비밀키", "토큰", "시크릿", "api키",
    "პაროლ", "გასაღები", "գաղտնաբառ", "የይለፍቃል",
)  # fmt: skip
