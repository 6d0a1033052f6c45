"""Pause and resume: what is paused is not claimed, by anybody, from the moment on that says so."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from django_jobqueue import operations
from django_jobqueue.exceptions import Refused
from django_jobqueue.models import AuditEntry, Job, Pause
from django_jobqueue.store.control import Gate, hold
from django_jobqueue.store.session import Session
from django_jobqueue.store.statement import run_on
from tests.interleavings.deeds import ANN, claim
from tests.store.hands import COMMITS, TASK, add_job, at
from tests.waiting import wait_until

pytestmark = COMMITS

SIGNED = {"by": "ada", "reason": "the provider is down"}
HELD = Gate(is_held=True, has_pauses=False)
LIVE = {"queue_name": "mail", "run_after": at(-60)}


@pytest.fixture
def session():
    """A worker's connection."""
    session = Session("default")
    yield session
    session.close()


def claimed(session, *, by_group=False):
    """Claim as a worker does, and answer with the queues of what it got."""
    _, jobs = session.run(hold(), claim(ANN, 100, by_group=by_group))
    return sorted(Job.objects.filter(pk__in=[job.id for job in jobs]).values_list("queue_name", flat=True))


@pytest.mark.parametrize("by_group", [False, True], ids=["in order", "by group"])
@pytest.mark.parametrize(
    ("what", "left"),
    [
        ({"queue_name": "mail"}, ["mail-eu", "mail_x", "reports"]),
        ({"queue_name": "mail*"}, ["reports"]),
        ({"queue_name": "mail_*"}, ["mail", "mail-eu", "reports"]),
        ({"queue_name": "*"}, []),
        ({"task": TASK}, []),
        ({"task": "shop.*"}, []),
        ({"task": "shop"}, ["mail", "mail-eu", "mail_x", "reports"]),
    ],
    ids=str,
)
def test_what_is_paused_is_not_claimed(session, what, left, by_group):
    """A queue or a task, by its name or the beginning of it; resumed, it is claimed as before."""
    for queue in ("mail", "mail-eu", "mail_x", "reports"):
        add_job(queue_name=queue, run_after=at(-60))
    operations.pause(**what, **SIGNED)

    assert claimed(session, by_group=by_group) == left
    operations.resume(**what, **SIGNED)
    assert claimed(session, by_group=by_group) == sorted({"mail", "mail-eu", "mail_x", "reports"} - set(left))


def test_a_pause_ends_by_itself(session):
    """When its moment has come by PostgreSQL's clock; what is over is deleted with the next change."""
    add_job(**LIVE)
    operations.pause("mail", until=timezone.now() + timedelta(hours=1), **SIGNED)
    assert claimed(session) == []
    Pause.objects.update(until=at(-1))

    assert claimed(session) == ["mail"]
    operations.pause("reports", **SIGNED)
    assert [pause.target for pause in Pause.objects.all()] == ["reports"]


def test_a_pause_waits_for_claims_and_holds_the_next_ones_back(session):
    """No claim of the queue is committed after pause() has returned: not one that had begun, and not a later one."""
    add_job(**LIVE)
    add_job(**LIVE)
    with ThreadPoolExecutor() as pool:
        with transaction.atomic():
            # A worker that has claimed one, and takes its time to commit.
            run_on(connection, hold())
            run_on(connection, claim(ANN))
            pausing = pool.submit(in_a_thread, lambda: operations.pause("mail", **SIGNED))
            wait_until(someone_waits)
            assert session.run(hold(), claim(ANN)) == [HELD, []]
            assert not pausing.done()
        pausing.result(timeout=30)

    assert session.run(hold(), claim(ANN)) == [Gate(is_held=False, has_pauses=True), []]
    assert Job.objects.filter(status="RUNNING").count() == 1


def someone_waits():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
        return cursor.fetchone()[0]


def in_a_thread(work):
    try:
        return work()
    finally:
        connection.close()


def test_a_pause_that_is_not_committed_stops_every_claim_and_holds_nobody_up(session):
    """Whoever pauses in a transaction of their own keeps workers from claiming until it ends, and from nothing else."""
    add_job(queue_name="reports", run_after=at(-60))
    with transaction.atomic():
        operations.pause("mail", **SIGNED)
        assert session.run(hold(), claim(ANN)) == [HELD, []]
        transaction.set_rollback(True)

    assert claimed(session) == ["reports"]
    assert not Pause.objects.exists()


def test_who_paused_what_and_why_is_on_record():
    """Each pause and resume has one audit entry; a second pause has the new reason and end."""
    operations.pause("mail", **SIGNED)
    until = timezone.now() + timedelta(hours=1)
    again = operations.pause("mail", by="bob", reason="and it stays so", until=until)
    operations.resume("mail", by="ada", reason="it is back")

    assert (again.reason, again.paused_by, again.until) == ("and it stays so", "bob", until)
    entries = AuditEntry.objects.order_by("id").values_list("actor", "action", "object", "reason")
    assert list(entries) == [
        ("ada", "pause", "queue:mail", "the provider is down"),
        ("bob", "pause", "queue:mail", "and it stays so"),
        ("ada", "resume", "queue:mail", "it is back"),
    ]
    assert AuditEntry.objects.latest("id").before == {"paused": True, "until": until.isoformat()}


@pytest.mark.parametrize(
    ("verb", "words", "code"),
    [
        (operations.pause, {"queue_name": "mail", "by": "ada", "reason": " "}, "reason_required"),
        (operations.pause, {**SIGNED}, "target_required"),
        (operations.pause, {"queue_name": "mail", "task": "x", **SIGNED}, "target_required"),
        (operations.pause, {"queue_name": " ", **SIGNED}, "target_required"),
        (operations.pause, {"queue_name": "m" * 300, **SIGNED}, "target_required"),
        (operations.pause, {"queue_name": "a\nb", **SIGNED}, "target_required"),
        (operations.pause, {"queue_name": "ma*il", **SIGNED}, "target_required"),
        (operations.pause, {"queue_name": "mail", "until": timedelta(0), **SIGNED}, "until_has_passed"),
        (operations.resume, {"queue_name": "mail", **SIGNED}, "not_paused"),
    ],
)
def test_what_makes_no_sense_is_refused(verb, words, code):
    """With a code and what to type; nothing is changed."""
    with pytest.raises(Refused) as refused:
        verb(**words)

    assert refused.value.code == code
    assert not Pause.objects.exists()
    assert not AuditEntry.objects.exists()


def test_a_moment_that_has_passed_is_refused():
    """By PostgreSQL's clock; a pause that there was stays as it was."""
    operations.pause("mail", **SIGNED)
    with pytest.raises(Refused) as refused:
        operations.pause("mail", by="bob", reason="late", until=timezone.now() - timedelta(minutes=1))

    assert refused.value.code == "until_has_passed"
    assert Pause.objects.get().paused_by == "ada"


def test_what_is_not_paused_is_answered_with_what_is():
    """Whoever mistypes a name is told the names."""
    operations.pause("mail-*", **SIGNED)
    with pytest.raises(Refused, match=r"paused are: queue mail-\*"):
        operations.resume("mail", **SIGNED)


def test_a_pause_may_last_for_a_while():
    """A duration begins with the pause, by PostgreSQL's clock."""
    paused = operations.pause("mail", until=timedelta(hours=2), **SIGNED)

    assert paused.until - paused.paused_at == timedelta(hours=2)


@pytest.mark.parametrize(
    ("until", "error"),
    [
        (timedelta(days=40_000), ValueError),
        (datetime(9999, 12, 31, 23, 59, tzinfo=timezone.get_fixed_timezone(-60)), ValueError),
        (datetime(2999, 1, 1), ValueError),
        (3600, TypeError),
    ],
    ids=str,
)
def test_an_end_that_python_cannot_read_back_is_refused(until, error):
    """What is stored can be shown: not a year that Python does not have, nor a moment of no time zone."""
    with pytest.raises(error, match="until"):
        operations.pause("mail", until=until, **SIGNED)

    assert not Pause.objects.exists()


@pytest.mark.parametrize("target", ["mail", "mail*", "mail_*", "ma%*", "*", "x", "sh\\op*"])
def test_a_row_knows_what_it_covers_as_the_claim_does(target):
    """What people are told is paused is what LIKE finds: each letter stands for itself."""
    names = ["mail", "mail-eu", "mail_x", "mailx", "ma%il", "MAIL", "x", "sh\\op", ""]
    paused = operations.pause(target, **SIGNED)
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM unnest(%s::text[]) AS name WHERE name LIKE %s", [names, paused.pattern])
        claimed_not = {name for (name,) in cursor.fetchall()}

    assert {name for name in names if paused.covers(queue_name=name)} == claimed_not
    assert not any(paused.covers(task=name) for name in names)
