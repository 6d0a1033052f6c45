"""The keeper: what reaches it after it was told to stop does not start."""

import pytest

from django_jobqueue.conf import Options
from django_jobqueue.registry import discover
from django_jobqueue.worker import clock
from django_jobqueue.worker.child import Phase
from django_jobqueue.worker.keeper import Keeper
from django_jobqueue.worker.plan import WorkerPlan
from tests.worker.flights import flight, runner

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def keeper():
    """A keeper that has been made and not been run."""
    keeper = Keeper(WorkerPlan("default", Options(notify=False)), discover())
    yield keeper
    keeper._exchange.close()
    keeper._crew.close()
    keeper._wakeup.close()


def test_a_claim_that_answers_after_the_signal_starts_nothing(keeper):
    """Jobs of a claim that was under way when the signal came are given back, in the turn of the reply or the next."""
    placed = []
    keeper._crew.place = lambda _now, _lease_margin: placed.extend(keeper._crew.fleet.waiting)
    # The reply is taken in the exchange's turn, after the signal was noticed.
    turn = keeper._exchange.turn
    keeper._exchange.turn = lambda now: keeper._crew.fleet.waiting.append(flight()) or turn(now)
    keeper._count_signal()
    keeper._turn()
    keeper._stop_if_told(clock.now())

    assert placed == []
    assert keeper._crew.fleet.waiting == []


def test_a_spent_runner_is_replaced_in_the_turn_that_hears_of_it(keeper, monkeypatch):
    """Its last job has ended: it is killed at once, and the next one is started at once, whenever the next look is."""
    monkeypatch.setattr(keeper, "_check_at", clock.now() + 3600)
    spent, _ = runner(0)
    spent.jobs_left = 0
    keeper._crew.fleet.runners[0] = spent
    keeper._turn()
    assert spent.phase is Phase.DYING

    keeper._check_at = clock.now() + 3600
    keeper._crew._on_exit(0, -9)
    keeper._turn()

    assert keeper._crew.fleet.runners[0].phase is Phase.STARTING
