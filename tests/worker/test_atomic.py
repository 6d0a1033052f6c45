"""An atomic task: what it writes and the record of its success are one."""

from uuid import uuid4

import pytest
from django.db import connection

from django_jobqueue.models import Attempt, Job
from django_jobqueue.policy.outcomes import Committed, Failed, Verdict
from tests.stage.models import Trace
from tests.worker import cast
from tests.worker.orders import run

pytestmark = pytest.mark.django_db(transaction=True, available_apps=["django_jobqueue", "tests.stage"])


@pytest.fixture
def job():
    """A job that runs, as its worker has claimed it."""
    return make_job()


def make_job():
    return Job.objects.create(task="atomic", status="RUNNING", attempt_count=1, lease_token=uuid4(), worker_id=uuid4())


def run_job(task, job, *args, token=None):
    return run(task, *args, job_id=job.pk, token=str(token or job.lease_token))


def test_effects_and_finish_are_committed_together(job):
    """The job is SUCCESSFUL with its attempt and its result, and its effect is there."""
    assert run_job(cast.write_atomically, job) == Committed()

    job.refresh_from_db()
    assert (job.status, job.result, job.lease_token) == ("SUCCESSFUL", "written", None)
    assert Attempt.objects.get(job=job).outcome == "succeeded"
    assert Trace.objects.count() == 1


def test_a_lost_lease_rolls_the_work_back(job):
    """Another worker has the job by now: nothing of the late one's work is left, and the job is as it was."""
    outcome = run_job(cast.write_atomically, job, token=uuid4())

    assert (type(outcome), outcome.failure.exception_class) == (Failed, "django_jobqueue.exceptions.LeaseLost")
    assert not Trace.objects.exists()
    job.refresh_from_db()
    assert (job.status, job.lease_token is not None) == ("RUNNING", True)
    assert not Attempt.objects.exists()


@pytest.mark.parametrize(
    ("task", "verdict"),
    [(cast.write_and_fail, Verdict.RETRYABLE), (cast.write_and_return_an_object, Verdict.INVALID_RESULT)],
)
def test_a_failure_rolls_the_work_back(job, task, verdict):
    """What did not succeed has no effect; the failure is reported as of any task."""
    outcome = run_job(task, job)

    assert (type(outcome), outcome.verdict) == (Failed, verdict)
    assert not Trace.objects.exists()


def test_an_error_on_commit_is_a_failure(job):
    """A constraint that is checked at the COMMIT fails the attempt, and nothing is committed."""
    outcome = run_job(cast.break_at_commit, job)

    assert (type(outcome), outcome.failure.exception_class) == (Failed, "django.db.utils.IntegrityError")
    assert not Trace.objects.exists()
    job.refresh_from_db()
    assert job.status == "RUNNING"


@pytest.mark.parametrize("times", [1, 2])
def test_once_does_its_work_in_a_callback_of_the_commit(caplog, times):
    """The lease is given up by then: the commit was the last question, and the key alone says whether it was done."""
    for _ in range(times):
        assert run_job(cast.do_once_after_the_commit, make_job(), "booked") == Committed()

    assert sorted(Trace.objects.values_list("what", flat=True)) == ["booked", *["did booked"] * times]
    assert "is committed; a callback" not in caplog.text


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("external", "NotInAJob: once.external('paid', …) belongs in a job, and this one is finished"),
        ("atomic", "RuntimeError: A durable atomic block"),
    ],
)
def test_what_once_cannot_do_in_a_callback_of_the_commit_is_told(job, caplog, how, words):
    """A second callback could not tell whether the first still lives; and an outer block could undo the record."""
    run_job(cast.do_once_after_the_commit, job, "paid", how)

    assert words in caplog.text
    assert not Trace.objects.exists()


def test_an_error_after_the_commit_changes_nothing(job, caplog):
    """A callback that fails after the COMMIT is logged: the job has succeeded by then."""
    assert run_job(cast.fail_after_the_commit, job) == Committed()

    job.refresh_from_db()
    assert job.status == "SUCCESSFUL"
    assert "Boom" in caplog.text


def test_renewals_do_not_disturb_it(job):
    """A stricter isolation of the project would make the last write fail after a renewal: it is READ COMMITTED."""
    assert run_job(cast.tell_isolation, job) == Committed()

    job.refresh_from_db()
    assert job.result == "read committed"


def test_the_connection_is_left_as_it_was(job):
    """The short limit for an idle transaction is this transaction's own: the connection is as before."""
    run_job(cast.write_atomically, job)

    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('idle_in_transaction_session_timeout')")
        assert cursor.fetchone() == ("0",)
