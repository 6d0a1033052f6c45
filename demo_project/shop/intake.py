"""Taking in what comes from outside: a lead from a webhook, a photo from a form."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.files.base import File
from django.db import transaction
from django.db.models import F

from demo_project.shop.models import Lead, Photo
from demo_project.shop.tasks.leads import pass_on_lead
from demo_project.shop.tasks.pictures import make_thumbnails


@dataclass(frozen=True, slots=True)
class NewLead:
    """What a webhook tells."""

    source: str
    external_id: str
    name: str
    company: str


@transaction.atomic
def take_in_lead(told: NewLead) -> tuple[Lead, bool]:
    """Note a lead and ask for the job that passes it on; say too whether it is new.

    A repetition finds the lead that is there. It gets a job all the same, as the first one's may
    have died: the task, not the webhook, is where a duplicate becomes harmless.
    """
    lead, is_new = Lead.objects.get_or_create(
        source=told.source,
        external_id=told.external_id,
        defaults={"name": told.name, "company": told.company},
    )
    job = pass_on_lead.enqueue(lead_id=lead.pk)
    if is_new:
        Lead.objects.filter(pk=lead.pk).update(job_id=job.id)
    else:
        Lead.objects.filter(pk=lead.pk).update(deliveries=F("deliveries") + 1)
    return lead, is_new


@transaction.atomic
def take_in_photo(title: str, original: File[bytes]) -> Photo:
    """Keep a photo as it came, and ask for its thumbnails; only the job looks inside."""
    photo = Photo.objects.create(title=title, original=original)
    photo.job_id = make_thumbnails.enqueue(photo_id=photo.pk).id
    photo.save(update_fields=["job_id"])
    return photo
