"""Answer a request that asked for more than a queue takes: 503, and when to come again.

    MIDDLEWARE = [..., "django_jobqueue.middleware.QueueFullMiddleware"]    # for all views

    @answers_queue_full                                                    # or for one, as a webhook
    def hook(request): ...

Nothing is half written: what the view did in `atomic` blocks is rolled back as the exception leaves them, and so is the
transaction of ATOMIC_REQUESTS. Both are for views that are coroutines too.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.db import connections
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase

from django_jobqueue.exceptions import QueueFull

View = TypeVar("View", bound=Callable[..., Any])


class QueueFullMiddleware:
    """Answers 503 with Retry-After where an enqueue in a view raises QueueFull."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """Pass the request on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer for a QueueFull; it has left the view's transaction by now."""
        return busy(request, exception) if isinstance(exception, QueueFull) else None


def answers_queue_full(view: View) -> View:
    """Have a view answer 503 with Retry-After where an enqueue in it raises QueueFull."""
    if iscoroutinefunction(view):

        @functools.wraps(view)
        async def answer_later(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            try:
                return await view(request, *args, **kwargs)
            except QueueFull as error:
                return busy(request, error)

        return cast("View", answer_later)

    @functools.wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        try:
            return view(request, *args, **kwargs)
        except QueueFull as error:
            _roll_back_the_request()
            return busy(request, error)

    return cast("View", answer)


def busy(request: HttpRequest, error: QueueFull) -> HttpResponse:
    """Say when to come again, in JSON to a client that takes it. The world is not told which queue or key it is."""
    seconds = math.ceil(error.retry_after)
    words = "There is too much to do at the moment."
    answer: HttpResponse
    if _takes_json(request):
        answer = JsonResponse({"error": "busy", "detail": words, "retry_after": seconds}, status=503)
    else:
        text = f"{words} Try again in {seconds} s.\n"
        answer = HttpResponse(text, status=503, content_type="text/plain; charset=utf-8")
    answer["Retry-After"] = str(seconds)
    answer["Cache-Control"] = "no-store"
    return answer


def _takes_json(request: HttpRequest) -> bool:
    # A browser takes anything, and says that it would rather have HTML.
    return request.accepts("application/json") and "text/html" not in request.headers.get("Accept", "")


def _roll_back_the_request() -> None:
    """Have the transaction of ATOMIC_REQUESTS end so: it is outside of the view, and does not hear of the exception."""
    for connection in connections.all(initialized_only=True):
        if connection.settings_dict["ATOMIC_REQUESTS"] and connection.in_atomic_block:
            connection.set_rollback(True)
