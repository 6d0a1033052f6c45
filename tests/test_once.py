"""`once`: what is done under a key is done once, whoever asks again, and whatever dies in between."""

from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from django_jobqueue import once, running
from django_jobqueue.exceptions import AlreadyBeingDone, InvalidPayload, KeyReused, LeaseLost, NotInAJob, Snooze
from django_jobqueue.models import Effect, Job
from django_jobqueue.store import effects
from tests.factories import make_job
from tests.races import race
from tests.stage.models import Order, Trace

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_traces():
    """The effects; the tables of the tests are not emptied with those of the queue."""
    yield
    Trace.objects.all().delete()
    Order.objects.all().delete()


@contextmanager
def attempt(*, is_atomic=False, job=None):
    """Be an attempt of a job."""
    token = uuid4()
    job = job or make_job("RUNNING")
    Job.objects.filter(pk=job.pk).update(lease_token=token)
    before = running.attempt.set(running.RunningAttempt(job.pk, token, "default", is_atomic))
    try:
        yield job
    finally:
        running.attempt.reset(before)


def lose_lease(job):
    Job.objects.filter(pk=job.pk).update(lease_token=uuid4())


def book(what="booked", *, fails=False):
    """Have an effect in the queue's database."""
    Trace.objects.create(what=what)
    if fails:
        raise ValueError("no")
    return {"what": what, "rows": (1, 2)}


def pay(at: datetime, amount: Decimal):
    Trace.objects.create(what="paid")
    return 1


def terminate(pid):
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])


calls = []


def charge(amount, *, idempotency_key):
    """Have an effect elsewhere."""
    calls.append(idempotency_key)
    return {"charged": amount}


def refuse(*, idempotency_key):
    calls.append(idempotency_key)
    raise ConnectionError("the bank is closed")


@pytest.fixture(autouse=True)
def no_calls():
    calls.clear()


class TestOnce:
    """Effects in the queue's database."""

    def test_a_second_call_has_the_first_ones_result(self):
        """As JSON, both times; the effect is there once, and the record says which job had it."""
        with attempt() as job:
            first = once("k", book)
        with attempt():
            second = once("k", book)

        assert first == second == {"what": "booked", "rows": [1, 2]}
        assert Trace.objects.count() == 1
        effect = Effect.objects.get()
        assert (effect.job_id, effect.token, effect.result) == (job.pk, None, first)

    def test_other_code_may_do_things_once_too(self):
        """A view, a command, a shell: there is no lease to ask for."""
        assert once("k", book) == once("k", book)
        assert Trace.objects.count() == 1

    def test_of_many_at_once_one_has_its_effect(self):
        """The others wait for it, roll back what they did, and have its result."""
        results = race(*[lambda: once("k", book)] * 6)

        assert results == [results[0]] * 6
        assert Trace.objects.count() == 1

    def test_what_fails_is_undone_and_leaves_no_record(self):
        """The next call may succeed."""
        with pytest.raises(ValueError, match="no"):
            once("k", book, fails=True)
        assert not Effect.objects.exists()
        assert not Trace.objects.exists()

        with pytest.raises(InvalidPayload, match="result: is a set"):
            once("k", set)
        once("k", book)
        assert Trace.objects.count() == 1

    def test_an_attempt_that_lost_its_lease_leaves_nothing(self):
        """Another attempt may have done it, or will."""

        def slow():
            book()
            lose_lease(job)

        with attempt() as job, pytest.raises(LeaseLost, match="rolled back"):
            once("k", slow)

        assert not Trace.objects.exists()
        assert not Effect.objects.exists()

    def test_it_must_not_be_part_of_another_transaction(self):
        """A record that may be rolled back with the caller's work is none; also where it is done already."""
        words = (
            r"^once\('k', …\) cannot be inside atomic\(\): the record could be rolled back with the caller's work\. "
        )
        with transaction.atomic():
            with pytest.raises(RuntimeError, match=f"{words}Call it after the block; .*non_atomic_requests"):
                once("k", book)
            with attempt(), pytest.raises(RuntimeError, match=f"{words}.*or declare the task atomic=True$"):
                once("k", book)
        assert not Trace.objects.exists()

        once("k", book)
        with transaction.atomic(), pytest.raises(RuntimeError, match=words):
            once("k", book)

    def test_in_an_atomic_task_it_joins_the_transaction(self):
        """What the task undoes is undone with its record; a loser undoes its own call only."""
        with pytest.raises(RuntimeError), attempt(is_atomic=True), transaction.atomic():
            once("k", book)
            raise RuntimeError
        assert not Effect.objects.exists()

        def overtaken():
            book("mine")
            race(lambda: once("k", book, "theirs"))
            return None

        with attempt(is_atomic=True), transaction.atomic():
            Trace.objects.create(what="task")
            with pytest.raises(KeyReused):
                once("k", overtaken)
            once("other", book, "other")
        assert set(Trace.objects.values_list("what", flat=True)) == {"task", "theirs", "other"}

    def test_errors_of_the_commit_are_its_own(self):
        """A constraint that is checked at the COMMIT undoes effect and record."""
        with connection.cursor() as cursor:
            cursor.execute(
                "CREATE TABLE once_late (n int, CONSTRAINT once_late_n UNIQUE (n) DEFERRABLE INITIALLY DEFERRED)"
            )
        try:

            def late():
                book()
                with connection.cursor() as cursor:
                    cursor.execute("INSERT INTO once_late VALUES (1), (1)")

            with attempt(), pytest.raises(IntegrityError, match="once_late_n"):
                once("k", late)
        finally:
            with connection.cursor() as cursor:
                cursor.execute("DROP TABLE once_late")
        assert not Effect.objects.exists()
        assert not Trace.objects.exists()

    def test_a_conflict_of_the_calls_own_is_no_duplicate(self):
        """Only the key of the record makes one."""
        Order.objects.create(key="taken")
        with pytest.raises(IntegrityError, match="key"):
            once("k", Order.objects.create, key="taken")
        assert not Effect.objects.exists()


class TestWithoutAutocommit:
    """In a project that commits by hand."""

    @pytest.fixture(autouse=True)
    def by_hand(self):
        connection.set_autocommit(False)
        yield
        connection.rollback()
        connection.set_autocommit(True)

    def test_effect_and_record_are_committed_by_themselves(self):
        """A rollback of the caller's takes neither back, and the caller's habit is as it was."""
        once("k", book)
        assert not connection.get_autocommit()
        connection.rollback()

        assert Effect.objects.filter(key="k").exists()
        assert Trace.objects.count() == 1

    def test_an_effect_elsewhere_is_on_record_at_once(self):
        """Before and after the call: others see the hold, and a rollback takes no result back."""

        def look(*, idempotency_key):
            return race(lambda: Effect.objects.filter(key="k").count())

        connection.set_autocommit(True)
        with attempt():
            connection.set_autocommit(False)
            assert once.external("k", look) == [1]
            connection.rollback()
            assert Effect.objects.get().done_at is not None
            connection.rollback()
            connection.set_autocommit(True)

    def test_a_transaction_that_is_open_has_to_be_ended_before(self):
        """Whose it is, and whether it is worth anything, only the caller knows."""
        Trace.objects.create(what="of the caller")
        with pytest.raises(RuntimeError, match="commit or roll it back before"):
            once("k", book)


class TestKeys:
    """What a key stands for."""

    def test_another_request_under_the_same_key_is_refused(self):
        """Another function or other arguments; the order of names makes no difference."""
        once("k", book, what="a", fails=False)
        once("k", book, fails=False, what="a")

        for call, words in [(book, {"what": "b", "fails": False}), (book, {"what": "a"}), (dict, {"what": "a"})]:
            with pytest.raises(KeyReused, match="the key 'k' stands for another call"):
                once("k", call, **words)
        assert Trace.objects.count() == 1

    def test_arguments_of_the_types_that_hints_name_are_told_apart(self):
        """A datetime, a Decimal: by value, as they would be stored."""
        at = datetime(2026, 11, 30, tzinfo=UTC)
        once("k", pay, at, Decimal("1.10"))

        assert once("k", pay, at, Decimal("1.10")) == 1
        with pytest.raises(KeyReused):
            once("k", pay, at, Decimal("1.1"))

    @pytest.mark.parametrize("key", ["", "k" * 256, 7, None, "a\0b", "\ud800"])
    def test_what_is_no_key_is_refused_before_the_call(self, key):
        """With what one is."""
        with pytest.raises(InvalidPayload, match=r"^key: "):
            once(key, book)
        assert not Trace.objects.exists()

    def test_it_makes_no_difference_how_arguments_are_passed(self):
        """By place, by name or by a partial function; the types that hints name are known behind a decorator too."""
        once("k", book, "a")

        assert once("k", book, what="a") == once("k", partial(book, "a")) == once("k", partial(book, what="a"))
        with pytest.raises(KeyReused):
            once("k", partial(book, "b"))
        assert once("other", transaction.atomic(pay), datetime(2026, 11, 30, tzinfo=UTC), Decimal(1)) == 1

    def test_what_tells_no_request_apart_is_refused(self):
        """An object has no text that is the same tomorrow."""
        with pytest.raises(InvalidPayload, match=r"args\[0\]: is an object, which JSON cannot hold"):
            once("k", book, object())


class TestExternal:
    """Effects elsewhere."""

    def test_the_key_goes_to_the_other_side_and_the_result_is_kept(self):
        """A second attempt has the result, and calls nobody."""
        with attempt() as job:
            assert once.external("k", charge, 5) == {"charged": 5}
        with attempt(job=job):
            assert once.external("k", charge, 5) == {"charged": 5}

        assert calls == ["k"]

    def test_no_lock_and_no_transaction_is_held_meanwhile(self):
        """A remote call may take minutes."""

        def look(*, idempotency_key):
            assert not connection.in_atomic_block
            assert Effect.objects.select_for_update(nowait=True).first is not None
            return [race(lambda: Effect.objects.filter(key="k").update(job_id=None))]

        with attempt():
            assert once.external("k", look) == [[1]]

    def test_what_fails_frees_the_key(self):
        """The next attempt calls again, under the same key."""
        with attempt() as job, pytest.raises(ConnectionError):
            once.external("k", refuse)
        assert not Effect.objects.exists()

        with attempt(job=job):
            once.external("k", charge, 5)
        assert calls == ["k", "k"]

    def test_while_another_attempt_is_at_it_the_job_comes_back_later(self):
        """It is snoozed, uncharged, and calls nobody."""
        with attempt() as holder:
            effects.hold("k", request_of("k", charge, 5), **holder_words(), keep_seconds=60, using="default")
        with attempt(), pytest.raises(AlreadyBeingDone) as caught:
            once.external("k", charge, 5)

        assert isinstance(caught.value, Snooze)
        assert (caught.value.seconds, calls, holder.pk) == (5.0, [], Effect.objects.get().job_id)

    def test_what_an_attempt_that_is_gone_has_begun_is_taken_over(self):
        """Its job has another token, or none: the call is made again, under the same key."""
        with attempt() as job:
            effects.hold("k", request_of("k", charge, 5), **holder_words(), keep_seconds=60, using="default")
        with attempt(job=job):
            assert once.external("k", charge, 5) == {"charged": 5}

        assert calls == ["k"]
        assert Effect.objects.get().token is None

    def test_what_was_begun_with_another_request_is_not_taken_over(self):
        """It may have happened."""
        with attempt() as job:
            effects.hold("k", request_of("k", charge, 5), **holder_words(), keep_seconds=60, using="default")
        with attempt(job=job), pytest.raises(KeyReused):
            once.external("k", charge, 6)
        assert calls == []

    def test_by_once_it_is_taken_over_too(self):
        """A project may move an effect into the queue's database; who lives is waited for, and nobody for ever."""
        with attempt() as job:
            effects.hold("k", request_of("k", book, "x"), **holder_words(), keep_seconds=60, using="default")
            with pytest.raises(AlreadyBeingDone):
                once("k", book, "x")
        with attempt(job=job):
            with pytest.raises(KeyReused):
                once("k", book, "y")
            assert once("k", book, "x") == once("k", book, "x")

        assert Trace.objects.count() == 1
        assert (Effect.objects.get().token, Effect.objects.get().result["what"]) == (None, "x")

    def test_of_two_that_take_a_key_over_one_has_its_effect(self):
        """What the other one has done is undone, and it answers with the first one's result."""
        with attempt() as job:
            effects.hold("k", request_of("k", book, "x"), **holder_words(), keep_seconds=60, using="default")
        lose_lease(job)
        first, second = race(*[lambda: once("k", book, "x")] * 2)

        assert first == second
        assert (Trace.objects.count(), Effect.objects.count()) == (1, 1)

    def test_an_attempt_that_lost_its_key_meanwhile_is_told(self):
        """The one that has taken it over answers for it."""

        def overtaken(*, idempotency_key):
            lose_lease(job)
            race(overtake)

        def overtake():
            with attempt():
                effects.hold("k", request_of("k", overtaken), **holder_words(), keep_seconds=60, using="default")

        with attempt() as job, pytest.raises(LeaseLost, match="has taken 'k' over"):
            once.external("k", overtaken)
        assert Effect.objects.get().token is not None

    def test_a_connection_that_died_meanwhile_is_replaced(self):
        """A call may take longer than a pooler keeps an idle session: what it came to is written all the same."""

        def outlast(*, idempotency_key):
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                (pid,) = cursor.fetchone()
            race(lambda: terminate(pid))
            return 1

        with attempt():
            assert once.external("k", outlast) == 1
        assert Effect.objects.get().done_at is not None

    def test_it_belongs_in_a_job(self):
        """Elsewhere nobody could tell whether who began it still lives."""
        with pytest.raises(NotInAJob, match="belongs in a job"):
            once.external("k", charge, 5)

    def test_it_must_not_be_part_of_a_transaction(self):
        """That would be held while the other side takes its time."""
        words = r"^once\.external\('k', …\) cannot run in a transaction, so not in a task with atomic=True"
        for is_atomic in (False, True):
            with attempt(is_atomic=is_atomic), transaction.atomic(), pytest.raises(RuntimeError, match=words):
                once.external("k", charge, 5)
        assert calls == []

    def test_a_call_that_takes_no_key_is_refused(self):
        """Without it the other side cannot know the second call."""
        with attempt(), pytest.raises(InvalidPayload, match=r"call: book\(\) takes no idempotency_key; add it"):
            once.external("k", book)
        assert not Effect.objects.exists()


class TestLifetime:
    """Records are kept for as long as was said."""

    def test_records_are_pruned_when_their_time_is_over_and_never_earlier(self, capsys):
        """Also what an attempt has begun that is gone; what a living one is at stays."""
        make = {"request": "r", "result": 1}
        past, future = datetime(2020, 1, 1, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC)
        living = make_job("RUNNING")
        token = uuid4()
        Job.objects.filter(pk=living.pk).update(lease_token=token)
        Effect.objects.create(key="over", done_at=past, keep_until=past, **make)
        Effect.objects.create(key="kept", done_at=past, keep_until=future, **make)
        Effect.objects.create(key="gone", token=uuid4(), job_id=living.pk, keep_until=past, request="r")
        Effect.objects.create(key="at it", token=token, job_id=living.pk, keep_until=past, request="r")

        assert effects.prune(using="default", limit=1) == 1
        call_command("jobqueue", "prune")
        assert capsys.readouterr().out == "1 records of once deleted\n"
        assert set(Effect.objects.values_list("key", flat=True)) == {"kept", "at it"}

    def test_how_long_is_an_option(self, settings):
        """Counted from when it was done, on the database's clock."""
        settings.TASKS = {"default": {**settings.TASKS["default"], "OPTIONS": {"keep_effects_seconds": 3600}}}
        once("k", book)

        effect = Effect.objects.get()
        assert (effect.keep_until - effect.done_at).total_seconds() == 3600


def request_of(key, call, *args):
    """Make the fingerprint that `once` makes."""
    from django_jobqueue.idempotency import _request

    return _request(key, call, args, {}, secrets={})


def holder_words():
    """Name the attempt that runs."""
    current = running.attempt.get()
    return {"job_id": current.job_id, "token": current.token}
