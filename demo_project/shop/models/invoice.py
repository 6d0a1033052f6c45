"""What a customer owes, and what the provider took."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from demo_project.shop.models.sales import Order


class Invoice(models.Model):
    """The money owed for one order. Paid when it has a Charge."""

    order = models.OneToOneField(Order, models.PROTECT, related_name="invoice")
    amount_cents = models.PositiveIntegerField()
    card = models.CharField(max_length=19, help_text="A test card of the demo's provider; real shops keep a token.")
    job_id = models.CharField(max_length=64, blank=True)
    declined_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"invoice {self.pk}"


class Charge(models.Model):
    """The proof of payment. One per invoice, whoever delivers it and however often."""

    invoice = models.OneToOneField(Invoice, models.PROTECT, related_name="charge")
    reference = models.CharField(max_length=40, unique=True, help_text="The provider's number.")
    idempotency_key = models.CharField(max_length=100, unique=True)
    charged_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.reference
