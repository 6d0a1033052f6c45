"""Billing: a card is charged once per invoice, and the provider's book says so."""

import json
from types import SimpleNamespace

import pytest

from demo_project.shop.cards import DECLINED, FLAKY, GOOD, SLOW
from demo_project.shop.models import Charge, Invoice
from demo_project.shop.partners.client import PartnerUnavailable
from demo_project.shop.partners.payments import CardDeclined, ChargeRefused, charge_card
from demo_project.shop.tasks.billing import charge_invoice
from django_jobqueue.models import Job


def test_invoice_is_charged_once(partners, order, context):
    """A job that is delivered twice charges once, and answers with the same reference."""
    invoice = order().invoice
    first = charge_invoice.func(context, invoice.pk)
    Charge.objects.all().delete()  # as if the process had died before its note was committed

    assert charge_invoice.func(context, invoice.pk) == first
    assert [json.loads(document) for _, document in partners.charges()] == [["0001", 7600]]
    assert Charge.objects.get().reference == first


def test_twins_at_once_charge_once(partners, transactional_db, order, context, at_once):
    """Two workers that run the same job at the same moment charge once."""
    invoice = order().invoice

    references = at_once(lambda: charge_invoice.func(context, invoice.pk))

    assert len(set(references)) == 1
    assert len(partners.charges()) == Charge.objects.count() == 1


def test_outage_is_retried_under_the_same_key(partners, order, context):
    """A provider that is down twice takes the money at the third attempt, once."""
    invoice = order(card=FLAKY.number).invoice

    for _ in range(2):
        with pytest.raises(PartnerUnavailable, match="503"):
            charge_invoice.func(context, invoice.pk)
    charge_invoice.func(context, invoice.pk)
    assert len(partners.charges()) == 1


def test_late_answer_does_not_charge_again(partners, order, context):
    """A charge whose answer came too late is found, not repeated."""
    invoice = order(card=SLOW.number).invoice

    with pytest.raises(TimeoutError):
        charge_invoice.func(context, invoice.pk)
    charge_invoice.func(context, invoice.pk)
    assert len(partners.charges()) == 1


def test_declined_card_is_not_retried(partners, order, context):
    """A declined card is a dead letter at once; nothing is charged and the invoice says so."""
    invoice = order(card=DECLINED.number).invoice

    with pytest.raises(CardDeclined):
        charge_invoice.func(context, invoice.pk)

    invoice.refresh_from_db()
    assert invoice.declined_at is not None
    assert partners.charges() == []
    assert CardDeclined in charge_invoice.never_retry


def test_another_card_works_under_the_same_key(partners, order, context):
    """After a decline the same job succeeds with another card, as a replay does."""
    invoice = order(card=DECLINED.number).invoice
    with pytest.raises(CardDeclined):
        charge_invoice.func(context, invoice.pk)
    Invoice.objects.filter(pk=invoice.pk).update(card=GOOD.number)

    charge_invoice.func(context, invoice.pk)

    invoice.refresh_from_db()
    assert invoice.declined_at is None
    assert len(partners.charges()) == 1


def test_reused_key_is_refused(partners):
    """The provider refuses a key that comes back with another amount."""
    charge_card(GOOD.number, 100, idempotency_key="one")

    with pytest.raises(ChargeRefused, match="409"):
        charge_card(GOOD.number, 200, idempotency_key="one")


def test_order_and_jobs_commit_together(order):
    """An order knows the ids of its jobs in its own transaction."""
    placed = order()

    assert Job.objects.filter(pk=placed.invoice.job_id, queue_name="billing").exists()


def test_provider_forgets_no_charge(partners, order):
    """Two jobs, two keys: the provider charges two invoices."""
    for number in ("a", "b"):
        charge_invoice.func(SimpleNamespace(idempotency_key=number), order().invoice.pk)

    assert [reference for reference, _ in partners.charges()] == ["ch-00001", "ch-00002"]
