"""Leads: the webhook that brings them, and the page that shows them."""

from __future__ import annotations

import json
from secrets import token_hex

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from demo_project.shop import jobs
from demo_project.shop.intake import NewLead, take_in_lead
from demo_project.shop.models import Lead
from django_jobqueue.middleware import answers_queue_full

MAX_HOOK_BYTES = 16 * 1024
FIELDS = {"source": 40, "external_id": 80, "name": 120, "company": 120}
"""What a hook tells, and how long it may be."""


# The sender is a program without a session: its secret takes the place of the token. Where the queue is full it is
# told when to come again, and the lead is not noted: its job would be missing.
@csrf_exempt
@require_POST
@answers_queue_full
def hook(request: HttpRequest) -> HttpResponse:
    """Take a lead from another program: 202 at once, the same for a repetition; 503 while the queue is full."""
    secret = request.headers.get("X-Shop-Secret", "")
    if not constant_time_compare(secret, settings.SHOP_WEBHOOK_SECRET):
        return JsonResponse({"error": "X-Shop-Secret is missing or wrong"}, status=403)
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > MAX_HOOK_BYTES:
        return JsonResponse({"error": f"a hook may have {MAX_HOOK_BYTES} bytes"}, status=413)
    try:
        told = _read(json.loads(request.body))
    except ValueError as error:
        return JsonResponse({"error": str(error)}, status=422)
    lead, is_new = take_in_lead(told)
    return JsonResponse({"lead": lead.pk, "new": is_new}, status=202)


@require_GET
def leads(request: HttpRequest) -> HttpResponse:
    """List the newest leads."""
    shown = list(Lead.objects.all()[:40])
    lines = jobs.by_id(lead.job_id for lead in shown)
    context = {
        "leads": [(lead, lines.get(lead.job_id)) for lead in shown],
        "hook_url": request.build_absolute_uri("/hooks/leads/"),
        "hook_secret": settings.SHOP_WEBHOOK_SECRET,  # a real shop shows it to nobody
    }
    return render(request, "shop/leads.html", context)


@require_POST
def send_twice(request: HttpRequest) -> HttpResponse:
    """Do what a nervous sender does: deliver the same lead twice."""
    number = token_hex(3)
    told = NewLead("fair", number, "Mary Anning", f"Ammonite {number} Ltd")
    for _ in range(2):
        take_in_lead(told)
    messages.success(request, "One lead was delivered twice: two jobs, and one entry in the CRM.")
    return redirect("shop:leads")


def _read(document: object) -> NewLead:
    """Check a hook's document. Raises ValueError, which says which field and why."""
    if not isinstance(document, dict):
        raise ValueError("the body is not a JSON object")
    for name, limit in FIELDS.items():
        value = document.get(name)
        if not isinstance(value, str) or not 0 < len(value) <= limit or "\0" in value:
            raise ValueError(f"{name!r} is a text of 1 to {limit} characters; got {value!r:.60}")
    return NewLead(**{name: document[name] for name in FIELDS})
