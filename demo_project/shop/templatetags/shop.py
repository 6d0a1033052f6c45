"""How the shop writes things down."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def money(cents: int) -> str:
    """Write cents as euros: 1250 becomes "€12.50"."""
    return f"€{cents / 100:,.2f}"
