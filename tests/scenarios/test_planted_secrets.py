"""A real worker writes and logs none of the secrets that its jobs were given."""

import pytest

from django_jobqueue import Secret
from django_jobqueue.models import Attempt, DeadLetter, Job
from tests import planted, vault
from tests.stage import keyholders as keys
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


REFERENCES = {
    "settings:STAGE_PARTNERS.crm": planted.LOOKED_UP,
    "env:STAGE_PARTNER": planted.LOOKED_UP,
    "vault:kv/stripe#key": vault.VALUES["kv/stripe#key"],
}
SPILLING = (
    keys.spill_key, keys.spill_key_from_a_coroutine, keys.return_key, keys.hand_key_on, keys.make_it_a_unique_key,
    keys.spill_key_after_the_commit,
)  # fmt: skip


@pytest.mark.parametrize("by_fork", [True, False], ids=["forked", "spawned"])
def test_what_a_reference_stands_for_is_in_the_task_alone(run_until_idle, settings, by_fork):
    """In no row of any table and in no line of the log; functions and coroutines get it, from each kind of source."""
    options = {"secret_sources": {"vault": vault.SOURCES["vault"]}}
    default = settings.TASKS["default"]
    settings.TASKS = {"default": default | {"OPTIONS": default["OPTIONS"] | options}}
    for reference in REFERENCES:
        for task in SPILLING:
            task.enqueue(Secret(reference))
        keys.use_key.enqueue("x", client={"key": Secret(reference)})

    worker = run_until_idle(
        "--processes", "1", "--threads", "2",
        options=options,
        settings={"STAGE_PARTNERS": {"crm": planted.LOOKED_UP}},
        environment={"STAGE_PARTNER": planted.LOOKED_UP},
        receivers=True,
        # A thread beside makes forking unsafe.
        thread=not by_fork,
        may_break=True,
    )  # fmt: skip

    used = Job.objects.filter(task=keys.use_key.module_path)
    assert sorted(job.result["client"] for job in used) == sorted(map(len, REFERENCES.values()))
    assert ("threads are alive after the imports (left-behind)" in worker.log) is not by_fork
    assert DeadLetter.objects.count() == 15
    # Each time in the message and in the traceback.
    assert worker.log.count("too late for ••••••") == 6
    secrets = {f"{kind} {n}": part for kind, value in REFERENCES.items() for n, part in enumerate(value.split())}
    long_ones = {kind: part for kind, part in secrets.items() if len(part) > 4}
    assert planted.leaks({"log": worker.log} | planted.rows(), long_ones) == []
