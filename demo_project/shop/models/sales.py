"""What is sold, and to whom."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class Product(models.Model):
    """A print on the wall of the shop."""

    slug = models.SlugField(unique=True, help_text="Also names its picture in static/shop/art.")
    name = models.CharField(max_length=80)
    note = models.CharField(max_length=160)
    price_cents = models.PositiveIntegerField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.name


class Order(models.Model):
    """What one customer bought at one checkout."""

    customer = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="orders")
    total_cents = models.PositiveIntegerField()
    placed_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"order {self.pk}"


class OrderLine(models.Model):
    """A product in an order, at the price of that day."""

    order = models.ForeignKey(Order, models.CASCADE, related_name="lines")
    product = models.ForeignKey(Product, models.PROTECT)
    quantity = models.PositiveSmallIntegerField()
    price_cents = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["order", "product"], name="shop_line_once")]

    def __str__(self) -> str:
        return f"{self.quantity} x {self.product}"
