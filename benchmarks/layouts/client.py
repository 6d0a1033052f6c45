"""Drain a design as a worker would: settle the last batch and claim the next, in one round trip and one transaction."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from .designs import Design
from .statements import GUARDS

KNOWN = "{shop.tasks.charge}"
# A look from the head of the index for what landed below the floor may cost this share of the time.
RESCAN_SHARE = 0.05


@dataclass
class Floor:
    """Remember, for each priority, the last row that was claimed, so that the next claim starts there.

    An old snapshot keeps every dead index entry below it; what lands below it a rescan finds, bounded by its cost.
    """

    position: dict[int, tuple[str, int]]
    rescan_due_at: float = 0.0
    rescan_costs: list[float] = field(default_factory=list)

    @classmethod
    def from_head(cls, priorities: int) -> Floor:
        return cls(dict.fromkeys(reversed(range(priorities)), ("-infinity", 0)))

    def parameters(self) -> dict[str, str]:
        return {
            "priorities": array(self.position),
            "run_afters": array(f'"{run_after}"' for run_after, _ in self.position.values()),
            "floor_ids": array(job_id for _, job_id in self.position.values()),
        }

    def raise_to(self, rows: list[tuple]) -> None:
        for row in rows:
            here = (row[8], row[0])
            if self.position[row[7]][1] == 0 or here > self.position[row[7]]:
                self.position[row[7]] = here


class Client:
    """One connection that drains one design."""

    def __init__(self, dsn: str, design: Design, size: int, *, floor_priorities: int = 0) -> None:
        self.design, self.size = design, size
        self.connection = psycopg.connect(dsn, autocommit=True, prepare_threshold=0)
        self.settling, self.claiming = self.connection.cursor(), self.connection.cursor()
        self.worker, self.token, self.ids = str(uuid.uuid4()), "", []
        # Others may take turns with this client: the rescans of its floor go by its own time.
        self.settled, self.busy_seconds = 0, 0.0
        self.floor = Floor.from_head(floor_priorities) if floor_priorities else None
        if not design.pipelined:
            self.connection.execute(GUARDS.replace("true)", "false)"))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exception: object) -> None:
        self.connection.close()

    def cycle(self) -> int:
        """Settle what was claimed last and claim the next batch; return how many were claimed."""
        began = time.perf_counter()
        rescan = self.floor is not None and self.busy_seconds >= self.floor.rescan_due_at
        settle, claim = self.settle_parameters(), self.claim_parameters(rescan)
        if self.design.pipelined:
            with self.connection.pipeline():
                self.connection.execute("BEGIN")
                self.connection.execute(self.design.guards)
                if self.ids:
                    self.settling.execute(self.design.settle, settle)
                self.claiming.execute(self.claim_statement, claim)
                self.connection.execute("COMMIT")
            if self.ids and self.settling.fetchone()[0] != len(self.ids):
                raise RuntimeError(f"{self.design.name}: a settle was refused though nobody else holds its token")
        else:
            if self.ids:
                self.settling.execute(self.design.settle, settle)
            self.claiming.execute(self.claim_statement, claim)
        rows = self.claiming.fetchall()
        self.settled += len(self.ids)
        self.ids = [row[0] for row in rows]
        cost = time.perf_counter() - began
        self.busy_seconds += cost
        if self.floor:
            self.floor.raise_to(rows)
            if rescan:
                self.floor.rescan_costs.append(cost)
                self.floor.rescan_due_at = self.busy_seconds + max(1.0, cost / RESCAN_SHARE)
        return len(rows)

    @property
    def claim_statement(self) -> str:
        return self.design.claim_above_floor if self.floor else self.design.claim

    def settle_parameters(self) -> dict[str, str]:
        count = len(self.ids)
        return {"ids": array(self.ids), "tokens": array([self.token] * count), "results": array(['"null"'] * count)}

    def claim_parameters(self, rescan: bool = False) -> dict[str, object]:
        self.token = str(uuid.uuid4())
        parameters: dict[str, object] = {"token": self.token, "worker": self.worker, "size": self.size, "known": KNOWN}
        if self.floor:
            floor = Floor.from_head(len(self.floor.position)) if rescan else self.floor
            parameters |= floor.parameters()
        return parameters

    def probe(self) -> dict[str, object]:
        """Explain one claim and one settle of a full batch, and undo them: buffers per job, and the plans' scans."""
        held_ids, held_token = self.ids, self.token
        self.connection.execute("BEGIN")
        self.connection.execute(self.design.guards)
        claimed = self.explain(self.claim_statement, self.claim_parameters())
        self.connection.execute("ROLLBACK")
        self.connection.execute("BEGIN")
        self.connection.execute(self.design.guards)
        self.ids = [row[0] for row in self.connection.execute(self.claim_statement, self.claim_parameters()).fetchall()]
        settled = self.explain(self.design.settle, self.settle_parameters())
        count = max(1, len(self.ids))
        self.connection.execute("ROLLBACK")
        self.ids, self.token = held_ids, held_token
        return {
            "claim_buffers": buffers(claimed) / count,
            "settle_buffers": buffers(settled) / count,
            "plans": f"claim: {scans(claimed)}; settle: {scans(settled)}",
        }

    def explain(self, statement: str, parameters: dict[str, object]) -> dict:
        row = self.connection.execute("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement, parameters).fetchone()
        plan = row[0] if isinstance(row[0], list) else json.loads(row[0])
        return plan[0]["Plan"]

    def backend_seconds(self) -> float:
        """Return the CPU time of this connection's server process, or nan where it is not on this Linux machine."""
        try:
            return int(Path(f"/proc/{self.connection.info.backend_pid}/schedstat").read_text().split()[0]) / 1e9
        except OSError:
            return float("nan")


def array(items: object) -> str:
    """Return a PostgreSQL array literal: cheaper than a list that psycopg adapts item by item."""
    return "{" + ",".join(map(str, items)) + "}"


def buffers(plan: dict) -> int:
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


def scans(plan: dict) -> str:
    """Name the scans, sorts and joins of a plan, innermost last."""
    here = [" ".join(filter(None, (plan["Node Type"], plan.get("Index Name") or plan.get("Relation Name"))))]
    if (
        not any(word in plan["Node Type"] for word in ("Scan", "Sort", "Hash", "Merge"))
        or "CTE" in plan["Node Type"]
        or "Function" in plan["Node Type"]
    ):
        here = []
    return ", ".join(here + [name for child in plan.get("Plans", ()) if (name := scans(child))])
