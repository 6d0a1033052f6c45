"""The till."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from demo_project.shop.checkout import place_order
from demo_project.shop.forms import CheckoutForm
from demo_project.shop.people import customer


@require_http_methods(["GET", "POST"])
def checkout(request: HttpRequest) -> HttpResponse:
    """Show the shelf; take an order, whose mail and charge are jobs."""
    form = CheckoutForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        told = form.cleaned_data
        with transaction.atomic():
            buyer = customer(told["name"], told["email"])
            order = place_order(buyer, told["basket"], card=told["card"])
        messages.success(request, f"Order {order.pk} is placed. Its mail and its charge are on their way.")
        return redirect("shop:activity")
    status = 422 if form.is_bound else 200
    return render(request, "shop/checkout.html", {"form": form}, status=status)
