"""A real worker writes and logs none of the secrets that its jobs were given."""

import pytest

from django_jobqueue.models import Attempt, DeadLetter, Job
from tests import planted
from tests.stage import tasks

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def test_a_worker_says_nothing_of_the_secrets_of_its_jobs(run_until_idle, settings):
    """Neither in its log nor in the rows of attempts; with receivers that fail, and in coroutines too."""
    for name, value in planted.SETTINGS.items():
        setattr(settings, name, value)
    tasks.spill.enqueue(*planted.ARGS, **planted.KWARGS)
    tasks.spill_from_a_coroutine.enqueue(*planted.ARGS, **planted.KWARGS)
    tasks.repeat.enqueue(*planted.ARGS, **planted.KWARGS)

    worker = run_until_idle("--processes", "1", settings=planted.SETTINGS, receivers=True)

    assert DeadLetter.objects.count() == 2
    assert worker.log.count("dead letter: attempts_exhausted") == 2
    rows = [f"{message}\n{traceback}" for message, traceback in Attempt.objects.values_list("message", "traceback")]
    assert planted.leaks({"log": worker.log, "rows": "\n".join(rows)}) == []
    assert all(job.args == planted.ARGS and job.kwargs == planted.KWARGS for job in Job.objects.all())
