"""For the tests of a project: run jobs where the test is, look at what was enqueued, and deliver a job twice.

    run_jobs             run what is due, in this process and its transaction
    assert_enqueued      a job of this task with these arguments is there
    assert_not_enqueued  none is
    assert_waits_for     a job that did not run waits for this: a limit, a pause, its turn
    why                  all that stands in the way of a job
    deliver_twice        kill the process of a task before and after each commit, run it again, and compare its effects

They need the backend of this app and PostgreSQL, in the tests as in production.
"""

from django_jobqueue.testing.assertions import assert_enqueued, assert_not_enqueued
from django_jobqueue.testing.drill import Drill, deliver_twice
from django_jobqueue.testing.hands import JobFailed, Ran, run_jobs
from django_jobqueue.testing.waits import assert_waits_for, why

__all__ = [
    "Drill",
    "JobFailed",
    "Ran",
    "assert_enqueued",
    "assert_not_enqueued",
    "assert_waits_for",
    "deliver_twice",
    "run_jobs",
    "why",
]
