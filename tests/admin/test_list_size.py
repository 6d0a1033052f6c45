"""A list costs a bounded number of queries and bytes, and reads no column that could be big."""

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from django_jobqueue.admin.dead_letters import DeadLetterAdmin
from django_jobqueue.admin.jobs import JobAdmin
from django_jobqueue.models import Attempt, AuditEntry, DeadLetter, Job

from .conftest import ADMIN

ROWS = 100
MEGABYTE = 1_000_000


@pytest.fixture
def heavy_rows(db, monkeypatch):
    """A hundred dead letters whose jobs carry a megabyte of payload and of traceback each."""
    monkeypatch.setattr(JobAdmin, "list_per_page", ROWS)
    monkeypatch.setattr(DeadLetterAdmin, "list_per_page", ROWS)
    jobs = Job.objects.bulk_create(Job(task=f"shop.tasks.n{n % 7}", status="FAILED") for n in range(ROWS))
    DeadLetter.objects.bulk_create(
        DeadLetter(job=job, reason="expired", first_died_at=Now(), last_died_at=Now()) for job in jobs
    )
    Attempt.objects.bulk_create(Attempt(job=job, number=n, outcome="failed") for job in jobs for n in range(1, 4))
    with connection.cursor() as cursor:
        # Digits of hashes, because repeated text would be compressed to nothing.
        cursor.execute(
            "CREATE TEMP TABLE noise ON COMMIT DROP AS "
            "SELECT string_agg(md5(n::text), '') AS text FROM generate_series(1, 31250) n"
        )
        cursor.execute("UPDATE django_jobqueue_job SET args = jsonb_build_array(noise.text) FROM noise")
        cursor.execute("UPDATE django_jobqueue_attempt SET traceback = noise.text FROM noise WHERE number = 3")
    return jobs


def test_heavy_rows(boss, heavy_rows):
    """A list of a hundred rows with megabytes each takes at most 15 queries and 2 MB; a page shows a part."""
    rare = len(range(3, ROWS, 7))
    for address, expected in {
        "job/": ROWS,
        "job/?status=FAILED": ROWS,
        "job/?task=shop.tasks.n3": rare,
        "deadletter/": ROWS,
        "deadletter/?task=shop.tasks.n3": rare,
    }.items():
        with CaptureQueriesContext(connection) as queries:
            response = boss.get(f"{ADMIN}/{address}")

        assert len(response.context["cl"].result_list) == expected
        assert len(queries) <= 15, [query["sql"][:80] for query in queries]
        assert len(response.content) < 2 * MEGABYTE
        for query in queries:
            columns = query["sql"].partition(" FROM ")[0]
            assert not any(f'"{column}"' in columns for column in ("result", "traceback", "metadata"))

    letter = DeadLetter.objects.first()

    for address in (f"{ADMIN}/job/{letter.job_id}/change/", f"{ADMIN}/deadletter/{letter.pk}/change/"):
        with CaptureQueriesContext(connection) as queries:
            response = boss.get(address)
        assert len(queries) <= 15
        assert len(response.content) < MEGABYTE / 2
        assert "characters" in response.content.decode()


def test_queries_do_not_grow_with_rows(boss, job):
    """Three rows or thirty: a list asks the same number of questions."""
    counts = []
    for more in (3, 27):
        for _ in range(more):
            job()
        boss.get(f"{ADMIN}/job/")
        with CaptureQueriesContext(connection) as queries:
            boss.get(f"{ADMIN}/job/")
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_no_offset_and_no_full_count(boss, letter):
    """No list uses OFFSET to turn pages, an exact count of a table, or DISTINCT over one."""
    made = letter()
    AuditEntry.objects.create(actor="a", action="b", object="c")

    for address in (
        "job/",
        "job/?before=99",
        f"job/?after={made.job_id}",
        "deadletter/?status=all",
        "auditentry/",
        "worker/",
        "pause/",
        "limit/",
        "circuitbreaker/",
    ):
        with CaptureQueriesContext(connection) as queries:
            boss.get(f"{ADMIN}/{address}")
        for sql in (query["sql"] for query in queries):
            if "django_jobqueue" not in sql:
                continue
            assert "COUNT(*)" not in sql or "LIMIT" in sql, sql
            assert "OFFSET" not in sql, sql
            assert "DISTINCT" not in sql or "LIMIT 1000" in sql, sql


def test_one_row_is_counted_in_the_singular(boss, entry):
    """Below a list stands "1 audit entry", and from two on "2 audit entries"."""
    entry()
    assert "<span>1 audit entry</span>" in boss.get(f"{ADMIN}/auditentry/").content.decode()

    entry()
    assert "<span>2 audit entries</span>" in boss.get(f"{ADMIN}/auditentry/").content.decode()
