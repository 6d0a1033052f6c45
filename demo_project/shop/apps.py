"""Wiring of the shop."""

from __future__ import annotations

from django.apps import AppConfig


class ShopConfig(AppConfig):
    """The demo's print shop."""

    name = "demo_project.shop"
    label = "shop"
    verbose_name = "Print shop"
    default_auto_field = "django.db.models.BigAutoField"
