"""Renew: a lease is moved on, or its holder learns that it is lost or busy."""

import pytest

from django_jobqueue.store.cancel import cancel
from tests.store.hands import (
    COMMITS,
    FINISH,
    Ask,
    add_job,
    add_jobs,
    lease_seconds_left,
    let_leases_run_out,
    locked,
    row,
)

pytestmark = COMMITS


def test_a_renewal_moves_the_end_of_the_lease(worker):
    """The lease ends so many seconds from the renewal, and nothing else of the job changes."""
    job_id = add_job()
    (held,) = worker.claim(lease_seconds=5)
    before = row(job_id)

    assert worker.renew(held, lease_seconds=90)[:3] == ({held.lease}, set(), set())
    assert 80 < lease_seconds_left(job_id) <= 90
    after = row(job_id)
    assert {**after, "lease_expires_at": None} == {**before, "lease_expires_at": None}


def test_a_lease_that_ran_out_can_be_renewed_while_nobody_took_it(worker):
    """The token is the fence, not the time: a late renewal is good as long as no one has rescued the job."""
    job_id = add_job()
    (held,) = worker.claim()
    let_leases_run_out(held)

    assert worker.renew(held).renewed == {held.lease}
    assert lease_seconds_left(job_id) > 0


def test_a_rescued_job_is_lost(worker, rival):
    """A worker whose job was taken over is told that its lease is lost, and moves nothing."""
    job_id = add_job()
    (held,) = worker.claim()
    let_leases_run_out(held)
    rival.rescue(lease_seconds=7)

    assert worker.renew(held, lease_seconds=90)[:3] == (set(), {held.lease}, set())
    assert lease_seconds_left(job_id) <= 7


@pytest.mark.parametrize("end", ["settled", "deleted"])
def test_a_job_that_is_over_is_lost(worker, end):
    """There is no lease to renew on a job that ended or is gone."""
    job_id = add_job()
    (held,) = worker.claim()
    if end == "settled":
        worker.settle(held.settled_as(FINISH))
    else:
        worker.session.run(Ask("DELETE FROM django_jobqueue_job WHERE id = %s RETURNING id", [job_id]))

    assert worker.renew(held)[:3] == (set(), {held.lease}, set())


def test_a_locked_job_is_busy_not_lost(worker):
    """A row that somebody else has locked is busy: its lease runs on, and its job need not be stopped."""
    job_id = add_job()
    (held,) = worker.claim(lease_seconds=20)
    with locked(job_id):
        assert worker.renew(held, lease_seconds=90)[:3] == (set(), set(), {held.lease})
        assert 0 < lease_seconds_left(job_id) <= 20

    assert worker.renew(held, lease_seconds=90).renewed == {held.lease}


def test_each_lease_of_a_batch_has_its_own_answer(worker, rival):
    """Renewed, lost and busy leases in one call do not disturb each other."""
    add_jobs(6)
    held = worker.claim(4)
    late = worker.claim(2)
    let_leases_run_out(*late)
    rival.rescue()
    with locked(held[1].id):
        renewal = worker.renew(late[1], *reversed(held), late[0])

    assert renewal.renewed == {held[0].lease, held[2].lease, held[3].lease}
    assert renewal.busy == {held[1].lease}
    assert renewal.lost == {each.lease for each in late}


def test_no_lease_is_no_work(worker):
    """A renewal of nothing answers with nothing."""
    assert worker.renew()[:3] == (set(), set(), set())


@pytest.mark.parametrize(("forced", "unwanted", "by_force"), [(False, True, False), (True, True, True)])
def test_a_renewal_says_what_a_person_wants_cancelled(worker, forced, unwanted, by_force):
    """The answer names the jobs that were asked to stop, and those that must; their leases are renewed all the same."""
    asked, _ = add_jobs(2)
    first, second = worker.claim(2)
    cancel(asked, by="ada", reason="", force=forced, using="default")

    renewal = worker.renew(first, second)

    assert renewal.renewed == {first.lease, second.lease}
    assert renewal.unwanted == ({first.lease} if unwanted else set())
    assert renewal.forced == ({first.lease} if by_force else set())
