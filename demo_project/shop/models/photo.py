"""A customer's photo, and the small pictures made of it."""

from __future__ import annotations

from uuid import uuid4

from django.core.files.storage import FileSystemStorage
from django.db import models
from django.db.models.functions import Now


def replacing_storage() -> FileSystemStorage:
    """Give the storage in which the second run of a task replaces the file of the first."""
    return FileSystemStorage(allow_overwrite=True)


def original_name(photo: Photo, file_name: str) -> str:
    """Name an upload on disk. The customer's own file name never gets there."""
    return f"photos/originals/{uuid4().hex}"


class Photo(models.Model):
    """An upload, as it came. Nobody has looked inside it yet: that is the job's business."""

    title = models.CharField(max_length=80)
    original = models.FileField(upload_to=original_name)
    job_id = models.CharField(max_length=64, blank=True)
    uploaded_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.title


class Thumbnail(models.Model):
    """One size of a photo in one format."""

    class Size(models.TextChoices):
        SMALL = "small"
        MEDIUM = "medium"
        LARGE = "large"

    class Format(models.TextChoices):
        WEBP = "webp"
        JPEG = "jpeg"

    photo = models.ForeignKey(Photo, models.CASCADE, related_name="thumbnails")
    size = models.CharField(max_length=8, choices=Size.choices)
    format = models.CharField(max_length=4, choices=Format.choices)
    file = models.FileField(storage=replacing_storage)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()

    class Meta:
        ordering = ["width", "format"]
        constraints = [models.UniqueConstraint(fields=["photo", "size", "format"], name="shop_thumbnail_once")]

    def __str__(self) -> str:
        return f"{self.size} {self.format} of photo {self.photo_id}"

    @staticmethod
    def file_name(photo_id: int, size: str, format: str) -> str:  # noqa: A002 - as Pillow says it
        """Say where the file belongs: always the same place, so that a second run finds it."""
        return f"photos/{photo_id}/{size}.{format}"
