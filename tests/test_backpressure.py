"""Backpressure from the door: what OPTIONS `queues` declares, what a caller is told, and what a client sees."""

import pickle
from datetime import UTC, datetime, timedelta

import pytest
from asgiref.sync import async_to_sync
from django.core.checks import run_checks
from django.db import connections, transaction
from django.http import HttpResponse
from django.test import AsyncClient, Client, override_settings
from django.urls import path

from django_jobqueue import task
from django_jobqueue.compat import task_backends
from django_jobqueue.exceptions import JobQueueError, QueueFull
from django_jobqueue.middleware import answers_queue_full
from django_jobqueue.models import Job
from django_jobqueue.testing import run_jobs
from tests.stage.models import Trace
from tests.store.hands import at

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]


@task(queue_name="mail")
def send(number): ...


def order(request):
    """Write a row, then ask for more jobs than the queue takes."""
    with transaction.atomic():
        Trace.objects.create(what="ordered", job_id=0)
        for number in range(3):
            send.enqueue(number)
    return HttpResponse("done")


async def order_async(request):
    for number in range(3):
        await send.aenqueue(number)
    return HttpResponse("done")


def half(request):
    """Write a row outside of any block of its own."""
    Trace.objects.create(what="half", job_id=0)
    for number in range(3):
        send.enqueue(number)
    return HttpResponse("done")


urlpatterns = [
    path("bare/", order),
    path("bare-async/", order_async),
    path("decorated/", answers_queue_full(order)),
    path("decorated-async/", answers_queue_full(order_async)),
    path("half/", half),
    path("decorated-half/", answers_queue_full(half)),
]

MIDDLEWARE = override_settings(MIDDLEWARE=["django_jobqueue.middleware.QueueFullMiddleware"])


@task(max_depth=2)
def report(number): ...


@task(concurrency_key="tenant:{tenant_id}", max_depth=2)
def sync(tenant_id): ...


@pytest.fixture
def queues(settings):
    """Set the rules of queues of the default alias."""

    def set_rules(rules):
        default = settings.TASKS["default"]
        settings.TASKS = {"default": default | {"OPTIONS": default["OPTIONS"] | {"queues": rules}}}

    return set_rules


@pytest.fixture
def two(queues):
    """A queue that takes two."""
    queues({"mail": {"max_depth": 2}})


def test_a_full_queue_is_told_with_what_to_do(two):
    """Which queue, its limit, and in how many seconds to come again; it is an error of the queue's."""
    send.enqueue(1)
    send.enqueue(2)

    with pytest.raises(QueueFull, match=r"the queue mail is full: max_depth is 2; try again in \d+ s") as refusal:
        send.enqueue(3)

    error = refusal.value
    assert (error.kind, error.target, error.max_depth) == ("queue", "mail", 2)
    assert isinstance(error, JobQueueError)
    assert isinstance(error.retry_after, float)
    assert 1 <= error.retry_after <= 3600
    assert pickle.loads(pickle.dumps(error)).retry_after == error.retry_after
    assert Job.objects.count() == 2


def test_other_queues_are_not_concerned(two):
    """A limit is that of one queue."""
    for number in range(5):
        send.using(queue_name="other").enqueue(number)

    assert Job.objects.count() == 5


def test_a_plain_job_carries_nothing(queues):
    """What is under no limit has no credit, and needs none."""
    send.enqueue(1)

    assert Job.objects.values_list("queue_credit", "task_credit", "key_credit").get() == (None, None, None)


def test_many_go_in_together_or_not_at_all(two):
    """enqueue_many is refused as a whole, also where only some of its jobs are under a limit."""
    backend = task_backends["default"]
    other = send.using(queue_name="other")

    with pytest.raises(QueueFull):
        backend.enqueue_many([(other, (0,), {}), *[(send, (number,), {}) for number in range(3)]])
    backend.enqueue_many([(other, (0,), {}), *[(send, (number,), {}) for number in range(2)]])

    assert Job.objects.count() == 3


def test_there_is_room_again_when_jobs_have_run(two):
    """What has started is not in the depth."""
    for _ in range(3):
        send.enqueue(1)
        send.enqueue(2)
        run_jobs()

    assert Job.objects.filter(status="SUCCESSFUL").count() == 6


def test_an_old_queue_is_full(queues):
    """While the oldest due job has waited for longer than the queue allows, nothing is taken; retries count too."""
    queues({"mail": {"max_age_seconds": 600}})
    for number in range(3):
        send.enqueue(number)
    Job.objects.filter(pk=Job.objects.first().pk).update(run_after=at(-601))

    with pytest.raises(QueueFull, match="its oldest job has waited for more than max_age_seconds, 600") as refusal:
        send.enqueue(4)
    assert pickle.loads(pickle.dumps(refusal.value)).max_age_seconds == 600
    run_jobs()
    send.enqueue(5)

    assert Job.objects.count() == 4


def test_a_job_for_later_is_not_old(queues):
    """Age is counted from the moment that a job is due."""
    queues({"mail": {"max_age_seconds": 600}})
    send.using(run_after=datetime.now(UTC) + timedelta(hours=1)).enqueue(1)

    send.enqueue(2)

    assert Job.objects.count() == 2


def test_a_task_has_a_limit_of_its_own(queues):
    """In whatever queue its jobs are."""
    report.enqueue(1)
    report.using(queue_name="other").enqueue(2)

    with pytest.raises(QueueFull, match=r"the task tests\.test_backpressure\.report is full"):
        report.enqueue(3)


def test_each_key_has_a_limit_of_its_own(queues):
    """A tenant who asks for too much is refused, and no other one; there is room again when its jobs have run."""
    sync.enqueue(1)
    sync.enqueue(1)
    sync.enqueue(2)

    with pytest.raises(QueueFull, match="the key tenant:1 is full: max_depth is 2"):
        sync.enqueue(1)
    run_jobs()
    sync.enqueue(1)

    assert Job.objects.filter(concurrency_key="tenant:1").count() == 3


def test_a_job_is_under_all_its_limits(queues):
    """What is refused by one has taken nothing of the others."""
    queues({"mail": {"max_depth": 3}})
    limited = report.using(queue_name="mail")
    limited.enqueue(1)
    limited.enqueue(2)
    for _ in range(3):
        with pytest.raises(QueueFull, match="the task"):
            limited.enqueue(3)

    send.enqueue(4)

    with pytest.raises(QueueFull, match="the queue"):
        send.enqueue(5)


@pytest.mark.parametrize(("value", "words"), [(0, "from 1 to"), ("10", "from 1 to"), (True, "from 1 to")])
def test_a_wrong_limit_is_told(queues, value, words):
    """The check says which queue, which rule, and what it takes."""
    queues({"mail": {"max_depth": value}})

    (problem,) = [message.msg for message in run_checks() if "max_depth" in message.msg]

    assert "queues['mail']['max_depth']" in problem
    assert words in problem


# --- What a client sees


def said(answer):
    return answer.status_code, int(answer.headers["Retry-After"]), answer.headers["Cache-Control"]


def test_a_decorated_view_answers_503(two):
    """With when to come again, for nobody's cache, and nothing of the view is written."""
    answer = Client().get("/decorated/")

    assert said(answer) == (503, 10, "no-store")
    assert answer.json() == {"error": "busy", "detail": "There is too much to do at the moment.", "retry_after": 10}
    assert not Job.objects.exists()
    assert not Trace.objects.exists()


def test_a_browser_gets_words(two):
    """Who asks for a page gets text, which does not name the queue."""
    answer = Client().get("/decorated/", headers={"Accept": "text/html,*/*;q=0.8"})

    assert said(answer) == (503, 10, "no-store")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.content == b"There is too much to do at the moment. Try again in 10 s.\n"


@MIDDLEWARE
def test_the_middleware_answers_for_every_view(two):
    """A view need not know of it."""
    assert said(Client().get("/bare/")) == (503, 10, "no-store")
    assert not Job.objects.exists()


def test_without_either_it_is_an_error(two):
    """The exception goes the way of any other."""
    with pytest.raises(QueueFull):
        Client().get("/bare/")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("address", ["/half/", "/decorated-half/"])
def test_atomic_requests_leave_nothing_half_written(two, address):
    """Whether the middleware answers or the decorator, inside of the request's transaction: it is rolled back."""
    connection = connections["default"]
    connection.settings_dict["ATOMIC_REQUESTS"] = True
    try:
        with MIDDLEWARE:
            answer = Client().get(address)
    finally:
        connection.settings_dict["ATOMIC_REQUESTS"] = False

    assert said(answer) == (503, 10, "no-store")
    assert not Job.objects.exists()
    assert not Trace.objects.exists()


@pytest.mark.django_db(transaction=True)
@MIDDLEWARE
@pytest.mark.parametrize("address", ["/bare-async/", "/decorated-async/"])
def test_coroutines_are_views_too(two, address):
    """Under ASGI it is the same answer."""
    assert said(async_to_sync(AsyncClient().get)(address)) == (503, 10, "no-store")
    assert Job.objects.count() == 2
