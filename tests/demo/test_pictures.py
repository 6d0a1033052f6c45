"""Pictures: six thumbnails per photo, and bounds on what a stranger's file may cost."""

import io

import pytest
from django.core.files.base import ContentFile
from PIL import Image

from demo_project.shop import samples
from demo_project.shop.intake import take_in_photo
from demo_project.shop.models import Photo, Thumbnail
from demo_project.shop.pictures import DamagedPicture, PictureTooLarge, thumbnails
from demo_project.shop.tasks.pictures import make_thumbnails
from django_jobqueue.models import Job


def test_every_size_and_format_is_made(db):
    """A photo gets three sizes as WebP and JPEG, each within its edge."""
    photo = take_in_photo("dawn", ContentFile(samples.photo(), name="dawn.jpg"))

    assert make_thumbnails.func(photo.pk) == 6

    for thumbnail in photo.thumbnails.all():
        with Image.open(thumbnail.file) as picture:
            assert picture.format == thumbnail.format.upper()
            assert picture.size == (thumbnail.width, thumbnail.height)
    assert {t.width for t in photo.thumbnails.all()} == {160, 480, 960}


def test_second_run_replaces_the_first(db, media):
    """A job that is delivered twice leaves six rows and six files."""
    photo = take_in_photo("dawn", ContentFile(samples.photo(), name="dawn.jpg"))
    make_thumbnails.func(photo.pk)
    make_thumbnails.func(photo.pk)

    assert Thumbnail.objects.count() == 6
    assert len(list((media / "photos" / str(photo.pk)).iterdir())) == 6


@pytest.mark.parametrize("content", [samples.damaged(), b"", b"<svg/>", b"GIF89a", samples.photo()[:30]])
def test_damaged_file_is_not_retried(content):
    """A file that is no picture, or half of one, is DamagedPicture, which is never retried."""
    with pytest.raises(DamagedPicture):
        list(thumbnails(content))
    assert DamagedPicture in make_thumbnails.never_retry


@pytest.mark.parametrize("edge", [6_400, 30_000])
def test_decompression_bomb_is_refused_by_its_header(edge):
    """A small file that claims to be huge is refused before its pixels are unpacked."""
    bomb = samples.bomb(width=edge, height=edge)

    assert len(bomb) < 1000
    with pytest.raises(PictureTooLarge, match="more than 40,000,000 pixels"):
        list(thumbnails(bomb))


def test_thumbnails_carry_nothing_but_the_picture():
    """Place and camera stay behind; the rotation that the camera noted is applied."""
    out = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6  # lies on its side
    exif[0x010F] = "a camera"
    Image.new("RGB", (400, 200), "red").save(out, "JPEG", exif=exif)

    small = next(thumbnails(out.getvalue()))

    with Image.open(io.BytesIO(small.content)) as picture:
        assert picture.size == (80, 160)
        assert not picture.getexif()


def test_customers_file_name_never_reaches_the_disk(db):
    """The original is kept under a name of the shop's own."""
    photo = take_in_photo("x", ContentFile(b"x", name="../../etc/passwd"))

    assert photo.original.name.startswith("photos/originals/")
    assert "passwd" not in photo.original.name
    assert Job.objects.get(pk=Photo.objects.get().job_id).kwargs == {"photo_id": photo.pk}
