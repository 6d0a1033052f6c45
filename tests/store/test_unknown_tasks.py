"""Which due tasks nobody in a worker knows."""

import pytest

from django_jobqueue.store.claim import ALL_ONE, Serving
from django_jobqueue.store.unknown_tasks import unknown_tasks
from tests.store.hands import COMMITS, TASK, add_job

pytestmark = COMMITS


def unknown(worker, served=(), excluded=(), versions=ALL_ONE):
    """Name what this worker does not know, of all that is due."""
    serving = Serving(tuple(served), tuple(excluded))
    (names,) = worker.session.run(
        unknown_tasks(backend="default", tasks=[TASK], versions=versions, serving=serving, older_than_seconds=-1)
    )
    return names


def test_due_tasks_without_a_function_are_named(worker):
    """A task that the worker does not know is named once; one that it knows is not, nor one of another backend."""
    for task, more in [(TASK, {}), ("gone", {}), ("gone", {}), ("elsewhere", {"backend": "other"})]:
        add_job(task=task, **more)

    assert unknown(worker) == {"gone"}


def test_due_versions_that_are_too_new_are_named(worker):
    """With the version, because the task is known."""
    for version in (1, 2, 3, 3):
        add_job(task=TASK, version=version)

    assert unknown(worker, versions={TASK: 2}) == {f"{TASK} v3"}


@pytest.mark.parametrize(
    ("served", "excluded", "named"),
    [((), (), {"a", "b"}), (["mail"], (), {"a"}), (["m%"], (), {"a"}), ((), ["mail"], {"b"}), (["nope"], (), set())],
)
def test_queues_of_others_are_not_this_workers_matter(worker, served, excluded, named):
    """A worker names only tasks in queues that it takes jobs from."""
    add_job(task="a", queue_name="mail")
    add_job(task="b", queue_name="web")

    assert unknown(worker, served, excluded) == named
