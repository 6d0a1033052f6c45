"""The judge: the end of an attempt becomes a settlement."""

from uuid import uuid4

import pytest

from django_jobqueue.conf import Options
from django_jobqueue.policy.lifecycle import Reason, WaitingFor
from django_jobqueue.policy.outcomes import Failed, Failure, Lost, Succeeded, TimedOut
from django_jobqueue.policy.retry import Bury, Finish, Release, Tally, Wait
from django_jobqueue.registry import Registry
from django_jobqueue.store.rescue import TakenOver
from django_jobqueue.worker.judge import Judge
from tests.worker import cast
from tests.worker.flights import claimed

BOOM = Failure("shop.Boom", "the till is on fire")


@pytest.fixture
def judge():
    """A judge that knows the cast."""
    tasks = [cast.fail_with_policy, cast.fail_and_ask, cast.owned]
    return Judge(Registry({task.module_path: task for task in tasks}), Options(max_interruptions=2, max_snoozes=3))


def step_of(judge, outcome, *, task=cast.fail_with_policy, max_attempts=3, **tally):
    job = claimed(task=task.module_path, tally=Tally(**tally), max_attempts=max_attempts)
    return judge.settlement(job, uuid4(), outcome).decision.step


def test_the_row_says_how_many_attempts(judge):
    """max_attempts is the job's own, fixed when it was enqueued, whatever the code says now."""
    assert isinstance(step_of(judge, Failed(BOOM), max_attempts=5, failure_count=3), Wait)
    assert step_of(judge, Failed(BOOM), max_attempts=2, failure_count=1) == Bury(Reason.ATTEMPTS_EXHAUSTED)


def test_a_declared_back_off_is_kept(judge):
    """The wait is that of the task's policy, with jitter."""
    waits = [step_of(judge, Failed(BOOM)).after_seconds for _ in range(50)]

    assert all(3.5 <= wait <= 7.0 for wait in waits)
    assert max(waits) - min(waits) > 1.4


def test_a_callable_back_off_is_not_called_in_the_keeper(judge):
    """Where the runner could not ask, the default policy says how long: 2 s at most after the first failure."""
    assert step_of(judge, TimedOut(BOOM), task=cast.fail_and_ask).after_seconds <= 2.0


def test_a_task_that_nobody_knows_has_the_defaults(judge):
    """A job of a task that is gone can be settled all the same: nobody's, with the default wait."""
    settlement = judge.settlement(claimed(task="gone.task"), uuid4(), Lost(BOOM, crashed=True))

    assert settlement.owner == ""
    assert settlement.decision.step.after_seconds <= 2.0


def test_the_owner_goes_on_the_settlement(judge):
    """A letter will name who answers for it."""
    settlement = judge.settlement(claimed(task=cast.owned.module_path), uuid4(), Failed(BOOM))

    assert (settlement.owner, settlement.task) == ("billing", cast.owned.module_path)


def test_a_rescued_job_is_judged_like_any_other(judge):
    """What another worker lost is settled under the rescuer's token."""
    token = uuid4()
    job = TakenOver(7, cast.owned.module_path, 2, token, uuid4(), 3, Tally(failure_count=1))

    settlement = judge.settlement(job, token, Lost(BOOM))

    assert (settlement.job_id, settlement.token, settlement.decision.step) == (7, token, Release())


def test_fifty_snoozes_do_not_make_a_failure_wait_longer(judge):
    """The back-off counts failures, not attempts: the first one after many snoozes waits as a first one does."""
    step = step_of(judge, TimedOut(BOOM), task=cast.fail_and_ask, max_attempts=3, snooze_count=2)

    assert step.after_seconds <= 2.0
    assert step.waiting_for == WaitingFor.RETRY


def test_success_finishes(judge):
    """A success is stored as it is."""
    assert step_of(judge, Succeeded('{"a": 1}')) == Finish('{"a": 1}')
