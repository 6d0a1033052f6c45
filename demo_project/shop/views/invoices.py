"""Invoices, and what became of them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from demo_project.shop import jobs
from demo_project.shop.forms import CardForm
from demo_project.shop.models import Invoice


@require_GET
def invoices(request: HttpRequest) -> HttpResponse:
    """List the newest invoices, and those whose card was declined."""
    shown = list(Invoice.objects.select_related("order__customer", "charge")[:40])
    lines = jobs.by_id(invoice.job_id for invoice in shown)
    declined = [
        (invoice, lines.get(invoice.job_id), CardForm(prefix=str(invoice.pk)))
        for invoice in shown
        if invoice.declined_at
    ]
    context = {
        "invoices": [(invoice, lines.get(invoice.job_id)) for invoice in shown],
        "declined": declined,
    }
    return render(request, "shop/invoices.html", context)


@require_POST
def change_card(request: HttpRequest, pk: int) -> HttpResponse:
    """Note another card. The charge is tried again when somebody replays its dead letter."""
    invoice = get_object_or_404(Invoice, pk=pk)
    form = CardForm(request.POST, prefix=str(pk))
    if not form.is_valid():
        return HttpResponse("no such card", status=422, content_type="text/plain")
    Invoice.objects.filter(pk=invoice.pk).update(card=form.cleaned_data["card"])
    messages.success(request, f"Invoice {pk} has another card. Now replay its job in the admin.")
    return redirect("shop:invoices")
