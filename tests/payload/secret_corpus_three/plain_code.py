# A sample is easier to read on one line.
# ruff: noqa: E501
"""Code, logs and commands without a secret in them, though with the words."""

from __future__ import annotations

from collections.abc import Iterator

from tests.payload.secret_corpus_three.draw import WORDS, Draw
from tests.payload.secret_corpus_three.kinds import Kinds, payloads_of

SQL = [
    "SELECT id, email FROM auth_user WHERE password_changed_at < now() - interval '90 days'",
    "UPDATE api_key SET revoked_at = now() WHERE id = 17",
    "CREATE INDEX CONCURRENTLY token_user_idx ON authtoken_token (user_id)",
    "DELETE FROM django_session WHERE expire_date < now()",
    "ALTER TABLE account ADD COLUMN password_hint text",
    "INSERT INTO orders (id, total) VALUES (18, 12.50)",
    "SELECT count(*) FROM secret_santa GROUP BY group_id",
    "GRANT SELECT ON orders TO reporting",
    "VACUUM (ANALYZE) public.orders",
    "SELECT key, value FROM settings WHERE key LIKE 'mail.%'",
]
CODE = [
    "def check(password: str) -> bool:\n    return len(password) >= 12\n",
    "token = request.headers.get('Authorization')\nif not token:\n    raise PermissionDenied\n",
    "const apiKey = process.env.API_KEY;\n",
    "password = getpass.getpass('Password: ')\n",
    "secret = os.environ['APP_SECRET']\n",
    "String token = tokenProvider.createToken(user, roles);\n",
    "self.session = requests.Session()\nself.key = key\n",
    "if (user.password !== form.password) { throw new Error('mismatch'); }\n",
    "SECRET_KEY = env('SECRET_KEY')\n",
    "for key, value in sorted(mapping.items()):\n    print(key, value)\n",
]
COMMANDS = [
    "pg_dump --no-password -h db01 shop > shop.sql",
    "ssh -i ~/.ssh/id_ed25519 deploy@web01 uptime",
    "curl -fsS https://example.com/health -o /dev/null",
    "docker login --password-stdin registry.example.com",
    "kubectl get secret mail -o name",
    "openssl genrsa -out key.pem 4096",
    "aws s3 cp report.csv s3://acme-exports/2024/ --profile prod",
    "git push origin HEAD:refs/heads/release-7",
    "mysql --user=app --password shop < in.sql",
    "vault kv get -field=password kv/shop/smtp",
]
ERRORS = [
    'password authentication failed for user "app"',
    "Invalid token: expired 2 hours ago",
    "KeyError: 'api_key'",
    "401 Unauthorized: missing Authorization header",
    "jwt.exceptions.ExpiredSignatureError: Signature has expired",
    "403 Forbidden (CSRF token missing)",
    "ssl.SSLError: private key does not match certificate",
    "AccessDenied: User is not authorized to perform s3:GetObject",
    "InvalidCredentials: user name or password is wrong",
    "botocore.exceptions.NoCredentialsError: Unable to locate credentials",
]


def _log(draw: Draw, number: int) -> str:
    return (
        f"2024-05-02 08:0{number}:01,{draw.randint(100, 999)} INFO shop.worker [{draw.uuid()}] finished order {draw.randint(1, 9999)}"
        f' in {draw.random():.3f}s\n10.0.0.{number} - - [02/May/2024:08:00:01 +0000] "GET /login HTTP/1.1" 200 {draw.randint(1, 9999)}\n'
    )


def _stack(draw: Draw, number: int) -> str:
    return (
        'Traceback (most recent call last):\n  File "/app/shop/auth/tokens.py", line 42, in check_token\n'
        f"    user = cache[key]\n           ~~~~~^^^^^\nKeyError: 'user:{draw.randint(1, 999)}:{WORDS[number]}'\n"
    )


KINDS: Kinds = {
    "sql": lambda d, n: {"statement": SQL[n], "timeout": 30},
    "source-code": lambda d, n: {"snippet": CODE[n], "language": "text"},
    "commands": lambda d, n: {"command": COMMANDS[n], "cwd": "/srv"},
    "error-messages": lambda d, n: {"error": ERRORS[n], "attempt": n},
    "log-lines": lambda d, n: {"lines": _log(d, n).splitlines()},
    "stack-traces": lambda d, n: {"traceback": _stack(d, n), "retries": n},
    "java-stack": lambda d, n: {"stack": f"java.lang.NullPointerException\n\tat com.example.auth.TokenFilter.doFilter(TokenFilter.java:{d.randint(1, 400)})\n\tat org.apache.catalina.core.ApplicationFilterChain.internalDoFilter(ApplicationFilterChain.java:181)\n"},
    "minified-js": lambda d, n: {"js": f"!function(e,t){{var n={{}};function r(o){{if(n[o])return n[o].exports;var i=n[o]={{i:o,l:!1}};return e[o].call(i),i.key}}r({n})}}([]);"},
    "css": lambda d, n: {"css": f".btn-{d.chars('l', 5)}{{background:#{d.chars('h', 6)};transform:translate3d(0,-{n}px,0)}}.password-field{{border:1px}}"},
    "regex": lambda d, n: {"pattern": [r"^[A-Za-z0-9_-]{43}$", r"(?i)password\s*[:=]\s*(\S+)", r"\bAKIA[0-9A-Z]{16}\b", r"^\d{4}-\d{2}$", r"[^@\s]+@[^@\s]+", r"^(?=.*\d).{8,}$", r"\s+", r"token=([^&]+)", r"^ghp_\w{36}$", r"[\u4e00-\u9fff]+"][n]},
    "diff": lambda d, n: {"patch": f"--- a/shop/views.py\n+++ b/shop/views.py\n@@ -{n},3 +{n},3 @@\n-    password = form['password']\n+    password = form.cleaned_data['password']\nindex {d.chars('h', 7)}..{d.chars('h', 7)} 100644\n"},
    "hexdump": lambda d, n: {"dump": "\n".join(f"{i * 16:08x}  " + " ".join(d.chars("h", 2) for _ in range(16)) for i in range(3))},
    "http-headers": lambda d, n: {"headers": {"Content-Type": "application/json", "X-Request-Id": d.uuid(), "CF-Ray": d.fill("[h16]-FRA"), "Via": "1.1 varnish", "Server-Timing": f"db;dur={n}"}},
    "openapi": lambda d, n: {"security_schemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}, "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"}}, "version": f"3.1.{n}"},
    "json-schema": lambda d, n: {"schema": {"type": "object", "required": ["password"], "properties": {"password": {"type": "string", "minLength": 8 + n}, "token": {"type": "string", "format": "uuid"}}}},
}  # fmt: skip


def payloads() -> Iterator[tuple[str, object]]:
    """Ten payloads of each kind."""
    return payloads_of(KINDS)
