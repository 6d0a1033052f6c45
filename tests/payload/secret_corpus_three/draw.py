# A list of words is easier to read as a text.
# ruff: noqa: SIM905
"""Values drawn from a seed: the same on every machine and in every run."""

from __future__ import annotations

import base64
import random
import re
import string
import uuid
import zlib

ALPHABETS = {
    "a": string.ascii_letters + string.digits,
    "b": string.ascii_letters + string.digits + "+/",
    "c": string.ascii_lowercase,
    "C": string.ascii_uppercase,
    "d": string.digits,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "l": string.ascii_lowercase + string.digits,
    "L": string.ascii_letters,
    "s": string.ascii_uppercase + "234567",
    "u": string.ascii_uppercase + string.digits,
    "w": string.ascii_letters + string.digits + "_-",
    "z": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",  # bech32
}
BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
WORDS = (
    "tractor amber pepper violin harbour winter cactus ribbon saddle lantern copper meadow gravel puzzle orbit "
    "walnut thunder canvas maple anchor velvet pocket glacier bishop kettle marble ferry tulip bamboo rocket"
).split()


class Draw(random.Random):
    """A source of values; one for each format, so that a new format changes no other."""

    def chars(self, alphabet: str, length: int) -> str:
        return "".join(self.choices(ALPHABETS[alphabet], k=length))

    def fill(self, template: str) -> str:
        """`ab[h4]` is ab and four characters of alphabet h; `[U]` is a UUID."""

        def drawn(match: re.Match[str]) -> str:
            return self.uuid() if match[1] == "U" else self.chars(match[1], int(match[2]))

        return re.sub(r"\[([a-zA-Z])(\d*)\]", drawn, template)

    def uuid(self) -> str:
        return str(uuid.UUID(bytes=self.randbytes(16), version=4))

    def base64(self, size: int) -> str:
        return base64.b64encode(self.randbytes(size)).decode()

    def base64url(self, size: int) -> str:
        return base64.urlsafe_b64encode(self.randbytes(size)).decode().rstrip("=")

    def password(self) -> str:
        """What people and password managers choose; nothing that needs quotes in JSON or a shell."""
        first, second = self.sample(WORDS, 2)
        return self.choice(
            [
                f"{first.title()}{self.randint(10, 99)}!{second}",
                f"{first}-{second}-{self.randint(100, 999)}",
                f"{first.title()}_{second.title()}{self.randint(1950, 2025)}",
                self.fill("[a16]"),
                self.fill("[a9]-[a5].[a6]"),
                self.fill("[L5]#[a8]!7k"),
            ]
        )

    def opaque(self) -> str:
        """What a service hands out when its tokens have no prefix."""
        kind = self.randrange(5)
        if kind == 0:
            return self.chars("h", self.choice([32, 40, 64]))
        if kind == 1:
            return self.base64(self.choice([24, 32, 48]))
        if kind == 2:
            return self.base64url(32)
        return self.chars("a", self.choice([24, 32, 40]))


def with_checksum(body: str) -> str:
    """The body and six characters base 62 of its CRC-32, as GitHub, npm and Vercel end their tokens."""
    number, digits = zlib.crc32(body.encode()), ""
    for _ in range(6):
        number, rest = divmod(number, 62)
        digits = BASE62[rest] + digits
    return body + digits
