"""Making pictures smaller, with bounds on what a stranger's file may cost."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from PIL import Image, ImageOps, UnidentifiedImageError

from demo_project.shop.models import Thumbnail

SIZES = {Thumbnail.Size.SMALL: 160, Thumbnail.Size.MEDIUM: 480, Thumbnail.Size.LARGE: 960}
"""The longer edge in pixels."""

READ_FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
"""Pillow knows many more, some of them through decoders that few people look after."""


class DamagedPicture(Exception):
    """The file is no picture, or only the beginning of one."""


class PictureTooLarge(Exception):
    """The picture unpacks to more pixels than the shop is willing to hold."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One small picture, encoded."""

    size: Thumbnail.Size
    format: Thumbnail.Format
    content: bytes
    width: int
    height: int


def thumbnails(content: bytes) -> Iterator[Picture]:
    """Make every size in every format, smallest first.

    What the camera wrote beside the picture (place, owner) stays behind; its rotation is applied.
    Raises DamagedPicture and PictureTooLarge.
    """
    picture = _decode(content)
    for size, edge in SIZES.items():
        small = picture.copy()
        small.thumbnail((edge, edge), Image.Resampling.LANCZOS)
        for format in Thumbnail.Format:  # noqa: A001 - as Pillow says it
            yield Picture(size, format, _encode(small, format), *small.size)


def _decode(content: bytes) -> Image.Image:
    try:
        with warnings.catch_warnings():
            # Pillow warns of a bomb and goes on; the limit below is the shop's own, and holds.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(content), formats=READ_FORMATS)
        width, height = picture.size
        # Only the header has been read so far: nothing of this size has been allocated.
        if width * height > settings.SHOP_MAX_PIXELS:
            raise PictureTooLarge(f"more than {settings.SHOP_MAX_PIXELS:,} pixels")
        picture.draft("RGB", (2 * max(SIZES.values()),) * 2)
        return ImageOps.exif_transpose(picture).convert("RGB")
    except Image.DecompressionBombError:  # it is over Pillow's own limit too
        raise PictureTooLarge(f"more than {settings.SHOP_MAX_PIXELS:,} pixels") from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as error:
        # All of these come from the decoder: the bytes were read from storage before.
        raise DamagedPicture(str(error).replace("\0", "")[:200]) from None


def _encode(picture: Image.Image, format: Thumbnail.Format) -> bytes:  # noqa: A002
    out = io.BytesIO()
    picture.save(out, format, quality=82)
    return out.getvalue()
