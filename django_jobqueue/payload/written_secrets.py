"""Secrets that stand where a command, an element, a call or a sentence keeps them: `<password>…`, `-p…`, `define(…)`.

`assignments` reads what a sign assigns. Here is what needs to know how the place is built. Each expression is bounded
in every part, so that a text costs its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from django_jobqueue.payload.random_words import is_random
from django_jobqueue.payload.secret_names import kind_of
from django_jobqueue.payload.secret_reference import KEY, is_reference
from django_jobqueue.payload.secret_values import is_made, is_secret
from django_jobqueue.payload.secret_words import Kind

_Q = r"\\{0,3}[\"']"
_NAME = r"([A-Za-z_\w][\w.:-]{1,60})"
_STRING = r"([^\"'\n\\•]{4,500})"
_TEXT = r"([^\"'<>\n\\•]{4,500})"

# A name and its value, in the first two groups.
_NAMED = (
    re.compile(
        r"<(?:[\w.-]{1,30}:)?([A-Za-z_][\w.-]{1,60})(?:\s[^<>]{0,300})?>(?:<!\[CDATA\[)?([^<>•\[\]]{4,2000})(?=</|\]\]>)"
    ),
    re.compile(r"&lt;(?:[\w.-]{1,30}:)?([A-Za-z_][\w.-]{1,60})(?:\s[^<>&]{0,300})?&gt;([^<>•&]{4,2000})(?=&lt;/)"),
    re.compile(rf"\b(?:key|name|id|field|property|header)={_Q}{_NAME}{_Q}[^<>]{{0,80}}>([^<>•]{{4,500}})</"),
    re.compile(
        rf"\b(?i:name|key|id|field|property|header)(?:{_Q})?\s{{0,3}}[=:]\s{{0,3}}(?:{_Q})?{_NAME}(?:{_Q})?"
        rf"(?:[\s,/]|\\[nrt]){{1,40}}(?:{_Q})?(?i:value|content|val)(?:{_Q})?\s{{0,3}}[=:]\s{{0,3}}(?:{_Q})?{_TEXT}"
    ),
)
# The same, where code stands that may be about anything: plain words are names of other things.
_CALLED = (
    re.compile(rf"\(\s{{0,3}}{_Q}{_NAME}{_Q}\s{{0,3}},\s{{0,3}}{_Q}{_STRING}{_Q}"),
    # A reference is the name of a secret, and no secret.
    re.compile(rf"\b(?!Secret\(){_NAME}\(\s{{0,3}}{_Q}{_STRING}{_Q}\s{{0,3}}\)"),
    re.compile(rf"\b(?:set|config|ENV|ARG|setenv)\s{{1,3}}{_NAME}\s{{1,3}}(?:{_Q})?([^\s\"'•=]{{4,500}})"),
)

# A line of two words: `requirepass …`.
_DIRECTIVE = re.compile(
    r"(?:^|\n|\\n)[ \t]{0,20}([A-Za-z_-]{2,40})[ \t]{1,8}[\"']?(?=[^\s\d]{0,200}\d)([^\s\"'•\\]{4,200})[\"']?"
    r"[ \t]{0,3}(?=$|\r|\n|\\)"
)
_VALUE = r"[\"']?([^\s\"'•|;&-][^\s\"'•|;&]{3,200})"
_REST = r"\b[^\n|;&•]{0,200}?\s"
# What a text must have for the expression to be worth trying, in lower case; and the expression. Its last group counts.
_COMMANDS = tuple(
    (hints.split("|"), re.compile(pattern))
    for hints, pattern in (
        # curl --user name:password
        (" -u|-user", r"(?:\s-[uU]|--(?:proxy-)?user)(?:\s{1,3}|=)[\"']?[A-Za-z][^\s:\"'•]{0,100}:([^\s\"'•]{4,200})"),
        ("mysql|maria|xtrabackup", rf"\b(?:mysql\w{{0,10}}|mariadb(?:-dump)?|xtrabackup){_REST}-p{_VALUE}"),
        ("mysqladmin", rf"\bmysqladmin{_REST}password\s{{1,3}}{_VALUE}"),
        ("http -a|https -a", r"\bhttps?\s-a\s{1,3}[\"']?[A-Za-z][^\s:\"'•]{0,100}:([^\s\"'•]{4,200})"),
        (
            "cred|login|zugangsdaten",
            r"(?i)\b(?:creds?|credentials|login|zugangsdaten)\s?:\s{1,3}[\w.@-]{2,60}\s{0,2}[/|:]\s{0,2}([^\s\"'•/]{6,200})",
        ),
        (
            "phrase|mnemonic|seed",
            r"(?i)\b(?:seed|recovery|secret|backup|mnemonic)(?: phrase| words)?\s{0,2}[:=]\s{0,3}[\"']?"
            r"((?:[a-z]{3,8} {1,2}){11,23}[a-z]{3,8})\b",
        ),
        ("7z|rar ", rf"\b(?:7za?|rar|unrar){_REST}-p{_VALUE}"),
        (
            "sshpass|login|psexec|mongo|cqlsh",
            rf"\b(?:sshpass|login|psexec|mongo|mongosh|mongodump|mongorestore|cqlsh){_REST}-p\s{{0,3}}{_VALUE}",
        ),
        ("sqlcmd|bcp|sql |zip", rf"\b(?:sqlcmd|bcp|osql|isql|zip|unzip){_REST}-P\s{{0,3}}{_VALUE}"),
        ("ldap", rf"\bldap[a-z]{{3,8}}{_REST}-[wsa]\s{{0,3}}{_VALUE}"),
        ("redis-cli", rf"\bredis-cli{_REST}-a\s{{1,3}}{_VALUE}"),
        ("ssh-keygen", rf"\bssh-keygen{_REST}-[NP]\s{{1,3}}{_VALUE}"),
        (
            "htpasswd",
            rf"\bhtpasswd\s{{1,3}}-\w{{0,4}}b\w{{0,4}}(?:\s{{1,3}}[^\s•]{{1,100}}){{1,2}}\s{{1,3}}{_VALUE}",
        ),
        ("net use", r"\bnet\s{1,3}use\b[^\n•]{0,200}?/user:[^\s•]{1,100}\s{1,3}([^\s/•][^\s•\"']{3,200})"),
        ("net use", r"\bnet\s{1,3}use\s{1,3}[\w:*]{1,3}\s{1,3}\\\\[^\s•]{1,200}\s{1,3}([^\s/•][^\s•\"']{3,200})"),
        ("net user", r"\bnet\s{1,3}user\s{1,3}[\w.-]{1,60}\s{1,3}([^\s/*•][^\s•\"']{3,200})"),
        ("securestring", r"(?i)ConvertTo-SecureString\s{1,3}(?:-String\s{1,3})?[\"']([^\"'\n•]{4,200})[\"']"),
        ("pass:", r"-pass(?:in|out)?\s{1,3}pass:([^\s\"'•]{4,200})"),
        (" -u", r"\s-U\s{0,3}[\"']?[\w.\\/-]{1,60}%([^\s\"'•]{4,200})"),
        (
            "sqlplus|sqlldr|expdp|impdp|rman",
            r"\b(?:sqlplus|sqlldr|expdp|impdp|rman)\b[^\n•]{0,80}?\s[\w$]{1,30}/([^\s@/\"'•]{4,100})@",
        ),
        ("jdbc:oracle", r"\bjdbc:oracle:\w{2,5}:[\w$]{1,30}/([^\s@/\"'•]{4,100})@"),
        (
            "echo ",
            r"\becho\s{1,3}(?:-n\s{1,3})?[\"']?([^\s\"'|•]{4,200})[\"']?\s{0,3}\|\s{0,3}"
            r"(?:sudo\s{1,3}-\w{0,3}S|passwd|su\b|gpg\b|openssl\b|cryptsetup\b|kinit\b|[^|\n•]{0,120}-stdin\b)",
        ),
        (
            "chpasswd",
            r"\becho\s{1,3}[\"']?[\w.-]{1,32}:([^\s\"'|•]{4,200})[\"']?\s{0,3}\|\s{0,3}(?:sudo\s{1,3})?chpasswd\b",
        ),
        (" password ", r"(?i)\b(?:login|user)\s{1,5}[^\s•]{1,100}\s{1,5}password\s{1,5}([^\s•]{1,200})"),  # .netrc
        (
            "enable |username ",
            r"(?i)\b(?:enable|username\s[^\s•]{1,60})\s(?:password|secret)(?:\s\d{1,2})?\s([^\s•]{4,100})",
        ),
        # CREATE ROLE … PASSWORD '…'
        ("identified by|password ", r"(?i)\b(?:identified by|password)\s{1,3}[\"']([^\"'\s•%]{4,200})[\"']"),
        # A name and a password in a row: auth=("anna", "…")
        (
            "auth|networkcredential|usernamepassword|login(",
            r"(?:\blogin|BasicAuth|NetworkCredential|UsernamePasswordCredentials|PasswordAuthentication|[aA]uth\s?=\s?)"
            r"\(\s{0,3}[\"'][^\"'\n•]{1,100}[\"'],\s{0,3}[\"']([^\"'\n•]{4,200})[\"']",
        ),
        (
            "mysqli|pdo(|connection(|ftp_login(|ldap_bind(",
            r"(?:mysqli?(?:_connect)?|PDO|getConnection|createConnection|ftp_login|ldap_bind)"
            r"\([^()\n•]{1,200}?,\s{0,3}[\"'][^\"'\n•]{1,100}[\"'],\s{0,3}[\"']([^\"'\n•]{4,200})[\"']",
        ),
        # .pgpass
        (":5432:|:*:", r"(?m)^[\w.*-]{1,100}:(?:\d{2,5}|\*):[^:\s]{1,63}:[^:\s]{1,63}:([^\s:•]{6,100})$"),
    )
)

_CHOSEN = (
    r"password|passphrase|passcode|passwort|kennwort|mot de passe|contrase[nñ]a|senha|wachtwoord|has[lł]o|heslo|"
    r"parola|lozinka|salasana|l[oö]senord|adgangskode|passord|пароль|login code|credentials?"
)
_MADE = r"(?:[\w-]{2,20}[ -])?key|secret|token|schl[uü]ssel|jeton"
_SAID = re.compile(
    rf"(?i)\b(?:({_CHOSEN})|(?:{_MADE}))(?:\s?\([^()\n•]{{1,30}}\))?"
    r"(?:\s(?:of|for|to|on|in|at|from|with|für|von|zu|zum|zur|des|der|pour|de|du|del|para|di|do|da|dla|voor|van)"
    r"(?:\s[\w.@'-]{1,30}){1,5}?)?"
    r"(?:\stempor\w{2,6}|\sprovis\w{3,6}|\snuev[oa]|\snov[oa]|\sactuel)?(?:\s?(?:[:=\uff1a\u2014\u2013]|[-=]>)|\s(?:is|was|lautet|ist|est|es|è|é|jest|to)\b:?)\s{1,3}[\"'`“„«*]{0,3}([^\s\"'`<>•“”»]{8,200})"
)


# Languages that put no space between: `您的密码是…`, `パスワードは…`.
_GLUED = re.compile(r"(?:密码|密碼|口令|パスワード|비밀번호|暗証番号)(?:[是为為は는은]|이)\s?[「『\"']?([!-~]{8,60})")
_SETTING = ("set ", "config ", "env ", "arg ", "setenv ")
_DIGIT = re.compile(r"\d")


def written_secrets(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield where values stand that their place makes secret. lower is the text in lower case, for a first look."""
    if "<" in text or "&lt;" in text or "val" in lower or "content" in lower:
        yield from _named(_NAMED, text, is_code=False)
    if "(" in text or any(word in lower for word in _SETTING):
        yield from _named(_CALLED, text, is_code=True)
    yield from _named((_DIRECTIVE,), text, is_code=True)
    for hints, pattern in _COMMANDS:
        for hint in hints:
            if hint in lower:
                yield from _in_command(pattern, text)
                break
    if not text.isascii():
        yield from (match.span(1) for match in _GLUED.finditer(text) if _is_said(match.group(1), is_password=True))
    if " " in text and _DIGIT.search(text):
        for match in _SAID.finditer(text):
            value = match.group(2).rstrip(".,;:!?)]}*")
            if _is_said(value, is_password=match.group(1) is not None):
                yield match.start(2), match.start(2) + len(value)


def _in_command(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(text):
        value = match.group(match.lastindex or 0)
        if not _is_plain(value) and is_secret(value, Kind.PASSWORD):
            yield match.span(match.lastindex or 0)


def _named(patterns: tuple[re.Pattern[str], ...], text: str, *, is_code: bool) -> Iterator[tuple[int, int]]:
    for pattern in patterns:
        for match in pattern.finditer(text):
            kind, value = kind_of(match.group(1)), match.group(2)
            if match.group(1) == "Secret" and is_reference({KEY: value}):
                continue  # the repr of a reference, which names a secret and is none
            if kind is not None and is_secret(value, kind) and not (is_code and _is_plain(value)):
                yield match.start(2), match.start(2) + len(value.rstrip())


def _is_plain(value: str) -> bool:
    """Say whether a value is a word, a name or a number, which commands and code are full of."""
    bare = value.strip(".,;:!?").replace("_", "").replace("-", "")
    return bare.isalpha() or value.isdigit() or kind_of(value) is not None


def _is_said(value: str, *, is_password: bool) -> bool:
    has_both = re.search(r"\d", value) is not None and re.search(r"[^\W\d_]", value) is not None
    if not has_both or not is_made(value):
        return False
    return is_password or is_random(value, 16) or re.fullmatch(r"(?:0x)?(?:[0-9a-f]{2}){12,64}", value) is not None
