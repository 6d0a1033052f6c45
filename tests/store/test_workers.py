"""Workers write down that they are alive, for the people who look."""

from uuid import uuid4

import pytest

from django_jobqueue.models import Worker
from django_jobqueue.store.workers import WorkerCard, announce_worker
from tests.store.hands import COMMITS

pytestmark = COMMITS


def card(**columns):
    facts = {"backend": "default", "hostname": "host-7", "pid": 42, "queues": ("mail", "b*")}
    return WorkerCard(
        **{
            "id": uuid4(),
            **facts,
            "tasks": {"shop.charge": 1},
            "processes": 2,
            "threads": 3,
            "coroutines": 4,
            **columns,
        }
    )


@pytest.fixture
def announce(worker):
    """Have a worker announce itself."""

    def announce(card, **facts):
        worker.session.run(announce_worker(card, **{"running": 0, "stale_refused": 0, **facts}))
        return Worker.objects.get(pk=card.id)

    return announce


def test_the_first_announcement_writes_the_card(announce):
    """A worker that starts is there with all that it says of itself."""
    mine = card()

    seen = announce(mine, running=5)

    assert (seen.hostname, seen.pid, seen.queues, seen.backend) == ("host-7", 42, ["mail", "b*"], "default")
    assert (seen.processes, seen.threads, seen.coroutines, seen.running) == (2, 3, 4, 5)
    assert seen.started_at == seen.last_seen_at
    assert seen.stopped_at is None


def test_the_next_announcement_moves_last_seen(announce):
    """A worker that speaks again has one row, started when it was, seen now, with its numbers of now."""
    mine = card()
    first = announce(mine, running=5)

    second = announce(mine, running=1, stale_refused=2)

    assert Worker.objects.count() == 1
    assert second.started_at == first.started_at
    assert second.last_seen_at > first.last_seen_at
    assert (second.running, second.stale_refused) == (1, 2)


def test_a_worker_that_stops_says_when(announce):
    """The last word of a worker is the moment it stopped; one that speaks after all has not stopped."""
    mine = card()
    announce(mine)

    stopped = announce(mine, stopped=True)

    assert stopped.stopped_at == stopped.last_seen_at
    assert announce(mine).stopped_at is None


def test_workers_do_not_touch_each_other(announce):
    """Each worker writes its own row only."""
    one, other = card(), card(hostname="host-8")
    announce(one)
    announce(other, stopped=True)

    assert Worker.objects.get(pk=one.id).stopped_at is None


@pytest.mark.parametrize("hostname", ["h" * 400, 'say "hi"', "naïve-host", ""])
def test_any_hostname_can_be_written(announce, hostname):
    """A name that is too long is cut; no character harms."""
    assert announce(card(hostname=hostname, queues=('q"\\', "%_*"))).hostname == hostname[:255]
