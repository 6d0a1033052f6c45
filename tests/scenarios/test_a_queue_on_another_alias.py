"""A real worker for a queue whose tables are on another alias than the project's data."""

import pytest
from django.db import connection

from django_jobqueue.models import Job
from tests.scenarios.conftest import SECONDS, TERM
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def two_databases(database_url):
    """Habits of a project whose `default` is a database of its own, and whose queue is in the test's."""
    name = f"{connection.settings_dict['NAME']}_data"
    with connection.cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{name}"')
    test_database = f"/{connection.settings_dict['NAME']}?"
    yield {
        "database_url": database_url.replace(test_database, f"/{name}?"),
        "options": {"database": "queue"},
        "settings": {"DATABASE_ROUTERS": ["django_jobqueue.routers.JobQueueRouter"]},
        "environment": {"STAGE_QUEUE_URL": database_url},
    }
    with connection.cursor() as cursor:
        cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def test_a_worker_takes_its_jobs_there_and_does_their_work_here(two_databases, start_worker, run_program):
    """Jobs are claimed, retried and settled on the queue's alias; what they write is in the project's own database."""
    run_program(
        """
        from django.core.management import call_command
        from django.db import connections
        from tests.stage.models import Order, Trace
        with connections["default"].schema_editor() as editor:
            for model in (Trace, Order):
                editor.create_model(model)
        """,
        **two_databases,
    )
    worker = start_worker("--processes", "2", **two_databases)
    run_program(
        """
        tasks.start.get_backend().enqueue_many([(tasks.start, (), {})] * 20)
        tasks.fail_at_first.enqueue(1)
        tasks.fail.enqueue()
        tasks.return_from_a_coroutine.enqueue(1)
        """,
        **two_databases,
    )
    wait_until(lambda: Job.objects.filter(status__in=["SUCCESSFUL", "FAILED"]).count() == 23, seconds=SECONDS)

    assert Job.objects.filter(status="FAILED").get().dead_letter.reason == "attempts_exhausted"
    counted = """
        from tests.stage.models import Trace
        from django.db import connections
        print(Trace.objects.filter(attempt=1).count(), connections["default"].introspection.table_names())
        """
    assert run_program(counted, **two_databases).strip() == "21 ['stage_order', 'stage_trace']"
    worker.send(TERM)
    assert worker.wait() == 0
    assert not Job.objects.filter(status="RUNNING").exists()
