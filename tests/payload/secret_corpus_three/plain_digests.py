# A sample is easier to read on one line.
# ruff: noqa: E501
"""Hashes, pictures and other noise that is no secret, under names that say so."""

from __future__ import annotations

import base64
import hashlib
import struct
import zlib
from collections.abc import Iterator

from tests.payload.secret_corpus_three.draw import Draw
from tests.payload.secret_corpus_three.kinds import Kinds, payloads_of


def _hash(draw: Draw, algorithm: str) -> str:
    return hashlib.new(algorithm, draw.randbytes(32), usedforsecurity=False).hexdigest()


def _integrity(draw: Draw, algorithm: str) -> str:
    digest = hashlib.new(algorithm, draw.randbytes(32), usedforsecurity=False).digest()
    return f"{algorithm}-{base64.b64encode(digest).decode()}"


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png(draw: Draw, side: int = 12) -> str:
    rows = b"".join(b"\0" + draw.randbytes(side * 3) for _ in range(side))
    parts = [
        _chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)),
        _chunk(b"IDAT", zlib.compress(rows)),
        _chunk(b"IEND", b""),
    ]
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def _jpeg(draw: Draw) -> str:
    return base64.b64encode(bytes.fromhex("ffd8ffe000104a46494600010101004800480000") + draw.randbytes(300)).decode()


def _lock(draw: Draw) -> str:
    return f'[[package]]\nname = "six"\nversion = "1.16.0"\nfiles = [\n    {{file = "six-1.16.0.tar.gz", hash = "sha256:{_hash(draw, "sha256")}"}},\n]\n'


KINDS: Kinds = {
    "git-sha": lambda d, n: {"repository": "acme/shop", "commit": d.chars("h", 40), "before": d.chars("h", 40)},
    "git-sha-short": lambda d, n: {"ref": "refs/heads/main", "sha": d.chars("h", 7 + n % 5), "author": "Dana"},
    "git-log-text": lambda d, n: {"changelog": f"commit {d.chars('h', 40)}\nAuthor: Jo <jo@example.com>\n\n    Fix rounding of totals\n"},
    "revision": lambda d, n: {"revision": d.chars("h", 40), "environment": "staging"},
    "sha256": lambda d, n: {"file": f"video-{n}.mp4", "sha256": _hash(d, "sha256"), "bytes": d.randint(10**5, 10**9)},
    "md5": lambda d, n: {"name": "export.csv", "md5": _hash(d, "md5")},
    "sha1-checksum": lambda d, n: {"artifact": "app.jar", "checksum": _hash(d, "sha1")},
    "checksum-with-algorithm": lambda d, n: {"checksum": f"sha512:{_hash(d, 'sha512')}", "source": "mirror"},
    "sha256sums-text": lambda d, n: {"manifest": "".join(f"{_hash(d, 'sha256')}  part-{i}.bin\n" for i in range(3))},
    "etag": lambda d, n: {"key": f"a/{n}.jpg", "etag": f'"{_hash(d, "md5")}"', "size": d.randint(1, 10**6)},
    "etag-multipart": lambda d, n: {"headers": {"ETag": f'"{_hash(d, "md5")}-{n + 2}"', "Content-Type": "image/jpeg"}},
    "content-hash": lambda d, n: {"document": d.randint(1, 999), "content_hash": _hash(d, "sha256"), "version": n},
    "digest-base64": lambda d, n: {"digest": "SHA-256=" + d.base64(32), "content_md5": d.base64(16)},
    "subresource-integrity": lambda d, n: {"script": {"src": "/static/app.js", "integrity": _integrity(d, "sha384")}},
    "package-lock": lambda d, n: {"lock": f'"left-pad": {{"version": "1.3.0", "integrity": "{_integrity(d, "sha512")}"}}'},
    "poetry-lock": lambda d, n: {"diff": _lock(d)},
    "go-sum": lambda d, n: {"line": f"golang.org/x/text v0.{n}.0 h1:{d.base64(32)}"},
    "docker-image-digest": lambda d, n: {"image": f"registry.example.com/shop/api@sha256:{_hash(d, 'sha256')}", "replicas": 2},
    "docker-image-tag": lambda d, n: {"image": f"ghcr.io/acme/worker:1.{n}.0-{d.chars('h', 7)}", "pull": "always"},
    "container-id": lambda d, n: {"container_id": d.chars("h", 64), "exit_code": 137},
    "static-file-name": lambda d, n: {"asset": f"/static/js/main.{d.chars('h', 20)}.chunk.js", "cache": "immutable"},
    "perceptual-hash": lambda d, n: {"image_id": n, "phash": d.chars("h", 16), "blurhash": "LEHV6nWB2yk8pyo0adR*.7kCMdnj"},
    "fingerprint-of-error": lambda d, n: {"fingerprint": [_hash(d, "md5")], "culprit": "shop.views.checkout"},
    "cache-name": lambda d, n: {"invalidate": [f"views.decorators.cache.page.{_hash(d, 'md5')}.en-us.UTC"]},
    "thumbnail-png-data-url": lambda d, n: {"title": "Lamp", "thumbnail": "data:image/png;base64," + _png(d)},
    "thumbnail-in-html": lambda d, n: {"html": f'<img alt="logo" src="data:image/png;base64,{_png(d, 8)}"><p>Hello</p>'},
    "jpeg-base64": lambda d, n: {"photo": {"mime": "image/jpeg", "data": "data:image/jpeg;base64," + _jpeg(d)}},
    "svg-data-url": lambda d, n: {"icon": f"data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' width='{n + 8}'><path d='M0 0h8v8z'/></svg>"},
    "font-data-url": lambda d, n: {"css": f"@font-face{{src:url(data:font/woff2;base64,d09GMgABAAAAA{d.chars('b', 180)})}}"},
    "embedding-vector": lambda d, n: {"id": n, "embedding": [round(d.uniform(-1, 1), 8) for _ in range(32)]},
    "attachment-base64": lambda d, n: {"filename": "invoice.pdf", "content_type": "application/pdf", "attachment": base64.b64encode(b"%PDF-1.7\n" + d.randbytes(240)).decode()},
}  # fmt: skip


def payloads() -> Iterator[tuple[str, object]]:
    """Ten payloads of each kind."""
    return payloads_of(KINDS)
