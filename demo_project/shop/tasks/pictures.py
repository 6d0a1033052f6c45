"""Thumbnails of uploaded photos.

Safe to run twice: a thumbnail is unique per photo, size and format, and its file has one name, so
a second run replaces what the first made. The queue is served by a worker of its own with few
slots: pictures need much memory, and mail should not wait behind them.
"""

from __future__ import annotations

from django.conf import settings
from django.core.files.base import ContentFile

from demo_project.shop.models import Photo, Thumbnail
from demo_project.shop.models.photo import replacing_storage
from demo_project.shop.pictures import DamagedPicture, PictureTooLarge, thumbnails
from django_jobqueue import task
from django_jobqueue.backoff import exponential


@task(
    queue_name="pictures",
    max_attempts=3,
    backoff=exponential(settings.SHOP_BACKOFF_SECONDS, cap_seconds=300, jitter="equal"),
    never_retry=(DamagedPicture, PictureTooLarge),
    timeout=60,
    owner="picture desk",
    runbook="DamagedPicture: ask the customer for the photo again, and discard this one.",
)
def make_thumbnails(photo_id: int) -> int:
    """Make every size and format of a photo. The result is how many there are.

    Raises DamagedPicture or PictureTooLarge, which another try would raise again.
    """
    photo = Photo.objects.get(pk=photo_id)
    with photo.original.open("rb") as original:
        content = original.read(settings.SHOP_MAX_UPLOAD_BYTES + 1)
    made = 0
    for picture in thumbnails(content):
        # The file comes first: a page that finds the row can show it.
        name = Thumbnail.file_name(photo_id, picture.size, picture.format)
        replacing_storage().save(name, ContentFile(picture.content))
        Thumbnail.objects.update_or_create(
            photo=photo,
            size=picture.size,
            format=picture.format,
            defaults={"file": name, "width": picture.width, "height": picture.height},
        )
        made += 1
    return made
