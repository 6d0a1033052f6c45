"""Depth limits under fire: sixteen who enqueue at once, commit or roll back, beside claims and counts."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, connections, transaction

from django_jobqueue import operations
from django_jobqueue.exceptions import QueueFull, Refused
from django_jobqueue.models import Job
from django_jobqueue.store import depth
from django_jobqueue.store.bounded import enqueue_bounded
from django_jobqueue.store.depth import Bound
from django_jobqueue.store.enqueue import NewJob
from django_jobqueue.store.session import connect
from django_jobqueue.store.statement import run_on
from tests.store.hands import COMMITS, FINISH, RELEASE, RETRY_NOW, TASK, Hand

pytestmark = COMMITS

CLIENTS = 16
PATIENCE_SECONDS = 120.0

SNAPSHOT = """
SELECT
    (
        SELECT count(*) FROM django_jobqueue_job
        WHERE status = 'READY' OR (status = 'WAITING' AND run_after <= statement_timestamp())
    ),
    (SELECT count(*) FROM django_jobqueue_job WHERE status IN ('READY', 'WAITING') AND queue_credit = 1),
    (SELECT COALESCE(sum(amount), 0) FROM django_jobqueue_credit),
    (SELECT COALESCE(array_agg(slot), '{}') FROM django_jobqueue_credit)
"""


class Storm:
    """Several kinds of people, who all act again and again until so many jobs were accepted."""

    def __init__(self, max_depth, enough):
        self._enough = enough
        self.bound = Bound("queue", "default", "mail", max_depth)
        self.job = NewJob(TASK, queue_name="mail", bounds=(self.bound,))
        self.accepted = self.refused = 0
        self.deepest = self.most_credits = 0
        self._over = threading.Event()
        self._lock = threading.Lock()

    def rage(self, *people):
        """Let them act; whoever fails fails the test."""
        self._deadline = time.monotonic() + PATIENCE_SECONDS
        with ThreadPoolExecutor(len(people)) as pool:
            for each in [pool.submit(self._live, person, number) for number, person in enumerate(people)]:
                each.result()

    def _live(self, person, number):
        dice = random.Random(number)
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '10s'")
            for _ in person(dice):
                if self.accepted >= self._enough or time.monotonic() > self._deadline:
                    self._over.set()
                if self._over.is_set():
                    return
        except BaseException:
            self._over.set()
            raise
        finally:
            connections.close_all()

    def producer(self, dice):
        """Ask for a few jobs in a transaction, now and then in a savepoint, and commit or roll back."""
        while True:
            count = dice.choice([1, 1, 1, 2, 5])
            try:
                with transaction.atomic():
                    enqueue_bounded([self.job] * count, using="default")
                    if dice.random() < 0.3:
                        try:
                            with transaction.atomic():
                                enqueue_bounded([self.job], using="default")
                                raise RuntimeError
                        except (RuntimeError, QueueFull):
                            pass
                    if dice.random() < 0.3:
                        time.sleep(dice.random() * 0.01)
                    if dice.random() < 0.3:
                        raise RuntimeError
                with self._lock:
                    self.accepted += count
            except QueueFull:
                with self._lock:
                    self.refused += 1
            except RuntimeError:
                pass
            yield

    def worker(self, *decisions):
        """Claim a few, and settle them."""

        def work(dice):
            hand = Hand()
            try:
                while True:
                    held = hand.claim(dice.choice([1, 3, 10]))
                    hand.settle(*[each.settled_as(dice.choice(decisions)) for each in held])
                    hand.promote()
                    yield
            finally:
                hand.session.close()

        return work

    def counter(self, dice):
        """Count, again and again."""
        while True:
            run_on(connection, depth.recount("queue", "default"))
            yield

    def canceller(self, dice):
        """Cancel what is waiting."""
        while True:
            pk = Job.objects.filter(status="READY").order_by("?").values_list("pk", flat=True).first()
            try:
                if pk is not None:
                    operations.cancel(pk, by="ada", reason="")
            except Refused:
                pass
            yield

    def watcher(self, dice):
        """Look at the depth, and at what the credits add up to, each time in one snapshot."""
        shares = depth.shares(self.bound.max_depth)
        with connect("default") as line:
            while True:
                deep, with_credit, amount, slots = line.execute(SNAPSHOT).fetchone()
                unwritten = sum(share for slot, share in enumerate(shares) if slot not in slots)
                self.deepest = max(self.deepest, deep)
                self.most_credits = max(self.most_credits, with_credit + amount + unwritten)
                yield


@pytest.mark.parametrize(("max_depth", "enough"), [(3, 60), (40, 200), (150, 300)])
def test_no_race_takes_the_depth_above_the_limit(max_depth, enough):
    """Commits, rollbacks, claims, cancels and counts at once: no snapshot shows more than the limit."""
    storm = Storm(max_depth, enough)

    storm.rage(
        *[storm.producer] * CLIENTS,
        storm.worker(FINISH),
        storm.worker(FINISH),
        storm.canceller,
        storm.counter,
        storm.counter,
        storm.watcher,
    )

    assert storm.accepted >= enough
    assert storm.deepest <= max_depth
    assert storm.most_credits <= max_depth
    for _ in range(4):
        run_on(connection, depth.recount("queue", "default"))
    assert depth.left(storm.bound, using="default") == max_depth - Job.objects.filter(status="READY").count()


def test_jobs_that_come_back_never_make_credits():
    """Retries and releases may exceed the limit; the credits that are held and those that are left never do."""
    storm = Storm(40, 200)

    storm.rage(
        *[storm.producer] * CLIENTS,
        storm.worker(FINISH, RETRY_NOW, RELEASE),
        storm.worker(FINISH, RELEASE),
        storm.counter,
        storm.watcher,
    )

    assert storm.accepted >= 200
    assert storm.most_credits <= 40
    for _ in range(4):
        run_on(connection, depth.recount("queue", "default"))
    assert depth.left(storm.bound, using="default") == 40 - Job.objects.filter(status__in=["READY", "WAITING"]).count()
