"""Photos: uploading, looking, and serving what was made of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.contrib import messages
from django.core.files.base import ContentFile
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from demo_project.shop import jobs, samples
from demo_project.shop.forms import PhotoForm, SampleForm
from demo_project.shop.intake import take_in_photo
from demo_project.shop.models import Photo, Thumbnail

FORM_BYTES = 64 * 1024
"""What a form may need around its photo."""

View = Callable[[HttpRequest], HttpResponse]


def refuse_large_bodies(view: View) -> View:
    """Answer 413 from the length in the header, before a byte of the body is read."""

    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        limit = settings.SHOP_MAX_UPLOAD_BYTES
        if not length.isdecimal() or int(length) > limit + FORM_BYTES:
            return render(request, "shop/too_large.html", {"limit": limit}, status=413)
        return view(request)

    return guarded


# The token is in the body, so the check of it would read the whole body: the size comes first.
@csrf_exempt
@refuse_large_bodies
@csrf_protect
@require_http_methods(["GET", "POST"])
def photos(request: HttpRequest) -> HttpResponse:
    """Show the newest photos; take one in, whose thumbnails are a job."""
    form = PhotoForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        photo = take_in_photo(form.cleaned_data["title"], form.cleaned_data["original"])
        return _taken_in(request, photo)
    shown = list(Photo.objects.prefetch_related("thumbnails")[:24])
    lines = jobs.by_id(photo.job_id for photo in shown)
    context = {
        "form": form,
        "samples": SampleForm.SAMPLES,
        "photos": [(photo, lines.get(photo.job_id)) for photo in shown],
    }
    return render(request, "shop/photos.html", context, status=422 if form.is_bound else 200)


@require_POST
def take_sample(request: HttpRequest) -> HttpResponse:
    """Take in one of the shop's own photos, as if somebody had uploaded it."""
    form = SampleForm(request.POST)
    if not form.is_valid():
        return HttpResponse("no such sample", status=422, content_type="text/plain")
    sample = form.cleaned_data["sample"]
    content = samples.make(sample)
    title = dict(SampleForm.SAMPLES)[sample]
    return _taken_in(request, take_in_photo(title, ContentFile(content, name=sample)))


@require_GET
def thumbnail(request: HttpRequest, pk: int) -> FileResponse:
    """Serve a thumbnail, the only picture that anybody gets to see."""
    found = get_object_or_404(Thumbnail, pk=pk)
    return FileResponse(found.file.open("rb"), content_type=f"image/{found.format}")


def _taken_in(request: HttpRequest, photo: Photo) -> HttpResponse:
    messages.success(request, f"“{photo.title}” is taken in. Its thumbnails are being made.")
    return redirect("shop:photos")
