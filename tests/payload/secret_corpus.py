"""Secrets as their makers describe them, and plain payloads as real jobs have them.

SECRETS are generated from the published description of each format, with a fixed seed: none was ever valid. They are
put together at run time, so that no scanner of a forge takes this file for a leak. PLAIN is what must be let through.
"""

import base64
import string

from tests.payload.dice import ALNUM, BASE64, DICE, HEX, LOWER, UPPER, URLSAFE, an_id, card, segment, some
from tests.payload.plain_payloads import PLAIN

__all__ = ["PLAIN", "SECRETS"]


def jwt():
    head, claims = {"alg": "HS256", "typ": "JWT"}, {"sub": some(LOWER, 8), "iat": 1516239022}
    return f"{segment(head)}.{segment(claims)}.{some(URLSAFE, 43)}"


def pem(kind):
    lines = "\n".join(some(BASE64, 64) for _ in range(6))
    return "-----BEGIN " + f"{kind}-----\n{lines}\n-----END " + f"{kind}-----\n"


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
    "Plaid token": lambda: "access-" + "production-" + an_id(),
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

# The same for formats that are a prefix and what was drawn: where the prefix is cut, alphabet, length.
PREFIXED = {
    "Amazon MWS": ("amzn.", "mws.", HEX + "-", 36),
    "Amazon Bedrock": ("AB", "SK", BASE64, 128),
    "Google refresh token": ("1/", "/0", URLSAFE, 60),
    "Mandrill": ("m", "d-", ALNUM, 22),
    "NuGet": ("oy", "2", LOWER, 43),
    "Clojars": ("CLO", "JARS_", LOWER, 60),
    "Square production": ("EA", "AA", ALNUM, 60),
    "Facebook": ("EA", "A", ALNUM, 160),
    "OpenRouter": ("sk", "-or-v1-", HEX, 64),
    "Groq": ("gs", "k_", ALNUM, 52),
    "xAI": ("xa", "i-", ALNUM, 80),
    "Perplexity": ("pp", "lx-", ALNUM, 48),
    "Replicate": ("r", "8_", ALNUM, 37),
    "Netlify": ("nf", "p_", ALNUM, 36),
    "Fly.io": ("fm", "2_", BASE64, 120),
    "Buildkite": ("bk", "ua_", HEX, 40),
    "SonarQube": ("sq", "p_", HEX, 40),
    "JFrog": ("AK", "Cp", ALNUM, 69),
    "Contentful": ("CF", "PAT-", URLSAFE, 43),
    "Typeform": ("tf", "p_", URLSAFE, 59),
    "Adafruit": ("ai", "o_", ALNUM, 28),
    "EasyPost": ("EZ", "AK", ALNUM, 54),
    "Shippo": ("shippo", "_live_", HEX, 40),
    "Duffel": ("duffel", "_live_", URLSAFE, 43),
    "Prefect": ("pn", "u_", LOWER, 36),
    "Dropbox": ("s", "l.", URLSAFE, 135),
    "Alibaba": ("LT", "AI", ALNUM, 20),
    "1Password": ("ops", "_eyJ", BASE64, 250),
    "age": ("AGE-SECRET", "-KEY-1", UPPER, 58),
    "Twitter": ("AAAAAAAAAAAA", "AAAAAAAAA", ALNUM, 85),
    "Argon2": ("$argon2id$v=19$m=102400,t=2", ",p=8$", ALNUM + "$", 66),
    "Adobe": ("p8", "e-", LOWER, 32),
    "GoCardless": ("li", "ve_", URLSAFE, 40),
    "Mollie": ("te", "st_", ALNUM, 30),
    "Klaviyo": ("p", "k_", HEX, 34),
    "Octopus Deploy": ("AP", "I-", UPPER, 26),
    "ReadMe": ("rd", "me_", LOWER, 70),
    "Sourcegraph": ("sg", "p_", HEX, 40),
    "Make": ("https://hook.eu1", ".make.com/", LOWER, 32),
    "Zapier": ("https://hooks.zap", "ier.com/hooks/catch/1234567/", LOWER, 9),
    "Frame.io": ("fi", "o-u-", URLSAFE, 64),
    "Infracost": ("ic", "o-", ALNUM, 32),
    "OpenShift": ("sha", "256~", URLSAFE, 43),
    "Scalingo": ("tk", "-us-", URLSAFE, 48),
    "Pinecone": ("pc", "sk_", ALNUM, 70),
    "NVIDIA": ("nv", "api-", URLSAFE, 64),
    "Render": ("rn", "d_", ALNUM, 28),
    "Neon": ("na", "pi_", LOWER, 64),
    "Paddle": ("pdl_live", "_apikey_", ALNUM, 60),
    "Polar": ("pol", "ar_oat_", ALNUM, 43),
    "glibc": ("$6", "$", ALNUM + "./", 98),
}
SEVERAL_PARTS = {
    "Resend": lambda: "r" + "e_" + some(ALNUM, 8) + "_" + some(ALNUM, 24),
    "LangSmith": lambda: "ls" + "v2_pt_" + some(HEX, 32) + "_" + some(HEX, 10),
    "Dynatrace": lambda: "dt" + "0c01." + some(UPPER, 24) + "." + some(UPPER, 64),
    "Tailscale": lambda: "ts" + "key-auth-" + some(ALNUM, 17) + "-" + some(ALNUM, 32),
    "CircleCI": lambda: "CCI" + "PAT_" + some(ALNUM, 22) + "_" + some(HEX, 40),
    "Flutterwave": lambda: "FLW" + "SECK-" + some(LOWER, 32) + "-X",
    "Flutterwave test": lambda: "FLW" + "SECK_TEST-" + some(LOWER, 32) + "-X",
    "1Password secret key": lambda: "A" + "3-" + "-".join(some(UPPER, length) for length in (6, 11, 5, 5, 5)),
    "Cloudflare origin": lambda: "v" + "1.0-" + some(HEX, 24) + "-" + some(HEX, 146),
    "Harness": lambda: "pa" + "t." + some(ALNUM, 22) + "." + some(HEX, 24) + "." + some(ALNUM, 20),
    "HubSpot": lambda: "pat-" + "eu1-" + an_id(),
    "LaunchDarkly": lambda: "sd" + "k-" + an_id(),
    "Teams": lambda: (
        f"https://shop.webhook.office.com/webhookb2/{an_id()}@{an_id()}/IncomingWebhook/{some(HEX, 32)}/{an_id()}"
    ),
    "reset link": lambda: f"https://shop.example.com/reset/MTI/{some(LOWER, 6)}-{some(HEX, 32)}/",
    "Mapbox": lambda: "sk" + ".ey" + "J" + some(URLSAFE, 80) + "." + some(URLSAFE, 22),
}
TOKENS |= SEVERAL_PARTS
TOKENS |= {
    name: lambda first=first, rest=rest, alphabet=alphabet, length=length: first + rest + some(alphabet, length)
    for name, (first, rest, alphabet, length) in PREFIXED.items()
}

# What only its name betrays.
NAMED = [
    ("password", lambda: "hunter2"),
    ("user_password", lambda: "swordfish"),
    ("newPassword", lambda: "correct horse battery staple"),
    ("PASSWD", lambda: "tr0ub4dor&3"),
    ("api-key", lambda: some(HEX, 32)),
    ("apiKey", an_id),
    ("x-api-key", lambda: some(HEX, 40)),
    ("client_secret", lambda: some(HEX, 64)),
    ("access_token", lambda: some(LOWER, 12)),
    ("refreshToken", lambda: some(URLSAFE, 18) + "7"),
    ("sessionid", lambda: some(LOWER, 20) + "4x"),
    ("session_id", an_id),
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


def token_of(name):
    """Draw the same token for a name whichever tests run."""
    DICE.seed(name)
    return TOKENS[name]()


WRAPS = [
    lambda token: token,
    lambda token: {"order": 17, "note": token},
    lambda token: {"steps": [{"text": f"The call failed with {token} as before"}]},
    lambda token: {"log": f'{{"level": "error", "sent": "{token}"}}'},
]

SECRETS = [
    *[(name, wrap(make())) for name, make in TOKENS.items() for wrap in WRAPS],
    *[(f"key {name}", {"id": 5, name: make()}) for name, make in NAMED],
    *[(f"key {name}, deep", {"jobs": [{"options": {name: make()}}]}) for name, make in NAMED],
]
