"""Weekly reports: asking for one, and taking it home."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from demo_project.shop import jobs
from demo_project.shop.forms import WeekForm
from demo_project.shop.models import WeeklyReport
from demo_project.shop.tasks.reports import build_weekly_report
from demo_project.shop.week import Week


@require_http_methods(["GET", "POST"])
def reports(request: HttpRequest) -> HttpResponse:
    """List the reports; ask for one."""
    form = WeekForm(request.POST or None, initial={"week": Week.current()})
    if request.method == "POST" and form.is_valid():
        job = build_weekly_report.enqueue(week=form.cleaned_data["week"])
        messages.success(request, f"The report is job {job.id}. It appears here when it is built.")
        return redirect("shop:reports")
    context = {
        "form": form,
        "reports": WeeklyReport.objects.defer("csv")[:20],
        "lines": jobs.latest(kind="reports", limit=5),
    }
    return render(request, "shop/reports.html", context, status=422 if form.is_bound else 200)


@require_GET
def download(request: HttpRequest, week: str) -> HttpResponse:
    """Give a report as a file."""
    report = get_object_or_404(WeeklyReport, week=week)
    return HttpResponse(
        report.csv,
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="week-{report.week}.csv"'},
    )
