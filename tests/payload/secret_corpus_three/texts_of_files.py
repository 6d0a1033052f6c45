# A sample is easier to read on one line.
# ruff: noqa: E501
"""Secrets in the texts of configuration files, known by the words around them.

Each file's own documentation: .netrc (curl), .npmrc, .pypirc, pip.conf, Docker's config.json, kubeconfig, Kubernetes
Secret, Terraform, Ansible, Maven settings.xml, NuGet.Config, web.config, wp-config.php, Rails, Laravel, Spring,
PgBouncer, .pgpass, my.cnf, AWS credentials, boto, rclone, WireGuard, wpa_supplicant, Git credentials, htpasswd.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator

from tests.payload.secret_corpus_three.draw import Draw

PASSWORD: Callable[[Draw], str] = lambda d: d.password()  # noqa: E731
OPAQUE: Callable[[Draw], str] = lambda d: d.opaque()  # noqa: E731


def _of(alphabet: str, length: int) -> Callable[[Draw], str]:
    return lambda draw: draw.chars(alphabet, length)


def _login(draw: Draw) -> str:
    return base64.b64encode(f"ci-bot:{draw.fill('[a24]')}".encode()).decode()


def _encoded(draw: Draw) -> str:
    return base64.b64encode(draw.fill("[a30]").encode()).decode()


XML_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
AWS_FILE = "[default]\naws_access_key_id = AKIA[s16]\naws_secret_access_key = SECRET\nregion = eu-central-1\n"
FILES: dict[str, tuple[Callable[[Draw], str], str]] = {
    "netrc": (PASSWORD, "machine api.example.com\n  login deploy\n  password SECRET\n"),
    "netrc-one-line": (OPAQUE, "machine git.example.com login dana password SECRET\n"),
    "npmrc": (
        _of("w", 36),
        "registry=https://npm.example.com/\n//npm.example.com/:_authToken=SECRET\nalways-auth=true\n",
    ),
    "npmrc-basic": (_login, "//npm.example.com/:_auth=SECRET\nemail=ci@example.com\n"),
    "pypirc": (
        PASSWORD,
        "[distutils]\nindex-servers = internal\n\n[internal]\nrepository = https://pypi.example.com\nusername = ci\npassword = SECRET\n",
    ),
    "pip-conf": (_of("a", 28), "[global]\nindex-url = https://ci:SECRET@pypi.example.com/simple\n"),
    "docker-config": (_login, '{"auths": {"registry.example.com": {"auth": "SECRET"}}}'),
    "docker-compose": (
        PASSWORD,
        "services:\n  db:\n    image: postgres:16\n    environment:\n      POSTGRES_USER: shop\n      POSTGRES_PASSWORD: SECRET\n    ports: ['5432:5432']\n",
    ),
    "dockerfile-env": (
        OPAQUE,
        'FROM python:3.12-slim\nENV API_TOKEN=SECRET\nCOPY . /app\nCMD ["python", "-m", "app"]\n',
    ),
    "kubeconfig-token": (
        _of("w", 48),
        "apiVersion: v1\nkind: Config\nusers:\n- name: admin\n  user:\n    token: SECRET\ncurrent-context: prod\n",
    ),
    "kubeconfig-client-key": (lambda d: d.base64(300), "users:\n- name: admin\n  user:\n    client-key-data: SECRET\n"),
    "kubernetes-secret": (
        _encoded,
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: mail\ntype: Opaque\ndata:\n  password: SECRET\n",
    ),
    "helm-values": (
        PASSWORD,
        "replicaCount: 2\npostgresql:\n  auth:\n    username: shop\n    password: SECRET\nresources: {}\n",
    ),
    "terraform": (
        PASSWORD,
        'resource "aws_db_instance" "main" {\n  engine   = "postgres"\n  username = "shop"\n  password = "SECRET"\n}\n',
    ),
    "terraform-tfvars": (OPAQUE, 'region = "eu-central-1"\ndatadog_api_key = "SECRET"\n'),
    "ansible-vars": (PASSWORD, "---\nansible_user: deploy\nansible_become_pass: SECRET\nntp: pool.ntp.org\n"),
    "maven-settings": (
        PASSWORD,
        "<settings>\n  <servers>\n    <server><id>nexus</id><username>ci</username><password>SECRET</password></server>\n  </servers>\n</settings>\n",
    ),
    "nuget-config": (
        PASSWORD,
        XML_HEAD
        + '<configuration><packageSourceCredentials><feed><add key="Username" value="ci" /><add key="ClearTextPassword" value="SECRET" /></feed></packageSourceCredentials></configuration>',
    ),
    "web-config": (
        PASSWORD,
        XML_HEAD
        + '<configuration><connectionStrings><add name="Db" connectionString="Server=sql01;Database=crm;User Id=app;Password=SECRET;" /></connectionStrings></configuration>',
    ),
    "machine-key": (_of("H", 64), '<machineKey validation="HMACSHA256" decryption="AES" validationKey="SECRET" />'),
    "wp-config": (
        PASSWORD,
        "<?php\ndefine( 'DB_NAME', 'blog' );\ndefine( 'DB_USER', 'wp' );\ndefine( 'DB_PASSWORD', 'SECRET' );\ndefine( 'DB_HOST', 'localhost' );\n",
    ),
    "laravel-env": (
        lambda d: "base64:" + d.base64(32),
        "APP_NAME=Shop\nAPP_ENV=production\nAPP_KEY=SECRET\nAPP_DEBUG=false\n",
    ),
    "rails-secrets": (_of("h", 128), "production:\n  secret_key_base: SECRET\n"),
    "django-settings": (_of("a", 50), 'DEBUG = False\nSECRET_KEY = "%s"\nALLOWED_HOSTS = ["shop.example.com"]\n'),
    "spring-properties": (
        PASSWORD,
        "server.port=8080\nspring.datasource.username=app\nspring.datasource.password=SECRET\n",
    ),
    "spring-yaml": (
        PASSWORD,
        "spring:\n  datasource:\n    url: jdbc:postgresql://db/shop\n    username: app\n    password: SECRET\n",
    ),
    "ini": (PASSWORD, "[mail]\nhost = smtp.example.com\nuser = robot\npass = SECRET\n"),
    "toml": (OPAQUE, '[service]\nurl = "https://api.example.com"\napi_key = "SECRET"\n'),
    "dotenv": (OPAQUE, "NODE_ENV=production\nPORT=3000\nJWT_SECRET=%s\n"),
    "dotenv-quoted": (PASSWORD, "# mail\nSMTP_HOST='smtp.example.com'\nSMTP_PASS='SECRET'\n"),
    "yaml-anchor": (OPAQUE, "defaults: &d\n  timeout: 5\n  access_token: SECRET\nprod:\n  <<: *d\n"),
    "pgpass": (PASSWORD, "db.example.com:5432:shop:app:SECRET\n"),
    "my-cnf": (PASSWORD, "[client]\nuser=backup\npassword=SECRET\nhost=mysql01\n"),
    "aws-credentials": (lambda d: d.base64(30), AWS_FILE),
    "boto": (_of("a", 40), "[Credentials]\ngs_access_key_id = GOOGSYNTHETIC\ngs_secret_access_key = SECRET\n"),
    "rclone": (_of("w", 44), "[offsite]\ntype = b2\naccount = 0012ab34cd56\nkey = SECRET\nhard_delete = true\n"),
    "wireguard": (
        lambda d: d.base64(32),
        "[Interface]\nPrivateKey = SECRET\nAddress = 10.8.0.2/24\n\n[Peer]\nEndpoint = vpn.example.com:51820\n",
    ),
    "wpa-supplicant": (PASSWORD, 'network={\n  ssid="Office"\n  psk="SECRET"\n}\n'),
    "git-credentials": (_of("a", 32), "https://dana:SECRET@git.example.com\n"),
    "github-actions-env": (
        OPAQUE,
        "jobs:\n  test:\n    runs-on: ubuntu-latest\n    env:\n      SENTRY_AUTH_TOKEN: SECRET\n",
    ),
    "java-source": (
        PASSWORD,
        'Connection c = DriverManager.getConnection(url, "app", "x");\nString dbPassword = "SECRET";\n',
    ),
    "js-object": (OPAQUE, "const client = new Client({\n  host: 'api.example.com',\n  apiKey: 'SECRET',\n});\n"),
    "python-call": (PASSWORD, 'smtp.login(user="robot@example.com", password="SECRET")\n'),
    "csv-of-users": (PASSWORD, "username,email,password\ndana,dana@example.com,SECRET\n"),
    "ldif": (PASSWORD, "dn: uid=dana,ou=people,dc=example,dc=com\nuid: dana\nuserPassword: SECRET\n"),
    "sql-create-user": (PASSWORD, "CREATE ROLE app LOGIN PASSWORD 'SECRET';\nGRANT SELECT ON orders TO app;\n"),
    "sql-mysql-user": (PASSWORD, "CREATE USER 'app'@'%' IDENTIFIED BY 'SECRET';\n"),
}


def _placed(draw: Draw, name: str, text: str) -> object:
    options: list[object] = [
        {"path": f"/srv/{name}", "content": text},
        {"upload": {"name": name, "text": text, "mode": "0600"}},
        {"body": json.dumps({"file": name, "content": text})},
        {"message": f"This is the file on the server:\n\n{text}\nDoes it look right?"},
        ["write", name, text],
    ]
    return draw.choice(options)


def secrets() -> Iterator[tuple[str, object, str]]:
    """Three payloads for each kind of file."""
    for name, (value, template) in FILES.items():
        title = f"text/{name}"
        draw = Draw(title)
        for _ in range(3):
            secret = value(draw)
            mark = "%s" if "%s" in template else "SECRET"  # where a name is itself SECRET
            text = draw.fill(template).replace(mark, secret)
            yield title, _placed(draw, name, text), secret
