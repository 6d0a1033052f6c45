"""The ledger: nothing that is decided is lost, and one bad row stops no other."""

import json
from uuid import uuid4

import psycopg
import pytest

from django_jobqueue.policy.lifecycle import Reason, WaitingFor
from django_jobqueue.policy.outcomes import (
    Cancelled,
    Failed,
    Failure,
    Interrupted,
    Lost,
    OutcomeName,
    Snoozed,
    Succeeded,
    TimedOut,
    Verdict,
)
from django_jobqueue.policy.retry import Bury, Decision, Finish, Release, Wait
from django_jobqueue.store.renew import Lease
from django_jobqueue.store.settle import Settlement
from django_jobqueue.worker.ledger import MAX_BATCH, MAX_BATCH_BYTES, Batch, Ledger, bare, is_refusal
from django_jobqueue.worker.wire import read_outcome, wire

BAD = psycopg.errors.UntranslatableCharacter("no such character")


def settlement(job_id, *, message="it fails", step=None, **words):
    step = step or Release()
    return Settlement(job_id, uuid4(), Decision(step, OutcomeName.FAILED, Failure("E", message), charged=True), **words)


def lease(job_id):
    return Lease(job_id, uuid4())


def filled(settlements=0, leases=0):
    ledger = Ledger()
    for number in range(settlements):
        ledger.add(settlement(number))
    for number in range(leases):
        ledger.give_back(lease(1_000_000 + number))
    return ledger


def ids(batch):
    return [s.job_id for s in batch.settlements] + [each.job_id for each in batch.leases]


def write_all(ledger, is_refused, *, limit=200):
    """Write as a worker does to a server that refuses such rows; answer with what was written."""
    written = []
    for _ in range(limit):
        batch = ledger.take()
        if not batch.size:
            return written
        if any(map(is_refused, [*batch.settlements, *batch.leases])):
            ledger.refused(batch, BAD)
        else:
            ledger.written(batch)
            written += [*batch.settlements, *batch.leases]
    raise AssertionError("the ledger never became empty")


def test_a_batch_holds_what_was_added_first():
    """Batches come in the order of the decisions, settlements before leases, each of bounded size."""
    ledger = filled(MAX_BATCH + 5, 3)

    first, second, third = ledger.take(), ledger.take(), ledger.take()

    assert ids(first) == list(range(MAX_BATCH))
    assert ids(second) == [*range(MAX_BATCH, MAX_BATCH + 5), *range(1_000_000, 1_000_003)]
    assert third == Batch([], [])
    assert ledger.is_empty


def test_a_batch_is_bounded_in_bytes_too():
    """Large results go a few at a time, however many rows that is, and one that is larger than all goes alone."""
    ledger = Ledger()
    sizes = [MAX_BATCH_BYTES // 2, MAX_BATCH_BYTES // 2, 10, MAX_BATCH_BYTES * 3, 10]
    for number, size in enumerate(sizes):
        ledger.add(Settlement(number, uuid4(), Decision(Finish("x" * size), OutcomeName.SUCCEEDED)))

    assert [ids(ledger.take()) for _ in range(4)] == [[0, 1], [2], [3], [4]]


def test_a_batch_that_was_not_heard_of_is_tried_in_halves():
    """Perhaps it was too much for the time that a call may take: the same again would never be written."""
    ledger = filled(64)
    sizes = []
    for _ in range(4):
        batch = ledger.take()
        sizes.append(batch.size)
        ledger.doubt(batch)

    assert sizes == [64, 32, 16, 8]


def test_put_back_keeps_the_order():
    """After an outage the same batch is taken again, before what came meanwhile."""
    ledger = filled(5, 2)
    batch = ledger.take()
    ledger.add(settlement(77))
    ledger.give_back(lease(78))

    ledger.put_back(batch)

    assert not ledger.is_empty
    assert ids(ledger.take()) == [0, 1, 2, 3, 4, 77, 1_000_000, 1_000_001, 78]


@pytest.mark.parametrize("bad", [0, 1, 500, 998, 999])
def test_halving_finds_the_bad_row(bad, caplog):
    """One row that is refused is found among a thousand; the others are written as they are, in their order."""
    ledger = filled(1000)

    written = write_all(ledger, lambda row: row.job_id == bad and row.decision.failure.message == "it fails", limit=60)

    assert [row.job_id for row in written] == list(range(1000))
    assert [row.job_id for row in written if row.decision.failure.message != "it fails"] == [bad]
    assert f"job {bad}: " in caplog.text


def test_several_bad_rows_are_found():
    """Each of many bad rows ends up alone."""
    ledger = filled(300, 10)
    bad = {3, 4, 100, 299}

    written = write_all(ledger, lambda row: row.job_id in bad and row.decision.failure.message == "it fails")

    assert sorted(row.job_id for row in written) == [*range(300), *range(1_000_000, 1_000_010)]


def test_a_row_that_is_always_refused_is_given_up(caplog):
    """A row that is refused even with the fewest words is dropped, and the others do not wait for it."""
    ledger = filled(20)

    written = write_all(ledger, lambda row: row.job_id == 7)

    assert [row.job_id for row in written] == [number for number in range(20) if number != 7]
    assert "job 7: its outcome cannot be stored" in caplog.text
    assert ledger.is_empty


@pytest.mark.parametrize("is_hopeless", [False, True])
def test_the_search_for_a_bad_row_has_an_end(is_hopeless):
    """When all is written or given up, nothing is being looked for.

    A worker that only waits for that would claim no more.
    """
    ledger = filled(8)

    write_all(ledger, lambda row: row.job_id == 7 and (is_hopeless or row.decision.failure.message == "it fails"))

    assert not ledger.is_isolating


def test_what_waits_for_a_lock_is_kept_apart_until_it_is_free():
    """A batch that ran into a lock is not written before it is known whose row is locked; its leases are still held."""
    ledger = filled(3, 1)
    batch = ledger.take()

    ledger.set_aside(batch)
    assert (ledger.has_batch, ledger.is_empty) == (False, False)
    assert {each.token for each in ledger.locked()} == {each.token for each in ledger.leases()}

    ledger.unlock(busy=frozenset({ledger.locked()[1]}))
    # The batches are half as large now: it might have been the server that was slow.
    assert sorted([*ids(ledger.take()), *ids(ledger.take())]) == [0, 2, 1_000_000]
    assert [each.job_id for each in ledger.locked()] == [1]


def test_a_lease_that_cannot_be_given_back_is_given_up(caplog):
    """A job that cannot be given back is left to its lease."""
    ledger = filled(3, 3)

    written = write_all(ledger, lambda row: row.job_id == 1_000_001)

    assert len(written) == 5
    assert "job 1000001 cannot be given back" in caplog.text


def test_while_a_bad_row_is_looked_for_batches_are_small():
    """The ledger says that it is isolating from the refusal until whole batches are written again."""
    ledger = filled(1000)
    assert not ledger.is_isolating

    ledger.refused(ledger.take(), BAD)
    assert ledger.is_isolating
    assert ledger.take().size == 500


def test_the_size_grows_again():
    """After the bad row is found, batches double until they are as large as before."""
    ledger = filled(4000)
    for size in (1000, 500, 250):
        batch = ledger.take()
        assert batch.size == size
        ledger.refused(batch, BAD)

    sizes = []
    while ledger.is_isolating:
        batch = ledger.take()
        sizes.append(batch.size)
        ledger.written(batch)

    assert sizes == [125, 250, 500]


@pytest.mark.parametrize("step", [Release(), Bury(Reason.REJECTED), Wait(5.0, WaitingFor.RETRY)])
def test_a_bare_record_keeps_the_decision(step):
    """What follows for the job is the same without the words."""
    full = settlement(1, message="漢字", step=step, task="shop.charge", owner="billing")

    short = bare(full)

    assert (short.job_id, short.token, short.decision.step) == (full.job_id, full.token, step)
    assert (short.decision.charged, short.decision.outcome) == (True, "failed")
    assert short.decision.failure.message.isascii()


def test_a_result_that_is_refused_is_an_invalid_result():
    """A success whose result PostgreSQL does not take becomes a dead letter: to run it again would not help."""
    short = bare(settlement(1, step=Finish('"\\u0000"')))

    assert short.decision.step == Bury(Reason.INVALID_RESULT)
    assert (short.decision.outcome, short.decision.charged) == ("failed", True)


@pytest.mark.parametrize("text", ["half a pair \ud800", "NUL \0", "漢字", "x" * 5000])
def test_a_bare_record_can_be_stored(text):
    """No word of a bare record is one that could be refused; to shorten it again changes nothing."""
    full = Settlement(1, uuid4(), Decision(Release(), OutcomeName.FAILED, Failure(text, text, text)), owner=text)

    short = bare(full)

    words = (short.decision.failure.exception_class, short.decision.failure.message, short.owner)
    assert all(word.isascii() and "\0" not in word and len(word) <= 255 for word in words)
    assert bare(short) == short


@pytest.mark.parametrize(
    ("error", "refused"),
    [
        (psycopg.errors.UntranslatableCharacter(), True),
        (psycopg.errors.InvalidTextRepresentation(), True),
        (psycopg.errors.UniqueViolation(), True),
        (psycopg.errors.StringDataRightTruncation(), True),
        (psycopg.errors.NumericValueOutOfRange(), True),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"), True),
        (psycopg.errors.ProgramLimitExceeded(), True),
        (psycopg.errors.InternalError_(), True),
        (psycopg.errors.FeatureNotSupported(), True),
        (psycopg.DataError("cannot be adapted"), True),
        (psycopg.OperationalError(), False),
        (psycopg.InterfaceError(), False),
        (psycopg.errors.AdminShutdown(), False),
        (psycopg.errors.DiskFull(), False),
        (psycopg.errors.ReadOnlySqlTransaction(), False),
        (psycopg.errors.DeadlockDetected(), False),
        (psycopg.errors.QueryCanceled(), False),
        (psycopg.errors.UndefinedTable(), False),
        (psycopg.errors.InsufficientPrivilege(), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_refusal_is_not_an_outage(error, refused):
    """What is wrong with a row is told from what is wrong with the server; only for the first a batch is halved."""
    assert is_refusal(error) is refused


WORDS = Failure("shop.E", 'it "fails" 🎈', "Traceback…")


@pytest.mark.parametrize(
    "outcome",
    [
        Succeeded('{"a": [1, null]}'),
        Failed(WORDS, Verdict.REJECTED),
        Failed(WORDS, after_seconds=2.5),
        Failed(WORDS, after_seconds=float("inf")),
        TimedOut(WORDS),
        Snoozed(60.0),
        Cancelled(WORDS),
        Interrupted(WORDS, counted=False, suspect=True),
        *(Failed(WORDS, verdict) for verdict in Verdict),
    ],
    ids=str,
)
def test_an_outcome_survives_the_way_to_the_keeper(outcome):
    """What a runner puts into words, the keeper reads as the same outcome."""
    assert read_outcome(json.loads(json.dumps(wire(outcome)))) == outcome


def test_a_runner_cannot_say_what_only_a_keeper_knows():
    """That a job was lost is not for its runner to tell."""
    with pytest.raises(TypeError, match="Lost"):
        wire(Lost())


@pytest.mark.parametrize(
    "words", [[], ["lost"], ["succeeded"], ["failed", ["E", "m", "t"], "no verdict", None]], ids=str
)
def test_words_that_are_no_outcome_are_an_error(words):
    """What no runner says is not taken for an outcome."""
    with pytest.raises(ValueError):
        read_outcome(words)
