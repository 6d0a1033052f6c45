"""The first page: five kinds of work and a poison message, each a click away."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from demo_project.shop import jobs
from demo_project.shop.cards import CARDS, GOOD
from demo_project.shop.forms import SampleForm
from demo_project.shop.models import Product
from demo_project.shop.tasks import kill_own_process
from demo_project.shop.week import Week

ADDRESSES = (
    ("ada@example.com", "Takes it at once"),
    ("grace@greylist.example", "Greylists twice"),
    ("nobody@bounce.example", "Bounces"),
)


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Show what can be started, and the newest jobs."""
    context = {
        "addresses": ADDRESSES,
        "cards": CARDS,
        "good_card": GOOD,
        "samples": SampleForm.SAMPLES,
        "week": Week.current(),
        "product": Product.objects.first(),
        "lines": jobs.latest(limit=6),
        "tally": jobs.tally(),
    }
    return render(request, "shop/home.html", context)


@require_POST
def send_poison(request: HttpRequest) -> HttpResponse:
    """Ask for a job that kills its process."""
    job = kill_own_process.enqueue()
    messages.success(request, f"Poison is job {job.id}. Watch it take its process down, and die.")
    return redirect("shop:activity")
