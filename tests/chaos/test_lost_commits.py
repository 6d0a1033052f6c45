"""Fault: the reply to COMMIT is lost, of what others than a worker's keeper write: tasks, producers and people."""

from itertools import cycle

from tests.chaos.harness import budgets
from tests.chaos.harness.proxy import Order
from tests.chaos.test_lost_replies import lose

A_ROW, A_JOB = rb'INSERT INTO "stage_order"', rb'INSERT INTO "django_jobqueue_job"'
ATOMIC = Order(A_ROW + rb".*SET status = 'SUCCESSFUL'")
ENQUEUES = [
    Order(A_ROW + rb".*" + A_JOB),
    Order(rb"\A(?!.*BEGIN)(?!.*intent.*intent).*" + A_JOB),
    Order(rb"\A(?!.*BEGIN).*" + A_JOB + rb".*intent.*intent"),
]
ACTS = [Order(rb'INSERT INTO "django_jobqueue_auditentry".*\b' + verb) for verb in (b"cancel", b"replay", b"discard")]


def lose_in_turn(orders):
    """Return the fault that loses one reply, each time of the next kind."""
    faults = cycle([lose(order) for order in orders])

    def fault(drill):
        return next(faults)(drill)

    return fault


def test_an_atomic_task_whose_commit_is_lost_has_succeeded_once(drill, times):
    """Its runner does not know; the row and the success are there, once, and nothing is charged."""
    with drill("lost_reply_atomic", proxied=True, mix={"fast": 0.5, "atomic": 0.5}) as stage:
        report = stage.run(lose(ATOMIC), times(5), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()


def test_an_enqueue_whose_reply_is_lost_left_one_job_or_none(drill, times):
    """By itself, with the caller's row, or several at once: the jobs are there once and together, or not at all."""
    with drill("lost_reply_enqueue", proxied=True, only_line=0, proxied_producer=True) as stage:
        report = stage.run(lose_in_turn(ENQUEUES), times(9, 90), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()
        outcomes = [fact["what"] for fact in report.evidence.outcomes.values()]
        assert outcomes.count("indeterminate") >= times(9, 90)


def test_a_person_who_asks_again_is_told_that_it_was_done(drill, times):
    """The reply to a cancel, replay or discard is lost: the second call is refused, and there is one audit entry."""
    mix = {"fast": 0.4, "slow": 0.3, "long": 0.1, "dies": 0.2}
    with drill(
        "lost_reply_person", proxied=True, only_line=0, proxied_person=True, acts_a_second=5, rate=20, mix=mix
    ) as stage:
        report = stage.run(lose_in_turn(ACTS), times(6, 90))

        assert report.is_good, report.details()
        on_record = {int(entry["reason"].removeprefix("act ")) for entry in report.evidence.audit}
        again = [act for act, fact in report.evidence.acts.items() if fact["again"] in on_record]
        assert len(again) >= times(6, 90)
