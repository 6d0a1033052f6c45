"""What an enqueue is atomic with: the transaction that is open on the queue's database in this thread."""

from contextlib import suppress

import pytest
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import AsyncClient, Client, TransactionTestCase
from django.urls import path

from django_jobqueue.models import Job
from tests import tasks as cast
from tests.stage.models import Trace

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.urls(__name__)]


def work(request):
    """Write a row, ask for a job, and end as the address says."""
    Trace.objects.create(what="row")
    cast.succeed.enqueue()
    if request.path == "/raise/":
        raise RuntimeError
    return HttpResponse(status=500 if request.path == "/error/" else 200)


@transaction.non_atomic_requests
async def work_async(request):
    """Do the same from the event loop."""
    await Trace.objects.acreate(what="row")
    await cast.succeed.aenqueue()
    raise RuntimeError


urlpatterns = [*[path(f"{name}/", work) for name in ("return", "error", "raise")], path("async/", work_async)]


@pytest.fixture(autouse=True)
def no_traces():
    """The tables of the tests are not emptied with those of the queue."""
    yield
    Trace.objects.all().delete()


@pytest.fixture
def atomic_requests():
    """As a project says it in DATABASES."""
    connection.settings_dict["ATOMIC_REQUESTS"] = True
    yield
    connection.settings_dict["ATOMIC_REQUESTS"] = False


def there():
    """Count the rows and the jobs."""
    return Trace.objects.count(), Job.objects.count()


@pytest.mark.parametrize(("address", "expected"), [("/return/", (1, 1)), ("/error/", (1, 1)), ("/raise/", (0, 0))])
def test_with_atomic_requests_job_and_rows_of_a_view_are_one(atomic_requests, address, expected):
    """A view that raises takes back both; a response keeps both, whatever its status is."""
    Client(raise_request_exception=False).get(address)

    assert there() == expected


def test_without_atomic_requests_each_is_there_at_once():
    """Nobody has asked for a transaction: the job stays, and so does the row."""
    Client(raise_request_exception=False).get("/raise/")

    assert there() == (1, 1)


class TestAsync(TransactionTestCase):
    """With Django's own async client."""

    async def test_an_async_view_has_no_transaction(self):
        """Django has none for coroutines: the job is committed by itself, and stays though the view raises."""
        await AsyncClient(raise_request_exception=False).get("/async/")

        assert (await Trace.objects.acount(), await Job.objects.acount()) == (1, 1)


def test_a_savepoint_that_is_rolled_back_takes_its_jobs_with_it():
    """And those only."""
    with transaction.atomic():
        cast.succeed.enqueue()
        with suppress(RuntimeError), transaction.atomic():
            cast.succeed.enqueue()
            raise RuntimeError

    assert Job.objects.count() == 1


def test_a_job_of_on_commit_is_a_transaction_of_its_own():
    """It is enqueued after the commit: where the process dies in between, there are rows and no job."""
    with suppress(RuntimeError), transaction.atomic():
        Trace.objects.create(what="row")
        transaction.on_commit(fail)
        transaction.on_commit(cast.succeed.enqueue)

    assert there() == (1, 0)


def fail():
    raise RuntimeError
