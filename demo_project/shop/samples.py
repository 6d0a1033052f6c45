"""Photos for those who have none at hand: three good ones, and two that are not."""

from __future__ import annotations

import io
import math
import random
import struct
import zlib

from PIL import Image, ImageDraw, ImageFilter

SKIES = {
    "dawn": ("#f7c59f", "#46487c"),
    "noon": ("#e8f1f2", "#3d8fc4"),
    "dusk": ("#e4572e", "#1b1b3a"),
}


def photo(mood: str = "dawn", *, width: int = 1600, height: int = 1067) -> bytes:
    """Paint hills under a sky, as JPEG; one mood always gives the same picture."""
    low, high = SKIES[mood]
    picture = Image.linear_gradient("L").resize((width, height))
    sky = Image.composite(Image.new("RGB", picture.size, low), Image.new("RGB", picture.size, high), picture)
    draw = ImageDraw.Draw(sky)
    chance = random.Random(mood)  # noqa: S311 - a painter, not a locksmith
    radius = height // 9
    x, y = chance.randint(width // 5, width * 4 // 5), height * 2 // 5
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill="#fff4d6")
    for layer in range(4):
        base, tilt = height * (0.5 + 0.12 * layer), chance.uniform(0, 6)
        swing = height * (0.12 - 0.015 * layer)
        ridge = [
            (
                i,
                base + swing * (math.sin(i / width * (4 + layer) + tilt) + math.sin(i / 97 + tilt) / 6),
            )
            for i in range(0, width + 8, 8)
        ]
        shade = tuple(int(c * (0.75 - 0.17 * layer)) for c in (74, 98, 104))
        draw.polygon([(0, height), *ridge, (width, height)], fill=shade)
    out = io.BytesIO()
    sky.filter(ImageFilter.GaussianBlur(0.8)).save(out, "JPEG", quality=88)
    return out.getvalue()


def damaged() -> bytes:
    """Give a photo whose upload broke off in the middle."""
    whole = photo()
    return whole[: len(whole) // 2]


def bomb(*, width: int = 30_000, height: int = 30_000) -> bytes:
    """Give a PNG of a few hundred bytes that claims to be 900 million pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def make(name: str) -> bytes:
    """Give the sample of that name: "damaged", "bomb", or a mood of the sky."""
    match name:
        case "damaged":
            return damaged()
        case "bomb":
            return bomb()
        case _:
            return photo(name)
