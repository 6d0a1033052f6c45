"""Leads: a webhook delivered twice makes two jobs and one of each effect."""

from django.test import Client

from demo_project.shop.inbox import received
from demo_project.shop.intake import NewLead, take_in_lead
from demo_project.shop.models import Delivery, Lead
from demo_project.shop.tasks.leads import pass_on_lead
from django_jobqueue.models import Job

MARY = NewLead("fair", "17", "Mary Anning", "Ammonite Ltd")


def test_repeated_delivery_has_the_effects_of_one(partners, db):
    """Two deliveries of a lead leave one lead, one CRM entry and one mail that is owed."""
    lead, is_new = take_in_lead(MARY)
    again, is_new_again = take_in_lead(MARY)
    for job in Job.objects.filter(queue_name="leads"):
        pass_on_lead.func(**job.kwargs)

    assert (is_new, is_new_again, again.pk) == (True, False, lead.pk)
    assert Job.objects.filter(queue_name="leads").count() == 2
    assert len(partners.crm_entries()) == 1
    assert Delivery.objects.filter(template_id="new_lead").count() == 1
    assert Job.objects.filter(queue_name="mail").count() == 1


def test_twins_at_once_have_the_effects_of_one(partners, transactional_db, at_once):
    """Two jobs for one lead at the same moment write one entry and owe one mail."""
    lead, _ = take_in_lead(MARY)

    references = at_once(lambda: pass_on_lead.func(lead.pk))

    assert len(set(references)) == len(partners.crm_entries()) == 1
    assert Delivery.objects.count() == 1
    assert received() == []


def test_lead_is_enriched(partners, db):
    """The directory's answer is kept with the lead, and so is the CRM's reference."""
    lead, _ = take_in_lead(MARY)
    pass_on_lead.func(lead.pk)

    lead = Lead.objects.get()
    assert lead.industry
    assert lead.employees
    assert lead.crm_reference == "crm-00001"


def test_unlisted_company_is_no_failure(partners, db):
    """A company that the directory does not know is passed on as unknown."""
    lead, _ = take_in_lead(NewLead("fair", "18", "Lise", "Unlisted GmbH"))
    pass_on_lead.func(lead.pk)

    assert Lead.objects.get().industry == "unknown"


def test_hook_asks_to_come_again_when_the_queue_is_full(db, settings):
    """The sender is told when, and the lead is not noted: it comes again with the next delivery."""
    default = settings.TASKS["default"]
    options = default["OPTIONS"] | {"queues": {"leads": {"max_depth": 1}}}
    settings.TASKS = {"default": default | {"OPTIONS": options}}

    first, second = [
        Client().post(
            "/hooks/leads/",
            {"source": "fair", "external_id": number, "name": "Mary", "company": "Ammonite Ltd"},
            content_type="application/json",
            headers={"X-Shop-Secret": settings.SHOP_WEBHOOK_SECRET},
        )
        for number in ("1", "2")
    ]

    assert (first.status_code, second.status_code) == (202, 503)
    assert int(second.headers["Retry-After"]) >= 1
    assert second.json()["error"] == "busy"
    assert Lead.objects.get().external_id == "1"
    assert Job.objects.count() == 1
