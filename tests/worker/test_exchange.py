"""The database side of a keeper, when the line to the database fails it."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest
from django.db.models.functions import Now

from django_jobqueue.conf import Options
from django_jobqueue.models import Attempt, Job, Worker
from django_jobqueue.policy.outcomes import Failed, Failure, Succeeded, Verdict
from django_jobqueue.registry import discover
from django_jobqueue.store.promote import LIMIT as PROMOTE_LIMIT
from django_jobqueue.store.rescue import LIMIT as RESCUE_LIMIT
from django_jobqueue.store.session import Session, connect
from django_jobqueue.worker import calls, clock, truce
from django_jobqueue.worker.agenda import Agenda
from django_jobqueue.worker.child import Phase, Runner
from django_jobqueue.worker.exchange import Exchange
from django_jobqueue.worker.fleet import Fleet
from django_jobqueue.worker.plan import WorkerPlan
from django_jobqueue.worker.wakeup import Wakeup
from tests.store.hands import LOST, Hand, add_job, add_jobs
from tests.tasks import succeed
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True, available_apps=["django_jobqueue", "tests.stage"])


class ForgetfulLine(Session):
    """A session whose line breaks after the server has done its work, on demand."""

    answers_to_lose = 0
    losing = "claim"
    calls_to_refuse = 0
    refusal = psycopg.OperationalError("connection refused")

    def run(self, *statements, **options):
        if ForgetfulLine.calls_to_refuse:
            ForgetfulLine.calls_to_refuse -= 1
            raise self.refusal
        answers = super().run(*statements, **options)
        if ForgetfulLine.answers_to_lose and any(statement.name == ForgetfulLine.losing for statement in statements):
            ForgetfulLine.answers_to_lose -= 1
            self.close()
            raise psycopg.OperationalError("the line broke")
        return answers


@pytest.fixture
def exchange(monkeypatch):
    """An exchange with one runner that is ready for a job."""
    monkeypatch.setattr("django_jobqueue.worker.exchange.Session", ForgetfulLine)
    wakeup, fleet = Wakeup(), Fleet()
    plan = WorkerPlan(
        "default", Options(lease_seconds=30, renew_seconds=0.1, notify=False, poll_seconds=0.1, rescue_seconds=0.1)
    )
    fleet.runners[0] = Runner(number=0, threads=1, coroutines=0, sock=None, phase=Phase.READY)
    exchange = Exchange(plan, discover(), plan.card(discover()), fleet, wakeup)
    exchange.fleet, exchange.worker_id = fleet, exchange._agenda._card.id
    yield exchange
    ForgetfulLine.answers_to_lose = ForgetfulLine.calls_to_refuse = 0
    ForgetfulLine.losing = "claim"
    exchange.close()
    wakeup.close()


def in_hand(exchange):
    """Take a turn, and answer with the jobs that have arrived."""
    exchange.turn(clock.now())
    return exchange.fleet.waiting


@pytest.mark.parametrize("lost", [0, 1, 3])
def test_a_claim_whose_reply_was_lost_is_made_again(exchange, lost):
    """A worker that did not hear what it claimed gives it back, and claims it anew: still its first attempt."""
    ForgetfulLine.answers_to_lose = lost
    job_id = int(succeed.enqueue().id)

    (flight,) = wait_until(lambda: in_hand(exchange))

    assert ForgetfulLine.answers_to_lose == 0
    assert (flight.claimed.id, flight.claimed.attempt_number) == (job_id, 1)
    assert Job.objects.get().lease_token == flight.token
    assert not Attempt.objects.exists()


def test_a_claim_that_was_committed_late_is_found(exchange):
    """A job that the server gave to a worker after that had given the call up runs again when its lease has run out."""
    job_id = int(succeed.enqueue().id)
    Job.objects.update(
        status="RUNNING",
        attempt_count=1,
        worker_id=exchange.worker_id,
        lease_token=uuid4(),
        lease_expires_at=Now() - timedelta(seconds=1),
    )

    (flight,) = wait_until(lambda: in_hand(exchange))

    assert (flight.claimed.id, flight.claimed.attempt_number) == (job_id, 2)
    assert Attempt.objects.get().outcome == "lost"


def test_a_claim_that_was_given_back_does_not_count(exchange):
    """A worker that is to leave after so many jobs has those in mind that it has run, or will."""
    succeed.enqueue()
    wait_until(lambda: in_hand(exchange))
    assert exchange.claimed_count == 1

    exchange.give_back(exchange.fleet.waiting)
    exchange.fleet.waiting.clear()
    assert exchange.claimed_count == 0
    wait_until(lambda: in_hand(exchange))

    assert exchange.claimed_count == 1


@pytest.mark.parametrize("refused", [0, 2], ids=["when_it_has_ended", "while_it_lasts"])
def test_a_worker_that_starts_in_an_outage_rescues_nothing_at_first(exchange, refused):
    """The others were away too: it does not take over what they have had no chance to renew. It claims at once."""
    ForgetfulLine.calls_to_refuse = refused
    theirs = int(succeed.enqueue().id)
    an_hour_ago = Now() - timedelta(hours=1)
    Job.objects.update(status="RUNNING", attempt_count=1, lease_token=uuid4(), lease_expires_at=an_hour_ago)
    first, second = int(succeed.enqueue().id), int(succeed.enqueue().id)
    wait_until(lambda: in_hand(exchange))
    exchange.give_back(exchange.fleet.waiting)
    exchange.fleet.waiting.clear()
    (flight,) = wait_until(lambda: in_hand(exchange))

    assert flight.claimed.id in (first, second)
    assert Job.objects.get(pk=theirs).attempts.count() == 0
    assert exchange._schedule.rescue_at > clock.now() + 1


def test_a_worker_that_comes_back_keeps_the_truce(exchange):
    """However short the outage was: how long the others will need is known, and is not how long it has lasted."""
    wait_until(lambda: exchange.turn(clock.now()) or exchange.is_drained)
    exchange._schedule.rescue_at = 0.0
    before = clock.now()
    ForgetfulLine.calls_to_refuse = 1
    wait_until(lambda: exchange.turn(clock.now()) or exchange._outage.is_on)
    wait_until(lambda: exchange.turn(clock.now()) or exchange._agenda.is_known)

    assert exchange._schedule.rescue_at >= before + truce.after_outage_seconds(lease_seconds=30)


def test_after_a_lock_on_the_whole_table_nothing_is_rescued_at_first(exchange, monkeypatch):
    """A call that waited in vain says that the others could not renew either: what has run out meanwhile is theirs."""
    wait_until(lambda: exchange.turn(clock.now()) or exchange.is_drained)
    monkeypatch.setattr(ForgetfulLine, "refusal", psycopg.errors.QueryCanceled("canceling statement"))
    exchange._schedule.rescue_at = 0.0
    ForgetfulLine.calls_to_refuse = 1
    wait_until(lambda: exchange.turn(clock.now()) or not (ForgetfulLine.calls_to_refuse or exchange.is_asking))
    theirs = int(succeed.enqueue().id)
    an_hour_ago = Now() - timedelta(hours=1)
    Job.objects.update(status="RUNNING", attempt_count=1, lease_token=uuid4(), lease_expires_at=an_hour_ago)
    succeed.enqueue()
    wait_until(lambda: in_hand(exchange))

    assert Job.objects.get(pk=theirs).attempts.count() == 0


def test_a_job_that_was_lost_while_it_waits_is_forgotten(exchange):
    """A job that another worker took over before a runner had it is not started here."""
    succeed.enqueue()
    wait_until(lambda: in_hand(exchange))
    Job.objects.update(lease_token=uuid4(), worker_id=uuid4())

    wait_until(lambda: not in_hand(exchange))

    assert Job.objects.get().status == "RUNNING"
    assert exchange.claimed_count == 0


class TimedOutLine(ForgetfulLine):
    """A session whose claims take too long, so many times."""

    def run(self, *statements, **options):
        if ForgetfulLine.answers_to_lose and any(statement.name == "claim" for statement in statements):
            ForgetfulLine.answers_to_lose -= 1
            raise psycopg.errors.QueryCanceled("canceling statement due to statement timeout")
        return Session.run(self, *statements, **options)


def test_a_claim_that_takes_too_long_is_no_outage(exchange, monkeypatch, caplog):
    """The database is there, and only the claim was slow: no word of an outage, and the next claim goes by group."""
    exchange._link._session.__class__ = TimedOutLine
    ForgetfulLine.answers_to_lose = 2
    monkeypatch.setattr("django_jobqueue.worker.agenda.CLAIM_AGAIN_SECONDS", 0.01)
    job_id = int(succeed.enqueue().id)
    with caplog.at_level("INFO", logger="django_jobqueue.worker"):
        (flight,) = wait_until(lambda: in_hand(exchange))

    assert flight.claimed.id == job_id
    assert not exchange._agenda._lost_tokens
    assert "cannot be used" not in caplog.text
    assert caplog.text.count("a claim did not come through") == 1


def test_a_claim_that_failed_asks_for_less(exchange):
    """Perhaps the arguments were too much for the time that a call may take: the same again would fail again."""
    asked = []
    exchange.fleet.runners[0].threads = 64

    class Counting(ForgetfulLine):
        def run(self, *statements, **options):
            asked.extend(statement.params["limit"] for statement in statements if statement.name == "claim")
            return super().run(*statements, **options)

    exchange._link._session.__class__ = Counting
    ForgetfulLine.answers_to_lose = 3
    add_jobs(64, task="tests.tasks.succeed")
    wait_until(lambda: len(in_hand(exchange)) == 64)

    assert asked[:5] == [64, 32, 16, 8, 16]


def test_a_worker_is_not_drained_by_a_poll_from_before(exchange):
    """A job may have enqueued others while it ran: once it has ended, only another poll can say that nothing is due."""
    succeed.enqueue()
    (flight,) = wait_until(lambda: in_hand(exchange))
    exchange.fleet.waiting.clear()
    wait_until(lambda: in_hand(exchange) == [] and exchange.is_drained)
    exchange._schedule.poll_at = clock.now() + 60

    exchange.settle(flight.claimed, flight.token, Succeeded("null"))
    wait_until(lambda: in_hand(exchange) == [] and exchange.ended)

    assert not exchange.is_drained


def test_a_job_that_ran_is_not_given_back_when_the_reply_of_its_rescue_is_lost(exchange):
    """A worker that rescues its own forgotten job, and does not hear of it, does not give it back: it has run."""
    ran = int(succeed.enqueue().id)
    Job.objects.update(
        status="RUNNING",
        attempt_count=1,
        worker_id=exchange.worker_id,
        lease_token=uuid4(),
        lease_expires_at=Now() - timedelta(seconds=1),
    )
    ForgetfulLine.answers_to_lose, ForgetfulLine.losing = 1, "rescue"
    wait_until(lambda: in_hand(exchange) or not ForgetfulLine.answers_to_lose)
    other = int(succeed.enqueue().id)

    (flight,) = wait_until(lambda: in_hand(exchange))

    assert flight.claimed.id == other
    assert Job.objects.filter(pk=ran, status="RUNNING", attempt_count=1).exists()


def drained(exchange):
    """Take turns until a poll has found nothing, with the next one far away and none under way."""
    exchange._options = exchange._agenda._options = exchange._schedule._options = replace(
        exchange._options, poll_seconds=600, rescue_seconds=600
    )
    wait_until(lambda: exchange.turn(clock.now()) or exchange.is_drained)
    wait_until(
        lambda: (
            exchange.turn(clock.now())
            or (
                min(exchange._schedule.poll_at, exchange._schedule.rescue_at) > clock.now() + 60
                and not exchange.is_asking
            )
        )
    )


@pytest.mark.parametrize(
    "refusal",
    [
        psycopg.OperationalError("the line broke"),
        psycopg.errors.QueryCanceled("too slow"),
        psycopg.errors.SerializationFailure("not now"),
        KeyError("a mistake of ours"),
    ],
    ids=repr,
)
def test_a_poll_that_came_to_nothing_is_made_again(exchange, monkeypatch, refusal):
    """A worker that polls every ten minutes does not lose ten minutes when one poll fails."""
    monkeypatch.setattr("django_jobqueue.worker.agenda.CLAIM_AGAIN_SECONDS", 0.01)
    drained(exchange)
    succeed.enqueue()
    monkeypatch.setattr(ForgetfulLine, "refusal", refusal)
    ForgetfulLine.calls_to_refuse = 1

    exchange.look_now()

    assert wait_until(lambda: in_hand(exchange))
    assert ForgetfulLine.calls_to_refuse == 0


def test_a_mistake_in_a_call_is_told_with_its_traceback_and_stops_nobody_else(exchange, monkeypatch, caplog):
    """What neither a database nor a line can cause is an ERROR, once, and no outage: the good outcomes are written."""
    flights = []
    for _ in range(3):
        succeed.enqueue()
        (flight,) = wait_until(lambda: in_hand(exchange))
        flights.append(flight)
        exchange.fleet.waiting.clear()
    real = calls.settle

    def fail_at_the_second(settlements):
        if any(settlement.job_id == flights[1].claimed.id for settlement in settlements):
            raise KeyError("a mistake of ours")
        return real(settlements)

    monkeypatch.setattr(calls, "settle", fail_at_the_second)
    for flight in flights:
        exchange.settle(flight.claimed, flight.token, Succeeded("null"))
    wait_until(lambda: exchange.turn(clock.now()) or exchange.is_quiet)

    assert Job.objects.filter(status="SUCCESSFUL").count() == 2
    (record,) = [record for record in caplog.records if "not known" in record.getMessage()]
    assert record.exc_info
    assert "cannot be used" not in caplog.text


def test_all_that_has_run_out_is_rescued_without_a_pause(exchange):
    """However many leases a dead worker leaves behind, the next statement follows as soon as one was full."""
    wait_until(lambda: exchange.turn(clock.now()) or exchange.is_drained)
    exchange._schedule._options = replace(exchange._options, poll_seconds=600, rescue_seconds=600)
    exchange._agenda.takes_more = True
    an_hour_ago = Now() - timedelta(hours=1)
    add_jobs(RESCUE_LIMIT * 2 + 5, task="tests.tasks.fail", status="RUNNING", lease_expires_at=an_hour_ago)
    Job.objects.update(lease_token=uuid4(), attempt_count=1, max_attempts=1)
    exchange._schedule.rescue_again()
    exchange.look_now()

    wait_until(
        lambda: exchange.turn(clock.now()) or Job.objects.filter(status="FAILED").count() == RESCUE_LIMIT * 2 + 5
    )


def test_all_that_has_fallen_due_is_made_ready_without_a_pause(exchange):
    """A hundred thousand reminders for nine o'clock do not wait for as many polls as it takes thousands of them."""
    exchange._agenda._plan = replace(exchange._plan, queues=("another",))
    drained(exchange)
    add_jobs(PROMOTE_LIMIT * 2 + 5, status="WAITING", waiting_for="time", run_after=Now() - timedelta(seconds=1))

    exchange.look_now()

    wait_until(lambda: exchange.turn(clock.now()) or not Job.objects.filter(status="WAITING").exists())


def test_a_claim_that_is_committed_after_the_worker_came_back_is_given_back(exchange, monkeypatch):
    """A COMMIT that hangs in the server outlives the line: what it claimed is looked for until its leases run out."""
    tokens = []
    monkeypatch.setattr(
        exchange._agenda, "forget", lambda token: tokens.append(token) or Agenda.forget(exchange._agenda, token)
    )
    wait_until(lambda: exchange.turn(clock.now()) or exchange.is_drained)
    ForgetfulLine.calls_to_refuse = 1
    exchange.look_now()
    wait_until(lambda: exchange.turn(clock.now()) or (tokens and exchange._agenda.is_known))
    late = add_job(task="another.task")
    Job.objects.filter(pk=late).update(
        status="RUNNING",
        attempt_count=1,
        worker_id=exchange.worker_id,
        lease_token=tokens[0],
        lease_expires_at=Now() + timedelta(seconds=30),
    )
    exchange._schedule.rescue_again()

    wait_until(
        lambda: exchange.turn(clock.now()) or Job.objects.filter(pk=late, status="READY", attempt_count=0).exists()
    )
    assert not Attempt.objects.exists()


class LateLine(ForgetfulLine):
    """A session whose rescues arrive a minute after they were sent."""

    rescues = 0

    def run(self, *statements, **options):
        if any(statement.name == "rescue" for statement in statements):
            LateLine.rescues += 1
            with connect("default") as stranger:
                stranger.execute(f"UPDATE {Worker._meta.db_table} SET last_seen_at = last_seen_at - interval '1 min'")
        return Session.run(self, *statements, **options)


def test_a_rescue_that_was_held_up_takes_nothing_over(exchange):
    """The others' lines may have been down as long: what has run out meanwhile they have had no chance to renew."""
    exchange._link._session.__class__ = LateLine
    theirs = int(succeed.enqueue().id)
    an_hour_ago = Now() - timedelta(hours=1)
    Job.objects.update(status="RUNNING", attempt_count=1, lease_token=uuid4(), lease_expires_at=an_hour_ago)

    wait_until(lambda: exchange.turn(clock.now()) or LateLine.rescues > 3)

    assert Job.objects.get(pk=theirs).attempts.count() == 0


def run_and_lose_the_reply(exchange, outcome, name):
    """Settle a job in a call that is carried out and not heard; answer with its id when all is written."""
    job_id = int(succeed.enqueue().id)
    (flight,) = wait_until(lambda: in_hand(exchange))
    exchange.fleet.waiting.clear()
    exchange._agenda.takes_more = False
    ForgetfulLine.answers_to_lose, ForgetfulLine.losing = 1, name
    exchange.settle(flight.claimed, flight.token, outcome)
    wait_until(lambda: exchange.turn(clock.now()) or (exchange.is_quiet and exchange._agenda.is_known))
    assert not ForgetfulLine.answers_to_lose
    return job_id


@pytest.mark.parametrize(
    ("outcome", "name", "ended"),
    [
        (Succeeded("null"), "finish", True),
        (Failed(Failure("builtins.ValueError", "no", ""), Verdict.NOT_RETRYABLE), "settle", True),
        (Failed(Failure("builtins.ValueError", "not yet", "")), "settle", False),
    ],
    ids=["success", "burial", "retry"],
)
def test_an_outcome_that_was_written_unheard_is_no_stale_one(exchange, outcome, name, ended):
    """A worker recognises what it has written itself in a call whose reply was lost: the job's end is told, once."""
    job_id = run_and_lose_the_reply(exchange, outcome, name)

    assert exchange._agenda.stale_refused == 0
    assert exchange.ended == ([job_id] if ended else [])
    assert Attempt.objects.get().job_id == job_id


def test_an_outcome_that_a_rescuer_was_faster_than_is_stale(exchange):
    """That an attempt is closed does not say that this worker closed it: a rescuer does so in its name, as lost."""
    succeed.enqueue()
    (flight,) = wait_until(lambda: in_hand(exchange))
    exchange.fleet.waiting.clear()
    exchange._agenda.takes_more = False
    ForgetfulLine.calls_to_refuse = 1
    exchange.settle(flight.claimed, flight.token, Succeeded("null"))
    Job.objects.update(lease_expires_at=Now() - timedelta(hours=1))
    rival = Hand()
    rival.settle(rival.rescue()[0].settled_as(LOST))
    rival.session.close()
    wait_until(lambda: exchange.turn(clock.now()) or (exchange.is_quiet and exchange._agenda.is_known))

    assert exchange._agenda.stale_refused == 1
    assert exchange.ended == []
