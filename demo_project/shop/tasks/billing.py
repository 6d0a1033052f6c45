"""Charging an invoice at the payment provider.

Safe to run twice: every attempt of the job sends the same Idempotency-Key, so the provider charges
once and repeats its answer; and Charge is unique per invoice, so the shop notes it once.
"""

from __future__ import annotations

from typing import Any
from urllib.error import URLError

from django.conf import settings
from django.db.models.functions import Now

from demo_project.shop.models import Charge, Invoice
from demo_project.shop.partners.payments import CardDeclined, charge_card
from django_jobqueue import Breaker, task
from django_jobqueue.backoff import exponential

PROVIDER = Breaker("payments", trips_on=(URLError,))
"""Nobody answers there: invoices wait, and spend no attempts."""


@task(
    queue_name="billing",
    takes_context=True,
    max_attempts=6,
    backoff=exponential(settings.SHOP_BACKOFF_SECONDS, cap_seconds=600, jitter="equal"),
    never_retry=(CardDeclined,),
    timeout=30,
    breaker=PROVIDER,
    owner="billing team",
    runbook="CardDeclined: ask for another card on the invoice's page, then replay.",
)
def charge_invoice(context: Any, invoice_id: int) -> str:
    """Charge an invoice and note the provider's reference, which is the result.

    Raises CardDeclined, which nothing but another card cures; a provider that is down, slow or
    unreachable is tried again.
    """
    invoice = Invoice.objects.get(pk=invoice_id)
    charge = Charge.objects.filter(invoice=invoice).first()
    if charge is not None:
        return charge.reference
    key = context.idempotency_key
    try:
        reference = charge_card(invoice.card, invoice.amount_cents, idempotency_key=key)
    except CardDeclined:
        Invoice.objects.filter(pk=invoice_id).update(declined_at=Now())
        raise
    Charge.objects.get_or_create(invoice=invoice, defaults={"reference": reference, "idempotency_key": key})
    Invoice.objects.filter(pk=invoice_id).update(declined_at=None)
    return reference
