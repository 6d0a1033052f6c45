"""The page that shows jobs as they move."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from demo_project.shop import jobs


@require_GET
def activity(request: HttpRequest) -> HttpResponse:
    """List the newest jobs of one kind, or of all."""
    kind = request.GET.get("kind", "")
    if kind not in jobs.KINDS:
        kind = ""
    context = {
        "kind": kind,
        "kinds": jobs.KINDS,
        "lines": jobs.latest(kind=kind),
        "tally": jobs.tally(),
    }
    return render(request, "shop/activity.html", context)
