"""Any row can be looked at, however damaged, and the rows beside it are shown too."""

import json
import re
import uuid

import pytest
from django.db import connection

from django_jobqueue.models import Attempt, AuditEntry, DeadLetter, Job, Pause, Worker

from .conftest import ADMIN, pages_of

NASTY_TEXT = "a\x01b\x1b[31m\u202egnp.exe\u2066\ufeff\r\n\t" + "é" * 50
DEEP = "[" * 5_000 + "]" * 5_000
LONG_NUMBER = "9" * 20_000
TIMES = [
    "9999-12-31 23:59:59.999999+00",
    "0001-01-01 00:00:00+00",
    "20000-01-01",
    "4713-01-01 BC",
    "infinity",
    "-infinity",
]
PAYLOADS = [
    "null",
    '"str"',
    "5",
    "[]",
    "{}",
    DEEP,
    LONG_NUMBER,
    '{"a": {"b": [1e400]}}',
    '["\\u202e"]',
    json.dumps("x" * 1_000_000),
]


@pytest.fixture
def all_pages_answer(boss, letter, job):
    """Open everything at which a row can be met; what is sound beside it must still be there."""
    sound, waiting = letter(), job()

    def check(*rows):
        for row in rows:
            for address in pages_of(row):
                # A pause that is over has no page any more.
                assert boss.get(address, follow=isinstance(row, Pause)).status_code == 200, address
        for query in ("", "?status=all", "?status=all&task=shop.tasks.charge", "?status=all&reason=expired", "?q=shop"):
            assert boss.get(f"{ADMIN}/deadletter/{query}").status_code == 200, query
        for query in ("", "?status=FAILED", "?status=READY", "?status=RUNNING", "?queue=default", "?q=charge"):
            assert boss.get(f"{ADMIN}/job/{query}").status_code == 200, query
        for name, model in (("replay", DeadLetter), ("discard", DeadLetter), ("cancel", Job)):
            chosen = [row.pk for row in rows if isinstance(row, model)]
            data = {"_selected_action": chosen, "reason": "x"}
            address = f"{ADMIN}/{model._meta.model_name}/{name}/"
            assert boss.post(address, data, follow=True).status_code == 200
            assert boss.post(address, data | {"confirm": "1"}, follow=True).status_code == 200
        letters = [row.pk for row in boss.get(f"{ADMIN}/deadletter/").context["cl"].result_list]
        jobs = [row.pk for row in boss.get(f"{ADMIN}/job/").context["cl"].result_list]
        assert sound.pk in letters
        assert {waiting.pk, sound.job_id} <= set(jobs)

    return check


def test_any_json(all_pages_answer, letter, job, by_hand):
    """JSON may be of another shape, too deep or too large for Python, or hold a number too long for it."""
    columns = ("args", "kwargs", "result", "progress", "tags", "metadata")
    changes = ", ".join(f"{column} = %s::jsonb" for column in columns)
    rows = []
    for payload in PAYLOADS:
        made, done = letter(), job(status="SUCCESSFUL")
        ids = [made.job_id, done.pk]
        by_hand(f"UPDATE django_jobqueue_job SET {changes} WHERE id = ANY(%s)", *[payload] * len(columns), ids)
        rows += [made, done]

    all_pages_answer(*rows)


def test_any_time_of_a_job(all_pages_answer, job, by_hand):
    """A time may be any that PostgreSQL can hold, most of which Python cannot, in each state of a job."""
    columns = [f.column for f in Job._meta.fields if f.get_internal_type() == "DateTimeField"]
    changes = ", ".join(f"{column} = %s" for column in columns)
    rows = []
    for moment in TIMES:
        made = [job(status=status) for status in Job.Status.values]
        ids = [row.pk for row in made]
        by_hand(f"UPDATE django_jobqueue_job SET {changes} WHERE id = ANY(%s)", *[moment] * len(columns), ids)
        by_hand("UPDATE django_jobqueue_attempt SET started_at = %s WHERE job_id = ANY(%s)", moment, ids)
        rows += made

    all_pages_answer(*rows)


def test_any_time_of_a_pause(all_pages_answer, job, pause, by_hand):
    """A pause may have been made, and end, whenever PostgreSQL likes; the pages of the jobs that it stops say so."""
    rows = [job(queue_name=f"queue-{n}") for n in range(len(TIMES))]
    for n, moment in enumerate(TIMES):
        made = pause(f"queue-{n}")
        by_hand("UPDATE django_jobqueue_pause SET paused_at = %s, until = %s WHERE id = %s", moment, moment, made.pk)
        rows.append(made)
    rows.append(pause(NASTY_TEXT[:100], reason=NASTY_TEXT, paused_by=NASTY_TEXT[:100]))

    all_pages_answer(*rows)


def test_any_time_of_a_breaker(all_pages_answer, breaker, by_hand):
    """A breaker may have changed, and be probed, whenever PostgreSQL likes."""
    rows = []
    columns = ("window_started_at", "changed_at", "opened_at", "next_probe_at")
    changes = ", ".join(f"{column} = %s" for column in columns)
    for n, moment in enumerate(TIMES):
        made = breaker(f"breaker-{n}")
        by_hand(f"UPDATE django_jobqueue_circuitbreaker SET {changes} WHERE id = %s", *[moment] * 4, made.pk)
        rows.append(made)
    rows.append(breaker(NASTY_TEXT[:100], reason=NASTY_TEXT, set_by=NASTY_TEXT[:100]))

    all_pages_answer(*rows)


def test_any_time_of_others(all_pages_answer, letter, worker, entry, by_hand):
    """Letters, workers and entries may hold any time too."""
    rows = []
    for moment in TIMES:
        for row in (letter(), worker(), worker(), entry()):
            columns = [f.column for f in row._meta.fields if f.get_internal_type() == "DateTimeField"]
            # One of the two workers has not stopped.
            columns = [c for c in columns if c != "stopped_at" or len(rows) % 4 == 1]
            changes = ", ".join(f"{column} = %s" for column in columns)
            by_hand(f"UPDATE {row._meta.db_table} SET {changes} WHERE id = %s", *[moment] * len(columns), row.pk)
            rows.append(row)

    all_pages_answer(*rows)


@pytest.mark.parametrize("moment", TIMES)
def test_pages_turn_past_any_time(boss, letter, by_hand, monkeypatch, moment):
    """Older leads past a letter whose time Python cannot hold."""
    monkeypatch.setattr("django_jobqueue.admin.dead_letters.DeadLetterAdmin.list_per_page", 1)
    made = {letter().pk for _ in range(3)}
    by_hand("UPDATE django_jobqueue_deadletter SET last_died_at = %s WHERE id = %s", moment, min(made))

    seen, response = [], boss.get(f"{ADMIN}/deadletter/")
    while True:
        seen += [row.pk for row in response.context["cl"].result_list]
        if not (url := response.context["cl"].older_url):
            break
        response = boss.get(f"{ADMIN}/deadletter/{url}")

    assert sorted(seen) == sorted(made)


def test_huge_traceback(boss, all_pages_answer, letter):
    """A traceback of 5 MB is shown by its beginning and its end."""
    made = letter(attempt={"traceback": "BEGIN" + "x" * 5_000_000 + "END", "message": "m" * 5_000_000})

    response = boss.get(f"{ADMIN}/deadletter/{made.pk}/change/")

    page = response.content.decode()
    assert "BEGIN" in page
    assert "END" in page
    assert "are left out" in page
    assert len(response.content) < 200_000
    all_pages_answer(made, made.job)


def test_unknown_words(all_pages_answer, letter, job, by_hand):
    """A status, reason, outcome or task that this release does not know is shown as it is stored."""
    made, other = letter(), job()
    by_hand("UPDATE django_jobqueue_job SET status = 'ZOMBIE', waiting_for = '?', task = '...' WHERE id = %s", other.pk)
    by_hand("UPDATE django_jobqueue_deadletter SET status = 'LIMBO', reason = 'fate' WHERE id = %s", made.pk)
    by_hand("UPDATE django_jobqueue_attempt SET outcome = 'vanished' WHERE job_id = %s", made.job_id)

    all_pages_answer(made, made.job, other)


def test_any_task_name(all_pages_answer, letter, job):
    """The name of a task is text; nothing is imported to show it."""
    names = ["", ".", "a.", ".b", "no_such_module.task", "x" * 255, NASTY_TEXT[:60], " ", "a:b/c?d#e"]

    all_pages_answer(*(make(task=name) for name in names for make in (letter, job)))


def test_invisible_characters_are_shown(boss, letter, by_hand):
    """What would hide, or turn the text around it, is written as its code."""
    made = letter(queue_name="q\u202eq", attempt={"message": NASTY_TEXT, "traceback": NASTY_TEXT})

    for address in (*pages_of(made), *pages_of(made.job)):
        # The value of an option is sent back, not shown.
        page = re.sub(r'<option value="[^"]*"', "", boss.get(address).content.decode())
        for character in ("\u202e", "\u2066", "\ufeff", "\x01", "\x1b"):
            assert character not in page, (address, character)
    assert "⟨U+202E⟩" in boss.get(pages_of(made)[1]).content.decode()


def test_nulls_everywhere(all_pages_answer, letter, job):
    """Every column that may be NULL is, in a running job too."""
    made = letter(worker_id=None, started_at=None, last_attempted_at=None, finished_at=None)
    Attempt.objects.update(worker_id=None, started_at=None, finished_at=None)
    running = job(status="RUNNING", worker_id=None, last_attempted_at=None, lease_token=None, lease_expires_at=None)

    all_pages_answer(made, made.job, running)


def test_job_is_gone(boss, all_pages_answer, letter, by_hand):
    """A letter whose job was deleted by hand is listed, says so, and can be opened."""
    made = letter()
    by_hand("DELETE FROM django_jobqueue_job WHERE id = %s", made.job_id)

    assert f"job {made.job_id} is gone" in boss.get(f"{ADMIN}/deadletter/").content.decode()
    all_pages_answer(made)

    # Or the end of the test would find the reference to nothing.
    made.delete()


def test_worker_is_gone(all_pages_answer, job):
    """A job of a worker that is no longer on record shows the beginning of its id."""
    all_pages_answer(job(status="RUNNING", worker_id=uuid.UUID(int=0)))


def test_any_json_of_others(boss, worker, entry, by_hand):
    """What a worker serves and what an entry recorded may be any JSON."""
    for payload in PAYLOADS:
        made = [worker(hostname=NASTY_TEXT), entry(actor=NASTY_TEXT, reason=NASTY_TEXT, action="", object="")]
        by_hand("UPDATE django_jobqueue_worker SET queues = %s::jsonb", payload)
        by_hand("UPDATE django_jobqueue_auditentry SET before = %s::jsonb, after = %s::jsonb", payload, payload)

        for row in made:
            for address in pages_of(row):
                assert boss.get(address).status_code == 200, (address, payload[:20])


def test_numbers_at_their_ends(all_pages_answer, letter, by_hand):
    """Counts may be zero, or as large as they come."""
    made = letter()
    for number in (0, 2_147_483_647):
        by_hand(
            "UPDATE django_jobqueue_job SET max_attempts = %s, attempt_count = %s, failure_count = %s", *[number] * 3
        )
        by_hand("UPDATE django_jobqueue_deadletter SET deaths = %s", number)
        by_hand("UPDATE django_jobqueue_attempt SET number = %s WHERE number IN (3, 0)", number)
        all_pages_answer(made, made.job)


def test_one_cell_fails_alone(boss, letter, monkeypatch, caplog):
    """If a column's code itself fails, the cell says "unreadable", the log says why, and the list stands."""
    letter()
    monkeypatch.setattr("django_jobqueue.admin.dead_letters.explain", lambda reason: 1 / 0)

    page = boss.get(f"{ADMIN}/deadletter/").content.decode()

    assert "unreadable" in page
    assert "charge" in page
    assert "ZeroDivisionError" in caplog.text


def test_tables_are_as_the_tests_think():
    """Names used in raw SQL here are those of the models."""
    for model in (Job, DeadLetter, Attempt, AuditEntry, Worker):
        assert model._meta.db_table == f"django_jobqueue_{model.__name__.lower()}"
    assert connection.vendor == "postgresql"
