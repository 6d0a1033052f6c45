"""Every change of status that the verbs make is one that the policy allows."""

import random
from contextlib import suppress
from datetime import datetime

import pytest
from django.db import connection

from django_jobqueue.exceptions import Refused
from django_jobqueue.models import Attempt, DeadLetter, Job
from django_jobqueue.policy.lifecycle import LETTER_TRANSITIONS, TERMINAL, TRANSITIONS
from django_jobqueue.store.cancel import cancel
from django_jobqueue.store.discard import discard
from django_jobqueue.store.enqueue import NewJob, enqueue
from django_jobqueue.store.replay import replay
from tests.store.hands import (
    BURY,
    COMMITS,
    FINISH,
    LOST,
    RELEASE,
    RETRY_NOW,
    SNOOZE,
    TASK,
    at,
)

pytestmark = COMMITS

LATER = datetime.fromisoformat("2126-01-01T00:00:00+00:00")

MOVES = {(move.old, str(move.new)) for move in TRANSITIONS}
LETTER_MOVES = {(move.old, str(move.new)) for move in LETTER_TRANSITIONS}

AUDIT = """
CREATE TABLE audit_of_moves (relation text, id bigint, old text, new text);
CREATE FUNCTION note_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit_of_moves VALUES (
        TG_TABLE_NAME, NEW.id, CASE WHEN TG_OP = 'UPDATE' THEN OLD.status END, NEW.status
    );
    RETURN NULL;
END $$;
CREATE TRIGGER note_insert AFTER INSERT ON django_jobqueue_job FOR EACH ROW EXECUTE FUNCTION note_move();
CREATE TRIGGER note_insert AFTER INSERT ON django_jobqueue_deadletter FOR EACH ROW EXECUTE FUNCTION note_move();
CREATE TRIGGER note_update AFTER UPDATE ON django_jobqueue_job FOR EACH ROW
    WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION note_move();
CREATE TRIGGER note_update AFTER UPDATE ON django_jobqueue_deadletter FOR EACH ROW
    WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION note_move();
"""

NO_AUDIT = "DROP FUNCTION note_move CASCADE; DROP TABLE audit_of_moves;"


@pytest.fixture
def moves(db):
    """Note every change of status of a job or a letter; call it to read them as (old, new) pairs."""
    with connection.cursor() as cursor:
        cursor.execute(AUDIT)

    def read(relation):
        with connection.cursor() as cursor:
            cursor.execute("SELECT DISTINCT old, new FROM audit_of_moves WHERE relation = %s", [relation])
            return set(cursor.fetchall())

    yield read
    with connection.cursor() as cursor:
        cursor.execute(NO_AUDIT)


class Life:
    """Calls a verb of the queue at random, as workers, producers and people do."""

    def __init__(self, seed, worker, rival):
        self.dice = random.Random(seed)
        self.workers = {worker: [], rival: []}

    def step(self):
        often = [self.claim, self.settle] * 2
        workers = [self.settle, self.promote, self.lose, self.rescue, self.recover, self.give_back, self.renew]
        people = [self.enqueue, self.replay, self.discard, self.cancel]
        self.dice.choice(often + workers + people)()

    def hand(self):
        return self.dice.choice(list(self.workers))

    def some(self, held):
        return self.dice.sample(held, self.dice.randint(0, len(held)))

    def enqueue(self):
        enqueue([NewJob(TASK), NewJob(TASK, run_after=self.dice.choice([None, LATER]))], using="default")

    def promote(self):
        Job.objects.filter(status="WAITING").update(run_after=at(-1))
        self.hand().promote(limit=3)

    def claim(self):
        hand = self.hand()
        self.workers[hand] += hand.claim(self.dice.randint(1, 4))

    def settle(self):
        hand = self.hand()
        chosen = self.some(self.workers[hand])
        decisions = [FINISH, RETRY_NOW, SNOOZE, RELEASE, LOST, BURY, BURY]
        hand.settle(*[held.settled_as(self.dice.choice(decisions)) for held in chosen])
        if self.dice.random() < 0.8:
            # Else the worker forgets that it has settled, and will do it again.
            self.workers[hand] = [held for held in self.workers[hand] if held not in chosen]

    def lose(self):
        running = Job.objects.filter(status="RUNNING").values_list("pk", flat=True)
        for job_id in self.dice.sample(list(running), min(2, len(running))):
            Job.objects.filter(pk=job_id).update(lease_expires_at=at(-60))

    def rescue(self):
        hand = self.hand()
        self.workers[hand] += hand.rescue(limit=2)

    def recover(self):
        hand = self.hand()
        lost = [held.token for held in self.some(self.workers[hand])]
        self.workers[hand] += hand.recover(*lost)

    def give_back(self):
        hand = self.hand()
        hand.give_back(*self.some(self.workers[hand]))

    def renew(self):
        hand = self.hand()
        hand.renew(*self.some(self.workers[hand]))

    def replay(self):
        self.ask_a_person(replay, DeadLetter)

    def discard(self):
        self.ask_a_person(discard, DeadLetter)

    def cancel(self):
        if self.dice.random() < 0.3:
            self.ask_a_person(cancel, Job)

    def ask_a_person(self, verb, model):
        ids = list(model.objects.values_list("pk", flat=True))
        if ids:
            with suppress(Refused):
                verb(self.dice.choice(sorted(ids)), by="ada", reason="", using="default")


@pytest.mark.parametrize("seed", range(6))
def test_whatever_happens_jobs_move_as_the_policy_says(moves, worker, rival, seed):
    """No sequence of verbs, late and repeated ones included, moves a job or a letter along a path that is not drawn."""
    life = Life(seed, worker, rival)
    for _ in range(150):
        life.step()

    assert moves("django_jobqueue_job") <= MOVES
    assert moves("django_jobqueue_deadletter") <= LETTER_MOVES
    assert_consistent()


def test_the_verbs_use_every_move(moves, worker, rival):
    """Each move that the policy draws is made by some verb, but for those whose verbs are yet to come."""
    enqueue([NewJob(TASK)] * 9 + [NewJob(TASK, run_after=LATER)] * 2, using="default")
    *held, asked = worker.claim(7)
    ends = [FINISH, RETRY_NOW, RELEASE, BURY, BURY, BURY]
    worker.settle(*[each.settled_as(end) for each, end in zip(held, ends, strict=True)])
    worker.promote()
    for status in ("READY", "WAITING", "RUNNING"):
        person(cancel, Job.objects.filter(status=status).latest("pk"))
    worker.settle(asked.settled_as(RETRY_NOW))
    finishes, dies, is_discarded = DeadLetter.objects.order_by("pk")
    for letter in (finishes, dies):
        person(replay, letter)
    again = {each.id: each for each in rival.claim(9)}
    rival.settle(again[finishes.job_id].settled_as(FINISH), again[dies.job_id].settled_as(BURY))
    person(discard, is_discarded)
    person(replay, is_discarded)

    assert moves("django_jobqueue_job") == MOVES - {("READY", "WAITING"), ("WAITING", "FAILED"), ("FAILED", "WAITING")}
    assert moves("django_jobqueue_deadletter") == LETTER_MOVES


def person(verb, row):
    verb(row.pk, by="ada", reason="", using="default")


def test_nothing_leaves_a_terminal_state_but_by_replay(moves, worker, rival):
    """A job that has ended is where it is for every worker: late outcomes, rescues and returns do not move it."""
    enqueue([NewJob(TASK)] * 3, using="default")
    held = worker.claim(3)
    worker.settle(held[0].settled_as(FINISH), held[1].settled_as(BURY), held[2].settled_as(RELEASE))
    cancel(held[2].id, by="ada", reason="", using="default")
    before = list(Job.objects.order_by("pk").values())

    for decision in (FINISH, RETRY_NOW, SNOOZE, RELEASE, LOST, BURY):
        worker.settle(*[each.settled_as(decision) for each in held])
    worker.give_back(*held)
    worker.renew(*held)
    worker.recover(*[each.token for each in held])
    rival.rescue()
    rival.promote()

    assert rival.claim(9) == []
    assert list(Job.objects.order_by("pk").values()) == before
    assert {job["status"] for job in before} == TERMINAL


def assert_consistent():
    """Check what must be true of any queue at any moment."""
    for job in Job.objects.all():
        attempts = list(Attempt.objects.filter(job=job).order_by("number").values_list("number", "charged"))
        letter = DeadLetter.objects.filter(job=job).first()
        is_running = job.status == "RUNNING"
        assert is_running == (job.lease_token is not None)
        assert (job.status in TERMINAL) == (job.finished_at is not None)
        assert (job.status == "WAITING") == bool(job.waiting_for)
        assert [number for number, _ in attempts] == list(range(1, job.attempt_count + 1 - is_running))
        assert job.failure_count <= sum(charged for _, charged in attempts)
        if job.cancel_requested_at is not None:
            assert job.status in ("RUNNING", "SUCCESSFUL", "CANCELLED")
        if job.status == "FAILED":
            assert letter is not None
            assert letter.status in ("OPEN", "DISCARDED")
        elif letter is not None:
            assert letter.status == ("RESOLVED" if job.status in ("SUCCESSFUL", "CANCELLED") else "REPLAYED")
