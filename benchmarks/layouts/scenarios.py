"""Name what lies in a table before it is drained, and run several designs through it side by side."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

import psycopg

from .designs import Design
from .lanes import Lane

SOON = "now() - interval '1 hour' + g * interval '1 ms'"
# 200 of these fall due in each second of the run.
LATER = "now() + g * interval '5 ms'"
LOAD_TURNS = 10
SLICE_JOBS = 2_000


@dataclass(frozen=True)
class Scenario:
    """What lies in the table, how much of it is drained, and for how long at most."""

    name: str
    ready: int
    finished: int = 0
    future: int = 0
    drain: int | None = None
    priorities: int = 1
    old_snapshot: bool = False
    most_seconds: float = 120.0

    @property
    def wanted(self) -> int:
        return self.drain or self.ready

    @property
    def rows(self) -> int:
        return self.ready + self.finished + self.future


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("small", ready=10_000),
        Scenario("base", ready=30_000),
        Scenario("deep", ready=1_000_000, drain=60_000),
        Scenario("finished", ready=30_000, finished=1_000_000),
        Scenario("future", ready=30_000, future=1_000_000),
        Scenario("snapshot", ready=300_000, priorities=3, old_snapshot=True, most_seconds=60.0),
    )
}

# How many jobs run, and how often their leases are renewed.
RENEWALS = {"renew": (200, 100), "renew-many": (10_000, 5)}


def measure(
    dsn: str, designs: list[tuple[Design, bool]], scenario: Scenario, *, size: int, clients: int = 1
) -> list[dict[str, object]]:
    """Fill and drain all designs in turns of some 100 ms, so that a slow second hits them alike.

    designs holds pairs of a design and whether its claims start at a floor. Several clients at once take no turns:
    their designs run one after the other.
    """
    with ExitStack() as stack:
        lanes = [
            stack.enter_context(
                Lane(dsn, design, number, size=size, floor_priorities=scenario.priorities if floor else 0)
            )
            for number, (design, floor) in enumerate(designs)
        ]
        fill(lanes, scenario)
        if scenario.rows > 100_000:
            # Without it a checkpoint would fall into some turns and not into others.
            lanes[0].connection.execute("CHECKPOINT")
        if scenario.old_snapshot:
            stack.enter_context(OldSnapshot(dsn))
        if clients > 1:
            drained = [lane.drain_by_processes(clients) for lane in lanes]
        else:
            drain(lanes, scenario)
            drained = [lane.result() for lane in lanes]
        facts = {"scenario": scenario.name, "size": size, "clients": clients}
        return [
            facts | lane.cost_of_load() | result | lane.sizes(scenario.rows)
            for lane, result in zip(lanes, drained, strict=True)
        ]


def fill(lanes: list[Lane], scenario: Scenario) -> None:
    """Load all lanes in turns; no ANALYZE, as in a queue that fills suddenly."""
    lanes[0].connection.execute("CHECKPOINT")
    for turn in range(LOAD_TURNS):
        for lane in taking_turns(lanes, turn):
            lane.load(scenario.finished // LOAD_TURNS, "SUCCESSFUL", SOON)
            lane.load(scenario.future // LOAD_TURNS, "WAITING", LATER, waiting_for="time")
    for turn in range(LOAD_TURNS):
        for lane in taking_turns(lanes, turn):
            lane.load(scenario.ready // LOAD_TURNS, "READY", SOON, priorities=scenario.priorities, is_measured=True)


def drain(lanes: list[Lane], scenario: Scenario) -> None:
    """Drain all lanes in turns until each has its jobs or its time is over."""
    turn = 0
    for lane in lanes:
        lane.start(scenario.wanted)
    while running := [lane for lane in lanes if not lane.is_drained and lane.seconds < scenario.most_seconds]:
        for lane in taking_turns(running, turn):
            lane.work(SLICE_JOBS)
            if scenario.future:
                lane.promote_every_second()
        turn += 1


def taking_turns(lanes: list[Lane], turn: int) -> list[Lane]:
    """Let another lane begin each turn, and walk back every other turn."""
    first = turn // 2 % len(lanes)
    order = lanes[first:] + lanes[:first]
    return order if turn % 2 == 0 else order[::-1]


class OldSnapshot:
    """Hold a REPEATABLE READ snapshot in another session, as a report or a dump does."""

    def __init__(self, dsn: str) -> None:
        self.connection = psycopg.connect(dsn)

    def __enter__(self) -> None:
        self.connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        self.connection.execute("SELECT count(*) FROM pg_class")

    def __exit__(self, *exception: object) -> None:
        self.connection.close()


def measure_renewals(dsn: str, designs: list[Design], *, running: int, times: int) -> list[dict[str, object]]:
    """Renew the leases of `running` jobs `times` times, among 10,000 ready ones."""
    with ExitStack() as stack:
        lanes = [stack.enter_context(Lane(dsn, design, number, size=running)) for number, design in enumerate(designs)]
        fill(lanes, SCENARIOS["small"])
        for lane in lanes:
            lane.start(running)
            lane.client.cycle()
        for turn in range(times):
            for lane in taking_turns(lanes, turn):
                lane.renew()
        return [
            {"scenario": f"renew {running}", "size": running, "clients": 1} | lane.result() | lane.hot_renewals()
            for lane in lanes
        ]


def measure_churn(
    dsn: str, designs: list[Design], *, size: int = 200, waves: int = 10, wave: int = 10_000
) -> list[dict[str, object]]:
    """Enqueue and drain wave after wave with a VACUUM between: the bytes that a kept job costs in the long run."""
    with ExitStack() as stack:
        lanes = [stack.enter_context(Lane(dsn, design, number, size=size)) for number, design in enumerate(designs)]
        for lane in lanes:
            lane.start(0)
        for number in range(waves):
            for lane in taking_turns(lanes, number):
                lane.load(wave, "READY", SOON, is_measured=True)
                lane.wanted += wave
                while not lane.is_drained:
                    lane.work(SLICE_JOBS)
                lane.vacuum()
        facts = {"scenario": "churn", "size": size, "clients": 1}
        return [facts | lane.cost_of_load() | lane.result() | lane.sizes(wave * waves) for lane in lanes]
