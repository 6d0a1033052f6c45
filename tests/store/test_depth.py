"""Depth limits: no accepted enqueue takes the depth above the limit, and nobody waits for another's transaction."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from django_jobqueue import operations
from django_jobqueue.exceptions import QueueFull
from django_jobqueue.models import Credit, Job
from django_jobqueue.store import depth
from django_jobqueue.store.bounded import enqueue_bounded
from django_jobqueue.store.depth import Bound
from django_jobqueue.store.enqueue import Gates, NewJob
from django_jobqueue.store.rates import NO_RATES
from django_jobqueue.store.session import connect
from django_jobqueue.store.statement import run_on
from tests.races import race
from tests.store.hands import BURY, COMMITS, RELEASE, RETRY_NOW, TASK, at, replay

pytestmark = COMMITS


def mail(max_depth):
    return Bound("queue", "default", "mail", max_depth)


def ask(count=1, max_depth=10, **columns):
    """Enqueue jobs under a limit of the queue mail."""
    job = NewJob(**{"task": TASK, "queue_name": "mail", "bounds": (mail(max_depth),), **columns})
    return enqueue_bounded([job] * count, using="default")


def deep():
    return Job.objects.filter(status__in=["READY", "WAITING"]).count()


def room(max_depth=10):
    """How many more are taken, as far as anybody sees."""
    return depth.left(mail(max_depth), using="default")


def recount(times=4):
    """Count until nothing is left to do: of the slices of a scope each count takes every other one."""
    for _ in range(times):
        run_on(connection, depth.recount("queue", "default"))


def test_the_limit_is_reached_and_not_exceeded():
    """As many as the limit says are taken, one by one, and then no more."""
    for _ in range(10):
        ask()
    with pytest.raises(QueueFull, match="the queue mail is full: max_depth is 10"):
        ask()

    assert deep() == 10


def test_many_are_taken_together_or_not_at_all():
    """A batch that does not fit leaves no row, and what fits still does afterwards."""
    ask(70, max_depth=100)
    with pytest.raises(QueueFull):
        ask(31, max_depth=100)
    ask(30, max_depth=100)

    assert deep() == 100


def test_a_refusal_leaves_the_callers_transaction_usable():
    """What was written before stands, what comes after goes in, and both are committed."""
    ask(10)

    with transaction.atomic():
        Job.objects.create(task="before")
        with pytest.raises(QueueFull):
            ask()
        Job.objects.create(task="after")

    assert {*Job.objects.exclude(task=TASK).values_list("task", flat=True)} == {"before", "after"}
    assert deep() == 12


def test_a_rollback_gives_back():
    """Whether of the whole transaction or of a savepoint: the room is there again."""
    with pytest.raises(RuntimeError), transaction.atomic():
        ask(10)
        raise RuntimeError
    with transaction.atomic():
        ask(4)
        with pytest.raises(RuntimeError), transaction.atomic():
            ask(6)
            raise RuntimeError
        ask(6)

    assert deep() == 10


def test_a_claim_makes_room_at_once(worker):
    """What has started is not in the depth any more; its credit is back with the commit of the claim."""
    ask(10)
    worker.claim(4)

    ask(4)

    with pytest.raises(QueueFull):
        ask()


def test_a_claim_by_rates_and_one_by_age_make_room_too(worker):
    """Whatever kind of claim has taken a job, its credit is there for the next one."""
    ask(4, gates=Gates(rate_key=""))
    ask(6)
    Job.objects.filter(rate_key=None).update(run_after=at(-400))
    assert room() == 0

    assert len(worker.claim(6, aging_seconds=300)) == 6
    assert room() == 6
    assert len(worker.claim_rated(4, NO_RATES)) == 4
    assert room() == 10


def test_a_claim_that_gives_nothing_back_is_found_by_a_count(worker):
    """A worker that has not heard of the limit claims all the same; the depth is then under-used until a count."""
    ask(10)
    Credit.objects.update(writes=0)
    worker.gives_credits = False
    worker.claim(10)
    with pytest.raises(QueueFull):
        ask()

    recount()

    ask(10)


@pytest.mark.parametrize("decision", [RETRY_NOW, RELEASE], ids=["retry", "release"])
def test_what_comes_back_counts_without_a_credit(worker, decision):
    """A job that is to run again may exceed the limit, and an enqueue is refused until the depth is below."""
    ask(10)
    held = worker.claim(3)
    ask(3)
    worker.settle(*[each.settled_as(decision) for each in held])
    assert deep() == 13

    for left in (12, 11, 10):
        worker.claim(1)
        assert deep() == left
        with pytest.raises(QueueFull):
            ask()
    worker.claim(1)
    ask()

    assert deep() == 10


def test_what_falls_due_counts_at_once():
    """A job for later takes no room until its moment, and then it does, before anybody has promoted it."""
    ask(6, run_after=datetime.now(UTC) + timedelta(days=1))
    ask(10)
    Job.objects.filter(status="READY").delete()
    recount()
    Job.objects.update(run_after=at(-1))

    ask(4)

    with pytest.raises(QueueFull):
        ask()


def test_a_count_gives_a_credit_to_what_has_none(worker):
    """So that jobs which wait for their next attempt take up the room that they need once, and not in each slice."""
    ask(20, max_depth=64)
    held = worker.claim(20)
    worker.settle(*[each.settled_as(RETRY_NOW) for each in held])

    recount()

    assert Job.objects.filter(queue_credit=1).count() == 20
    assert room(64) == 44
    ask(44, max_depth=64)


def test_a_count_changes_nothing_that_is_right():
    """It finds what there is, and no more room than that."""
    ask(7)
    recount()

    assert room() == 3
    ask(3)
    with pytest.raises(QueueFull):
        ask()


def test_a_changed_limit_holds_from_the_next_enqueue():
    """A higher one makes room, a lower one is kept as soon as the depth is below."""
    ask(10)
    ask(5, max_depth=15)
    with pytest.raises(QueueFull):
        ask(1, max_depth=15)
    with pytest.raises(QueueFull):
        ask(1, max_depth=3)
    Job.objects.filter(pk__in=Job.objects.values("pk")[:13]).delete()
    recount()

    ask(1, max_depth=3)

    with pytest.raises(QueueFull):
        ask(1, max_depth=3)


def test_a_cancelled_job_gives_its_room_back():
    """With the commit of the cancel, and not with the next count."""
    (first, *_) = ask(10)
    operations.cancel(first.id, by="ada", reason="")

    ask()

    with pytest.raises(QueueFull):
        ask()


def test_a_dead_job_that_is_replayed_holds_no_credit(worker):
    """Its room was given to others when it was claimed."""
    ask(10)
    (held,) = worker.claim(1)
    worker.settle(held.settled_as(BURY))
    replay(held.id)

    with pytest.raises(QueueFull):
        ask()


def test_a_live_twin_takes_no_room_and_is_not_refused():
    """Who only finds the job that holds the key is answered with it, however full the queue is."""
    ask(9)
    (first,) = ask(unique_key="k")

    (second,) = ask(unique_key="k")

    assert (second.id, second.created) == (first.id, False)
    with pytest.raises(QueueFull):
        ask(unique_key="another")
    assert deep() == 10


def test_keys_of_one_batch_take_room_once_each():
    """A key that is asked for twice in a batch is one job."""
    bound = (mail(3),)
    jobs = [NewJob(TASK, queue_name="mail", bounds=bound, unique_key=key) for key in "abacb"]

    rows = enqueue_bounded(jobs, using="default")

    assert [row.created for row in rows] == [True, True, False, True, False]
    with pytest.raises(QueueFull):
        ask(max_depth=3)


def test_nobody_waits_for_anothers_transaction():
    """While one has taken in an open transaction, others take from what is left; also at the very first."""
    with connect("default") as stranger:
        stranger.execute("SET lock_timeout = '5s'")

        def ask_elsewhere():
            ask()

        with transaction.atomic():
            ask()
            race(*[ask_elsewhere] * 4)
            ask()

    assert deep() == 6


def test_a_lock_on_every_slice_refuses_early():
    """Where another transaction has all slices locked, there is no room to be seen, and no wait."""
    ask()
    with connect("default") as stranger, stranger.transaction():
        stranger.execute("SELECT FROM django_jobqueue_credit FOR UPDATE")
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '5s'")
            for _ in range(9):
                ask()
            with pytest.raises(QueueFull):
                ask()
    assert deep() == 10


def test_retry_after_comes_from_what_was_claimed_lately(worker):
    """A limit that is drained by a hundred a second is worth a second's wait; one that is not has a default."""
    ask(10)
    with pytest.raises(QueueFull) as refusal:
        ask()
    assert refusal.value.retry_after == depth.DEFAULT_RETRY_SECONDS

    worker.claim(10)
    ask(10)
    with pytest.raises(QueueFull) as refusal:
        ask()

    # Ten in a minute: room for one more in six seconds.
    assert refusal.value.retry_after == pytest.approx(6, rel=0.5)
    with pytest.raises(QueueFull) as refusal:
        ask(10)
    assert refusal.value.retry_after == pytest.approx(60, rel=0.5)


def test_slices_of_an_idle_key_are_forgotten(worker):
    """Where it has no job, and its last claim is some time ago; they count as full, as they were."""
    key = Bound("key", "default", "tenant:1", 5)
    job = NewJob(TASK, gates=Gates(concurrency_key="tenant:1"), bounds=(key,))
    enqueue_bounded([job] * 5, using="default")

    def forget(after_seconds):
        return run_on(connection, depth.forget("key", "default", after_seconds=after_seconds))

    assert forget(0) == 0
    worker.claim(5)
    assert forget(60) == 0
    with connect("default") as stranger, stranger.transaction():
        stranger.execute("SELECT FROM django_jobqueue_credit WHERE slot = 3 FOR UPDATE")
        assert forget(0) == 0

    assert forget(0) == 5

    assert not Credit.objects.exists()
    enqueue_bounded([job] * 5, using="default")
    with pytest.raises(QueueFull):
        enqueue_bounded([job], using="default")


class TestCost:
    """An enqueue under a limit reads a few pages, however many jobs there are."""

    FILL = """
    INSERT INTO django_jobqueue_job (task, queue_name, status, waiting_for, run_after, queue_credit)
    SELECT %(task)s, %(queue)s, %(status)s, %(waiting_for)s, statement_timestamp() + %(due)s::interval, %(credit)s
    FROM generate_series(1, %(count)s)
    """

    @pytest.fixture
    def full(self):
        """Fill a table without statistics: plain jobs, jobs for tomorrow, and jobs that hold credits."""
        rows = [
            (20_000, "mail", "READY", "", "-1 minute", None),
            (20_000, "mail", "WAITING", "time", "1 day", 0),
            (20_000, "mail", "READY", "", "-1 minute", 1),
            (20_000, "other", "READY", "", "-1 minute", 0),
        ]
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE django_jobqueue_job SET (autovacuum_enabled = off)")
            for count, queue, status, waiting_for, due_in, credit in rows:
                columns = {"task": TASK, "queue": queue, "status": status, "waiting_for": waiting_for}
                cursor.execute(self.FILL, {**columns, "count": count, "due": due_in, "credit": credit})
        ask(1, max_depth=100_000)
        recount()
        yield
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE django_jobqueue_job RESET (autovacuum_enabled)")

    def pages(self, statement):
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement.sql}", statement.params)
            plan = cursor.fetchone()[0][0]["Plan"]
        return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]

    def test_to_take_reads_a_few_pages(self, full):
        """Jobs of others, those for later and those that hold a credit are not looked at."""
        with transaction.atomic():
            pages = self.pages(depth._taking({mail(100_000): 1}, width=1))

        assert pages < 60

    def test_a_look_reads_a_few_pages(self, full):
        """A refusal costs no count of the queue."""
        assert self.pages(depth._looking(mail(100_000))) < 60
