"""The checker finds what it is for: each rule, on evidence that somebody made up."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from tests.chaos.harness import complaints, drain, recovery, rules, rules_for_people
from tests.chaos.harness.drill import Drill
from tests.chaos.harness.evidence import Evidence
from tests.chaos.harness.ledger import Ledger
from tests.chaos.harness.nemesis import Wound

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def job(status="SUCCESSFUL", task="tests.chaos.tasks.work", **more):
    """Make up the row of job 1, which intent 1 has asked for."""
    kwargs = {"intent": 1} | more.pop("kwargs", {})
    return {"id": 1, "status": status, "task": task, "kwargs": kwargs, "max_attempts": 1, "crash_count": 0} | more


def move(old, new, second=0, *, is_unwanted=False):
    """Make up a change of its status."""
    at = BEGAN + timedelta(seconds=second)
    return {"old_status": old, "new_status": new, "at": at, "is_unwanted": is_unwanted}


def entry(action, act=1):
    """Make up an audit entry of what was done to it."""
    return {"object": "job:1", "action": action, "reason": f"act {act}"}


def act(verb, *, again=None, second=0):
    """Make up what the person has asked for."""
    return {"verb": verb, "job": 1, "again": again, "at": BEGAN.timestamp() + second}


def attempt(outcome, *, charged=True, began=0, ended=0):
    """Make up the record of an attempt."""
    moments = {name: BEGAN + timedelta(seconds=at) for name, at in (("started_at", began), ("finished_at", ended))}
    return {"number": 1, "outcome": outcome, "charged": charged, "worker_id": "one", **moments}


def taken(second, lease):
    """Make up that a running job is taken over, with a lease that runs so long."""
    lease = {"old_lease_expires_at": BEGAN + timedelta(seconds=lease), "worker_id": "one"}
    return move("RUNNING", "RUNNING", second) | lease


DONE, UNSURE = {"what": "done"}, {"what": "unsure"}
DEATH = [move("RUNNING", "FAILED")]
LIVES_AGAIN = [*DEATH, move("FAILED", "READY", 1)]
LETTER = {"status": "OPEN", "deaths": 1, "reason": "attempts_exhausted"}
INTENT = {"row": False, "batch": 1}
BREACHES = {
    "an act of nobody": (rules_for_people.acts_are_on_record, {"audit": [entry("cancel")]}),
    "an act without an entry": (
        rules_for_people.acts_are_on_record,
        {"acts": {1: act("cancel")}, "answers": {1: DONE}},
    ),
    "an act with two entries": (
        rules_for_people.acts_are_on_record,
        {"acts": {1: act("replay")}, "answers": {1: UNSURE}, "audit": [entry("replay"), entry("replay")]},
    ),
    "an act that was refused and done": (
        rules_for_people.acts_are_on_record,
        {"acts": {1: act("replay")}, "answers": {1: {"what": "refused"}}, "audit": [entry("replay")]},
    ),
    "done twice": (
        rules_for_people.what_is_asked_again_is_refused,
        {
            "acts": {1: act("discard"), 2: act("discard", again=1)},
            "answers": {1: UNSURE, 2: DONE},
            "audit": [entry("discard"), entry("discard", 2)],
        },
    ),
    "refused for another reason": (
        rules_for_people.what_is_asked_again_is_refused,
        {
            "acts": {1: act("discard"), 2: act("discard", again=1)},
            "answers": {1: UNSURE, 2: {"what": "refused", "code": "not_found"}},
            "audit": [entry("discard")],
        },
    ),
    "a life without a replay": (rules_for_people.a_replay_is_one_new_life, {"moves": {1: LIVES_AGAIN}}),
    "a replay without a life": (
        rules_for_people.a_replay_is_one_new_life,
        {"moves": {1: DEATH}, "audit": [entry("replay")]},
    ),
    "cancelled and back": (
        rules_for_people.what_was_cancelled_does_not_come_back,
        {"moves": {1: [move("RUNNING", "READY", is_unwanted=True)]}},
    ),
    "cancelled and dead": (
        rules_for_people.what_was_cancelled_does_not_come_back,
        {"jobs": {1: job("FAILED")}, "audit": [entry("cancel")]},
    ),
    "cancelled by nobody": (
        rules_for_people.what_was_cancelled_does_not_come_back,
        {"jobs": {1: job("CANCELLED")}},
    ),
    "a death without a letter": (rules.every_death_has_its_letter, {"jobs": {1: job("FAILED")}, "moves": {1: DEATH}}),
    "a letter without a death": (rules.every_death_has_its_letter, {"jobs": {1: job()}, "letters": {1: [LETTER]}}),
    "a letter that is open for ever": (
        rules.every_death_has_its_letter,
        {"jobs": {1: job()}, "letters": {1: [LETTER]}, "moves": {1: LIVES_AGAIN}},
    ),
    "discarded by nobody": (
        rules.every_death_has_its_letter,
        {"jobs": {1: job("FAILED")}, "letters": {1: [LETTER | {"status": "DISCARDED"}]}, "moves": {1: DEATH}},
    ),
    "a reason that does not fit the attempts": (
        rules.every_death_has_its_reason,
        {"jobs": {1: job("FAILED")}, "letters": {1: [LETTER]}, "attempts": {1: [attempt("interrupted")]}},
    ),
    "a suspect for the third time, buried for its interruptions": (
        rules.every_death_has_its_reason,
        {
            "jobs": {1: job("FAILED", crash_count=3)},
            "letters": {1: [LETTER | {"reason": "interrupted_too_often"}]},
            "attempts": {1: [attempt("interrupted", charged=False)]},
        },
    ),
    "exhausted too early": (
        rules.every_death_has_its_reason,
        {"jobs": {1: job("FAILED", max_attempts=2)}, "letters": {1: [LETTER]}, "attempts": {1: [attempt("failed")]}},
    ),
    "a reason that does not fit the task": (
        rules.every_death_has_its_reason,
        {
            "jobs": {1: job("FAILED", crash_count=1, kwargs={"how": "exit"})},
            "letters": {1: [LETTER]},
            "attempts": {1: [attempt("lost")]},
        },
    ),
    "an effect under a key that happened twice": (
        rules.what_is_done_under_a_key_is_done_once,
        {"jobs": {1: job(task="tests.chaos.tasks.work_keyed")}, "traces": Counter({"once 1": 2})},
    ),
    "an effect under a key that did not happen": (
        rules.what_is_done_under_a_key_is_done_once,
        {"jobs": {1: job(task="tests.chaos.tasks.work_external")}},
    ),
    "a row of a rolled back task": (rules.atomic_work_is_there_with_the_success, {"orders": {"atomic 1"}}),
    "a success without its row": (
        rules.atomic_work_is_there_with_the_success,
        {"jobs": {1: job(task="tests.chaos.tasks.work_atomic")}},
    ),
    "taken from a worker that could still renew": (
        rules.nobody_is_rescued_too_early,
        {"moves": {1: [taken(5, 7), move("RUNNING", "WAITING", 6)]}, "attempts": {1: [attempt("lost", ended=6)]}},
    ),
    "half a batch": (
        rules.enqueue_is_all_or_nothing,
        {"jobs": {1: job()}, "intents": {1: INTENT, 2: INTENT}, "outcomes": {}},
    ),
    "too many charged in a life": (
        rules.attempts_are_contiguous_and_bounded,
        {
            "jobs": {1: job("FAILED", attempt_count=1, failure_count=0, interruption_count=0)},
            "attempts": {1: [attempt("failed")]},
        },
    ),
}


@pytest.mark.parametrize("name", BREACHES)
def test_a_breach_is_found(name):
    """Evidence of it has the rule say so; without that evidence the rule says nothing."""
    rule, facts = BREACHES[name]

    assert list(rule(Evidence(**facts)))
    assert not list(rule(Evidence()))


SAMPLED = {2: [move(None, "READY", 90), move("READY", "RUNNING", 100), move("RUNNING", "SUCCESSFUL", 102)]}
"""One job in two seconds."""

FAULT = BEGAN.timestamp() + 10


def drained(moves, **words):
    """Measure what became of job 1, with a fault ten seconds after the beginning, beside a sample of one job."""
    jobs = {1: job(kwargs=words), 2: job(kwargs={"intent": drain.SAMPLE})}
    return drain.measure(Evidence(jobs=jobs, moves=SAMPLED | {1: moves}), FAULT, lease_seconds=2)


@pytest.mark.parametrize(("end", "is_slow"), [(20, False), (50, True)], ids=["in time", "far too late"])
def test_a_backlog_is_compared_with_a_healthy_pace(end, is_slow):
    """What was alive at the fault may take twice as long as it does when nothing is done, and a lease and six seconds.

    What takes three times that is a complaint.
    """
    alive = [move(None, "READY"), move("READY", "RUNNING", 15), move("RUNNING", "SUCCESSFUL", end)]
    found = drained(alive)

    assert (found.backlog, found.seconds, found.pace, found.budget) == (1, end - 10, 0.5, 2 * 2 + 2 + 6)
    assert bool(list(complaints.of_slowness([], None, found))) == is_slow


def test_a_backlog_takes_as_long_as_its_longest_job_runs():
    """A pace says how long many jobs take: one that runs for five seconds does not end in two."""
    alive = [move(None, "READY"), move("READY", "RUNNING", 15), move("RUNNING", "SUCCESSFUL", 20)]

    assert drained(alive, seconds=5.0).budget == 2 * 5 + 2 + 6
    assert drained(alive, seconds=1.0).budget == 2 * 2 + 2 + 6


@pytest.mark.parametrize("times", [(11, 12, 13), (1, 2, 3)], ids=["enqueued after it", "over before it"])
def test_what_was_not_alive_at_the_fault_is_no_backlog(times):
    """It says nothing of how long a backlog takes."""
    names = [None, "READY", "RUNNING", "SUCCESSFUL"]
    assert drained([move(*names[n : n + 2], second) for n, second in enumerate(times)]) is None


def test_what_was_given_back_is_not_judged_by_a_later_attempt():
    """A claim that nobody heard of is taken back by its own worker; that the next one is lost is another matter."""
    moves = [taken(5, 7), move("RUNNING", "READY", 6), move("READY", "RUNNING", 8), move("RUNNING", "WAITING", 20)]
    evidence = Evidence(moves={1: moves}, attempts={1: [attempt("lost", began=8, ended=20)]})

    assert not list(rules.nobody_is_rescued_too_early(evidence))


def test_a_recovery_that_the_next_fault_cuts_short_counts_until_that_begins():
    """How long the next fault lasts is not how long the one before took to be over."""
    wounds = [Wound(10.0, 1, began_at=8.0), Wound(15.0, 1, began_at=11.0)]

    assert recovery.recoveries(Evidence(), wounds, [("one", 15.5), ("two", 10.25)]) == [0.25, 0.5, 1.0]


def test_a_fault_that_nobody_felt_is_a_complaint():
    """Where there is one kind of fault each of them counts, and in a mix more than a quarter of a kind."""
    accepted = Evidence(outcomes={number: {"what": "ok", "job": number} for number in range(20)})

    def about(*bites, kind=""):
        wounds = [Wound(1.0, number, kind=kind) for number in bites]
        return list(complaints.of_harmless_faults(wounds, accepted, 20))

    assert about(1, 0) == ["harmless: nobody felt fault [2] of 2"]
    assert about(0, 1, 1, 1, kind="stop") == []
    assert about(0, 1, 1, kind="stop") == ["harmless: nobody felt fault [1] of 3 stop"]


def test_a_person_who_goes_on_while_the_ledger_is_read_is_understood(tmp_path):
    """What is on record as done was asked for, though it was asked for, and done, between two readings."""

    class BusyLedger(Ledger):
        def read(self, *names):
            facts = super().read(*names)
            self.write("act", act=2, verb="replay")
            self.write("done", act=2)
            return facts

    acts = BusyLedger(tmp_path / "acts")
    acts.write("act", act=1, verb="cancel")
    acts.write("done", act=1)

    assert Drill.done_by_the_person(SimpleNamespace(acts=acts)) == {"cancel"}
