"""A lead: looked up, written to the CRM, told to the sales people.

Safe to run twice, and for two jobs at once: a webhook that is delivered twice makes two jobs for
one lead. So each key names the lead, not the job: the CRM takes one entry per key, and the mail
is owed once per lead.
"""

from __future__ import annotations

from django.conf import settings

from demo_project.shop.models import Lead
from demo_project.shop.partners.crm import EntryRefused, add_entry
from demo_project.shop.partners.enrichment import look_up
from demo_project.shop.people import sales_user
from demo_project.shop.post import owe
from django_jobqueue import task
from django_jobqueue.backoff import exponential


@task(
    queue_name="leads",
    max_attempts=5,
    backoff=exponential(settings.SHOP_BACKOFF_SECONDS, cap_seconds=600, jitter="equal"),
    never_retry=(EntryRefused,),
    timeout=30,
    owner="sales team",
    runbook="EntryRefused: the CRM's message says which field; correct the lead, then replay.",
)
def pass_on_lead(lead_id: int) -> str:
    """Enrich a lead, write it to the CRM, and owe sales a mail. Answers the CRM's reference."""
    lead = Lead.objects.get(pk=lead_id)
    company = look_up(lead.company)
    reference = add_entry(
        {"name": lead.name, "company": lead.company, "industry": company.industry},
        idempotency_key=f"lead:{lead.source}:{lead.external_id}",
    )
    Lead.objects.filter(pk=lead_id).update(
        industry=company.industry, employees=company.employees, crm_reference=reference
    )
    owe("new_lead", about=lead, user=sales_user())
    return reference
