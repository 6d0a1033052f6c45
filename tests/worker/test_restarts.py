"""When runners that ended are started again."""

from django_jobqueue.worker.restarts import MAX_DEATH_SECONDS, MAX_START_SECONDS, Restarts


def test_one_death_is_mended_at_once_and_deaths_in_a_row_wait_longer_and_longer():
    """Nothing, a tenth of a second, twice as much each time, and never more than the cap."""
    restarts = Restarts()

    assert [restarts.died(0) for _ in range(7)] == [0.0, 0.1, 0.2, 0.4, 0.8, MAX_DEATH_SECONDS, MAX_DEATH_SECONDS]


def test_an_attempt_that_ends_in_an_orderly_way_starts_the_count_anew():
    """A runner that has worked meanwhile is replaced at once; being ready is not enough."""
    restarts = Restarts()
    restarts.died(0)
    restarts.started()
    assert restarts.died(0) == 0.1

    restarts.worked(0)
    assert restarts.died(0) == 0.0


def test_each_runner_has_its_own_count():
    """The deaths of one runner do not keep another one waiting."""
    restarts = Restarts()
    restarts.died(0)

    assert restarts.died(1) == 0.0


def test_starts_that_fail_wait_longer_until_one_is_ready():
    """What dies before it is ready is waited for from the first time on, up to a higher cap."""
    restarts = Restarts()
    waits = [restarts.start_failed() for _ in range(12)]
    assert waits[:3] == [0.1, 0.2, 0.4]
    assert waits[-1] == MAX_START_SECONDS

    restarts.started()
    assert restarts.start_failed() == 0.1


def test_a_runner_is_due_once_when_its_moment_has_come():
    """Before its moment it is pending, after it was taken it is not."""
    restarts = Restarts()
    restarts.set(3, 10.0)
    assert restarts.take_due(9.9) == []
    assert restarts.are_pending

    assert restarts.take_due(10.0) == [3]
    assert not restarts.are_pending
