# A list of words is easier to read as a text.
# ruff: noqa: SIM905
"""Private keys, signed and encrypted tokens, and other secrets with a shape of their own.

PEM after RFC 7468, 5208, 5915; OpenSSH's PROTOCOL.key; RFC 9580 armour; PuTTY's appendix on PPK; RFC 7515 to 7519
(JWS, JWE, JWK, JWT); the PASETO v4 and PASERK specifications; age's README; Google's service account files;
Django's startproject; otpauth URIs after Google Authenticator's key URI format; NIP-19 (nsec). Also known to gitleaks
(private-key, jwt, age-secret-key), detect-secrets (PrivateKeyDetector) and Nosey Parker (pem, django, age).
"""

from __future__ import annotations

import base64
import json
import textwrap
from collections.abc import Callable, Iterator

from tests.payload.secret_corpus_three.draw import Draw
from tests.payload.secret_corpus_three.frames import framed, framed_block

Block = tuple[str, str]  # the whole text, and a line of it that must not be stored


def _armour(label: str, body: str, width: int = 64, headers: str = "") -> Block:
    lines = textwrap.wrap(body, width)
    dashes = "-" * 5
    text = f"{dashes}BEGIN {label}{dashes}\n{headers}" + "\n".join(lines) + f"\n{dashes}END {label}{dashes}\n"
    return text, lines[len(lines) // 2 - 1] if len(lines) > 2 else lines[0]


def _pem(label: str, head: bytes, size: int, headers: str = "") -> Callable[[Draw], Block]:
    def drawn(draw: Draw) -> Block:
        return _armour(label, base64.b64encode(head + draw.randbytes(size)).decode(), headers=headers)

    return drawn


def _putty(draw: Draw) -> Block:
    public, private = textwrap.wrap(draw.base64(279), 64), textwrap.wrap(draw.base64(640), 64)
    text = "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: deploy\n"
    text += f"Public-Lines: {len(public)}\n" + "\n".join(public)
    text += f"\nPrivate-Lines: {len(private)}\n" + "\n".join(private) + draw.fill("\nPrivate-MAC: [h64]\n")
    return text, private[0]


RSA = bytes.fromhex("308204a40201000282010100")
PKCS8_RSA = bytes.fromhex("308204bd020100300d06092a864886f70d0101010500048204a7")
PKCS8_ED25519 = bytes.fromhex("302e020100300506032b657004220420")
EC_P256 = bytes.fromhex("30770201010420")
OPENSSH = b"openssh-key-v1\0\0\0\0\4none\0\0\0\4none\0\0\0\0\0\0\0\1\0\0\0\x33\0\0\0\x0bssh-ed25519\0\0\0\x20"
PRIVATE = "PRIVATE KEY"
BLOCKS: dict[str, Callable[[Draw], Block]] = {
    "pem-rsa": _pem(f"RSA {PRIVATE}", RSA, 1180),
    "pem-pkcs8-rsa": _pem(PRIVATE, PKCS8_RSA, 1191),
    "pem-pkcs8-ed25519": _pem(PRIVATE, PKCS8_ED25519, 32),
    "pem-ec": _pem(f"EC {PRIVATE}", EC_P256, 114),
    "pem-dsa": _pem(f"DSA {PRIVATE}", bytes.fromhex("308201bb020100"), 440),
    "pem-encrypted-pkcs8": _pem(f"ENCRYPTED {PRIVATE}", bytes.fromhex("308205"), 1300),
    "pem-rsa-encrypted": _pem(
        f"RSA {PRIVATE}", b"", 1192, "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,3F17F5316E2BAC89\n\n"
    ),
    "openssh": lambda d: _armour(f"OPENSSH {PRIVATE}", base64.b64encode(OPENSSH + d.randbytes(170)).decode(), 70),
    "pgp": lambda d: _armour(f"PGP {PRIVATE} BLOCK", d.base64(900), headers="Version: GnuPG v2\n\n"),
    "putty-ppk": _putty,
}


def _part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")


def _jwt(algorithm: str, size: int) -> Callable[[Draw], str]:
    def drawn(draw: Draw) -> str:
        claims = {
            "sub": draw.fill("[d8]"),
            "iss": "https://id.example.com/",
            "exp": draw.randint(17 * 10**8, 18 * 10**8),
        }
        return f"{_part({'alg': algorithm, 'typ': 'JWT'})}.{_part(claims)}.{draw.base64url(size)}"

    return drawn


def _jwe(draw: Draw) -> str:
    head = _part({"alg": "RSA-OAEP-256", "enc": "A256GCM"})
    return ".".join([head, *(draw.base64url(size) for size in (256, 12, 90, 16))])


def _totp(draw: Draw) -> str:
    return draw.fill("otpauth://totp/Example:dana@example.com?secret=[s32]&issuer=Example")


TOKENS: dict[str, Callable[[Draw], str]] = {
    "jwt-hs256": _jwt("HS256", 32),
    "jwt-rs256": _jwt("RS256", 256),
    "jwt-es256": _jwt("ES256", 64),
    "jwe-compact": _jwe,
    "paseto-v4-local": lambda d: "v4.local." + d.base64url(170),
    "paseto-v4-public": lambda d: "v4.public." + d.base64url(190),
    "paserk-secret": lambda d: "k4.secret." + d.base64url(64),
    "age-identity": lambda d: "AGE-SECRET-KEY-1" + d.chars("z", 58).upper(),
    "nostr-nsec": lambda d: "nsec1" + d.chars("z", 58),
    "django-insecure-key": lambda d: (
        "django-insecure-" + "".join(d.choices("abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)", k=50))
    ),
    "totp-uri": _totp,
}


def _service_account(draw: Draw) -> tuple[object, str]:
    key, line = BLOCKS["pem-pkcs8-rsa"](draw)
    account = {
        "type": "service_account",
        "project_id": "acme-prod",
        "private_key_id": draw.chars("h", 40),
        "private_key": key,
        "client_email": "worker@acme-prod.iam.gserviceaccount.com",
        "client_id": draw.chars("d", 21),
        "token_uri": "https://oauth2.googleapis.com/token",
    }
    return {"bucket": "exports", "account": account if draw.random() < 0.5 else json.dumps(account)}, line


def _jwk(draw: Draw) -> tuple[object, str]:
    secret = draw.base64url(32)
    key = {"kty": "EC", "crv": "P-256", "x": draw.base64url(32), "y": draw.base64url(32), "d": secret, "kid": "2024-05"}
    return {"keys": [key]}, secret


def _pem_in_base64(draw: Draw) -> tuple[object, str]:
    text = base64.b64encode(BLOCKS["pem-rsa"](draw)[0].encode()).decode()
    return {"name": "ci", "data": text}, text


BIP39 = (
    "abandon amused ankle apple arrow autumn badge banana bicycle cabbage canyon cargo coconut dolphin eagle fabric "
    "galaxy hammer island jungle kitten ladder magnet noodle orange puzzle rabbit saddle ticket umbrella walnut zebra"
).split()


def _mnemonic(draw: Draw) -> tuple[object, str]:
    phrase = " ".join(draw.choices(BIP39, k=12))
    return {"wallet": {"label": "ops", "seed_phrase": phrase}}, phrase


PAYLOADS: dict[str, Callable[[Draw], tuple[object, str]]] = {
    "google-service-account-file": _service_account,
    "jwk-private": _jwk,
    "pem-in-base64": _pem_in_base64,
    "wallet-seed-phrase": _mnemonic,
}


def secrets() -> Iterator[tuple[str, object, str]]:
    """Two payloads for each kind of key."""
    for name in (*BLOCKS, *TOKENS, *PAYLOADS):
        title = f"key/{name}"
        draw = Draw(title)
        for _ in range(2):
            if name in BLOCKS:
                block, line = BLOCKS[name](draw)
                yield title, framed_block(draw, block), line
            elif name in TOKENS:
                token = TOKENS[name](draw)
                yield title, framed(draw, token), token
            else:
                yield title, *PAYLOADS[name](draw)
