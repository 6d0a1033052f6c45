"""Mail: what was owed, and what the mail server has taken."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from demo_project.shop import jobs
from demo_project.shop.inbox import received
from demo_project.shop.models import Delivery


@require_GET
def mail(request: HttpRequest) -> HttpResponse:
    """List the newest deliveries, and the mails on the other side."""
    owed = list(Delivery.objects.select_related("user")[:30])
    lines = jobs.by_id(delivery.job_id for delivery in owed)
    context = {
        "deliveries": [(delivery, lines.get(delivery.job_id)) for delivery in owed],
        "received": received(4),
    }
    return render(request, "shop/mail.html", context)
