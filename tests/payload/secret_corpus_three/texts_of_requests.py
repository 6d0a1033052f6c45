"""Secrets in commands, headers, bodies, logs and messages, known by the words around them.

RFC 7617 (Basic), RFC 6750 (Bearer), RFC 6265 (cookies), RFC 6749 (OAuth bodies), WS-Security's UsernameToken, and the
manual pages of the commands. gitleaks curl-auth-header and curl-auth-user; detect-secrets BasicAuthDetector; Nosey
Parker http, netrc, psexec.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator

from tests.payload.secret_corpus_three.draw import Draw
from tests.payload.secret_corpus_three.texts_of_files import OPAQUE, PASSWORD


def _of(alphabet: str, length: int) -> Callable[[Draw], str]:
    return lambda draw: draw.chars(alphabet, length)


def _basic(draw: Draw) -> str:
    return base64.b64encode(f"{draw.fill('[c6]')}:{draw.password()}".encode()).decode()


SOAP = (
    '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Header><wsse:Security>'
    "<wsse:UsernameToken><wsse:Username>erp</wsse:Username><wsse:Password>SECRET</wsse:Password></wsse:UsernameToken>"
    "</wsse:Security></soapenv:Header><soapenv:Body/></soapenv:Envelope>"
)
TEXTS: dict[str, tuple[Callable[[Draw], str], str]] = {
    "authorization-basic": (
        _basic,
        "GET /v1/orders HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: Basic SECRET\r\n\r\n",
    ),
    "authorization-bearer": (
        OPAQUE,
        "POST /graphql HTTP/1.1\nHost: api.example.com\nAuthorization: Bearer SECRET\nContent-Length: 2\n",
    ),
    "authorization-token": (_of("h", 40), "Authorization: Token SECRET"),
    "authorization-ssws": (_of("w", 40), "curl -H 'Authorization: SSWS 00SECRET' https://acme.okta.com/api/v1/users"),
    "proxy-authorization": (_basic, "CONNECT pay.example.com:443 HTTP/1.1\nProxy-Authorization: Basic SECRET\n"),
    "api-key-header": (OPAQUE, "curl https://api.example.com/items -H 'X-API-Key: SECRET' -H 'Accept: text/csv'"),
    "private-token-header": (
        _of("w", 26),
        'curl --header "PRIVATE-TOKEN: SECRET" https://git.example.com/api/v4/projects',
    ),
    "cookie-header": (_of("l", 32), "Cookie: lang=de; sessionid=SECRET; theme=dark"),
    "set-cookie": (_of("w", 44), "HTTP/1.1 200 OK\nSet-Cookie: session=SECRET; Path=/; HttpOnly; SameSite=Lax\n"),
    "cookie-phpsessid": (_of("l", 26), "curl -b 'PHPSESSID=SECRET' https://shop.example.com/admin"),
    "cookie-jsessionid": (_of("H", 32), "Cookie: JSESSIONID=SECRET"),
    "cookie-gitlab-session": (_of("h", 32), "Cookie: _gitlab_session=SECRET"),
    "curl-user": (PASSWORD, "curl -s -u reports:SECRET https://intranet.example.com/daily.csv -o daily.csv"),
    "curl-user-long": (PASSWORD, "curl --user 'dana:SECRET' -T dump.sql ftp://backup.example.com/"),
    "wget-password": (PASSWORD, "wget --user=dana --password=SECRET https://files.example.com/a.zip"),
    "option-password": (PASSWORD, "importer --host erp01 --user batch --password SECRET --since 2024-05-01"),
    "option-password-equals": (PASSWORD, "restic-like backup --password=SECRET /srv"),
    "option-token": (OPAQUE, "deployctl release --env prod --token SECRET --wait"),
    "option-api-key": (OPAQUE, "uploader push build.zip --api-key=SECRET"),
    "mysql-p": (PASSWORD, "mysqldump -h mysql01 -u root -pSECRET shop > shop.sql"),
    "pgpassword": (PASSWORD, "PGPASSWORD=SECRET psql -h db.example.com -U app -d shop -c 'select 1'"),
    "mysql-pwd": (PASSWORD, "MYSQL_PWD=SECRET mysql -u app shop"),
    "redis-cli": (PASSWORD, "redis-cli -h cache01 -a SECRET PING"),
    "sshpass": (PASSWORD, "sshpass -p 'SECRET' ssh deploy@web01 uptime"),
    "docker-login": (PASSWORD, "docker login registry.example.com -u ci -p SECRET"),
    "echo-docker-login": (OPAQUE, "echo 'SECRET' | docker login --username ci --password-stdin registry.example.com"),
    "openssl-pass": (PASSWORD, "openssl pkcs12 -in cert.p12 -out cert.pem -passin pass:SECRET -nodes"),
    "ldapsearch": (PASSWORD, "ldapsearch -H ldaps://ldap.example.com -D cn=svc,dc=example,dc=com -w SECRET uid=dana"),
    "net-use": (PASSWORD, r"net use Z: \\files01\share /user:ACME\dana SECRET"),
    "export": (OPAQUE, "export STRIPE_API_KEY=SECRET\nmake release"),
    "set-windows": (PASSWORD, "set DB_PASSWORD=SECRET\r\ncall migrate.bat"),
    "powershell": (PASSWORD, "$cred = ConvertTo-SecureString 'SECRET' -AsPlainText -Force"),
    "query-access-token": (OPAQUE, "https://graph.example.com/me?fields=id,name&access_token=SECRET"),
    "query-api-key": (_of("h", 32), "https://api.weather.example.com/now?q=Berlin&appid=7&api_key=SECRET"),
    "query-signature": (_of("h", 64), "https://cdn.example.com/f/12.pdf?expires=1717000000&sig=SECRET"),
    "form-password-grant": (PASSWORD, "grant_type=password&username=dana&password=SECRET&scope=read"),
    "form-client-credentials": (OPAQUE, "grant_type=client_credentials&client_id=shop&client_secret=SECRET"),
    "form-refresh": (_of("w", 60), "grant_type=refresh_token&client_id=shop&refresh_token=SECRET"),
    "form-login": (PASSWORD, "csrfmiddlewaretoken=&username=dana&password=SECRET&next=/"),
    "soap-username-token": (PASSWORD, SOAP),
    "xml-element": (OPAQUE, "<config><host>api.example.com</host><apiKey>SECRET</apiKey></config>"),
    "xml-attribute": (PASSWORD, '<datasource url="jdbc:h2:mem:t" user="sa" password="SECRET"/>'),
    "graphql-variables": (
        PASSWORD,
        '{"query": "mutation L($p: String!) { login(password: $p) { id } }", "variables": {"password": "SECRET"}}',
    ),
    "repr-in-a-log": (PASSWORD, "DEBUG login called with {'username': 'dana', 'password': 'SECRET', 'remember': True}"),
    "log-token": (_of("h", 40), "2024-05-02 08:00:01 WARN retry 3: upstream refused, token=SECRET status=401"),
    "log-secret-colon": (lambda d: d.base64(36), "INFO webhook registered, signing secret: SECRET"),
    "traceback-kwargs": (
        OPAQUE,
        'TypeError: connect() got an unexpected keyword\n  connect(host="api", api_secret="SECRET")',
    ),
    "mail-new-password": (
        PASSWORD,
        "Dear Dana,\n\nyour new password is: SECRET\n\nPlease change it after the first login.",
    ),
    "mail-german": (PASSWORD, "Guten Tag,\n\nIhre Zugangsdaten:\nBenutzer: dana\nPasswort: SECRET\n\nViele Grüße"),
    "mail-french": (PASSWORD, "Bonjour,\n\nidentifiant : dana\nmot de passe : SECRET\n\nCordialement"),
    "chat-password": (PASSWORD, "wifi for the guests: Office-Guest / password: SECRET"),
    "chat-api-key": (_of("a", 40), "here is the api key for staging: SECRET (don't lose it)"),
    "debatable:sms-code": (_of("d", 6), "Your verification code is SECRET. It expires in 10 minutes."),
    "high-entropy-hex": (_of("h", 64), "the encryption key of the archive is SECRET"),
    "high-entropy-base64": (lambda d: d.base64(32), "HMAC secret (base64): SECRET"),
    "markdown-table": (PASSWORD, "| system | user | password |\n|---|---|---|\n| erp | batch | SECRET |\n"),
    "url-in-markdown": (_of("a", 24), "See [the feed](https://feeds.example.com/rss?user=dana&token=SECRET)."),
    "ftp-session": (PASSWORD, "220 ready\nUSER upload\n331 need password\nPASS SECRET\n230 logged in\n"),
    "smtp-auth-plain": (
        lambda d: base64.b64encode(f"\0robot\0{d.password()}".encode()).decode(),
        "250 OK\nAUTH PLAIN SECRET\n235 ok\n",
    ),
}


def _placed(draw: Draw, text: str) -> object:
    options: list[object] = [
        {"text": text},
        {"job": draw.randint(1, 999), "command": text},
        {"body": json.dumps({"n": 1, "content": text})},
        {"event": {"source": "web", "lines": ["start", text, "end"]}},
        ["run", text, {"timeout": 60}],
        {"recipient": "dana@example.com", "message": text},
    ]
    return draw.choice(options)


def secrets() -> Iterator[tuple[str, object, str]]:
    """Three payloads for each kind of text."""
    for name, (value, template) in TEXTS.items():
        debatable = "debatable:" if name.startswith("debatable:") else ""
        title = f"{debatable}text/{name.removeprefix('debatable:')}"
        draw = Draw(title)
        for _ in range(3):
            secret = value(draw)
            yield title, _placed(draw, template.replace("SECRET", secret)), secret
