"""Placing an order: what is sold, what is owed and the two jobs that follow, in one commit."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.models import User
from django.db import transaction

from demo_project.shop.models import Invoice, Order, OrderLine, Product
from demo_project.shop.post import owe
from demo_project.shop.tasks.billing import charge_invoice


@transaction.atomic
def place_order(customer: User, basket: Mapping[Product, int], *, card: str) -> Order:
    """Place an order, and ask for its confirmation and its charge.

    Order, invoice and both jobs commit together or not at all: no confirmation of an order that
    was rolled back, and no order that nobody charges.
    """
    order = Order.objects.create(
        customer=customer,
        total_cents=sum(product.price_cents * count for product, count in basket.items()),
    )
    OrderLine.objects.bulk_create(
        OrderLine(order=order, product=product, quantity=count, price_cents=product.price_cents)
        for product, count in basket.items()
    )
    invoice = Invoice.objects.create(order=order, amount_cents=order.total_cents, card=card)
    invoice.job_id = charge_invoice.enqueue(invoice_id=invoice.pk).id
    invoice.save(update_fields=["job_id"])
    owe("order_confirmation", about=order, user=customer)
    return order
