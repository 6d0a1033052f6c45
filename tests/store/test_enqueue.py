"""Enqueue: one INSERT in the caller's transaction."""

import pytest
from django.db import connection, transaction

from django_jobqueue.exceptions import MissingTables
from django_jobqueue.models import Job
from django_jobqueue.store.enqueue import NewJob, enqueue

pytestmark = pytest.mark.django_db(transaction=True)


def test_jobs_keep_their_order():
    """The answers are in the order of the jobs, and so are their ids."""
    rows = enqueue([NewJob(task=f"task.{number}") for number in range(50)], using="default")

    assert [row.id for row in rows] == sorted(row.id for row in rows)
    assert list(Job.objects.order_by("id").values_list("task", flat=True)) == [f"task.{number}" for number in range(50)]


def test_a_job_belongs_to_the_transaction_of_its_caller():
    """A rollback takes the job with it; a commit brings it."""
    with pytest.raises(RuntimeError), transaction.atomic():
        enqueue([NewJob(task="gone")], using="default")
        raise RuntimeError
    with transaction.atomic():
        enqueue([NewJob(task="there")], using="default")

    assert list(Job.objects.values_list("task", flat=True)) == ["there"]


@pytest.mark.parametrize("text", ['"', "\\", "{a,b}", "NULL", "a'b", "ü\n☃", "%s %(x)s", ""])
def test_any_text_arrives_as_it_was(text):
    """Quotes, braces, backslashes and the word NULL in a name are text like any other."""
    enqueue([NewJob(task=text or "t", queue_name=text)], using="default")

    assert Job.objects.get().queue_name == text


def test_missing_tables_are_told_with_what_to_type():
    """Before `migrate` an enqueue says which command is missing, not which relation."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE django_jobqueue_job RENAME TO elsewhere")
    try:
        with pytest.raises(MissingTables, match=r"run manage\.py migrate --database default"):
            enqueue([NewJob(task="t")], using="default")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE elsewhere RENAME TO django_jobqueue_job")
