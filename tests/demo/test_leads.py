"""Leads: a webhook delivered twice makes two jobs and one of each effect."""

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
