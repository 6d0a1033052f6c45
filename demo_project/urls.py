"""Addresses of the demo site."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import include, path


def favicon(request: HttpRequest) -> HttpResponse:
    """Answer the browser's unasked question, so that the log has no error in it."""
    return HttpResponse(status=204)


urlpatterns = [
    path("favicon.ico", favicon),
    path("admin/", admin.site.urls),
    path("", include("demo_project.shop.urls")),
]
