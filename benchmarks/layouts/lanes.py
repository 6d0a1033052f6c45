"""Give each design a schema of its own, and a stop-watch that runs only while it is that design's turn."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager

from psycopg.conninfo import make_conninfo

from .client import Client
from .designs import Design
from .statements import GUARDS


class Lane:
    """One design in one schema, and what its turns cost."""

    def __init__(self, dsn: str, design: Design, number: int, *, size: int, floor_priorities: int = 0) -> None:
        self.design, self.size = design, design.size or size
        self.name = design.name + (" + floor" if floor_priorities else "")
        self.dsn = make_conninfo(dsn, options=f"-c search_path=lane_{number}")
        self.client = Client(self.dsn, design, self.size, floor_priorities=floor_priorities)
        self.connection = self.client.connection
        self.connection.execute(
            f"DROP SCHEMA IF EXISTS lane_{number} CASCADE; CREATE SCHEMA lane_{number}; {design.ddl}", prepare=False
        )
        self.loaded, self.load_cpu, self.load_wal = 0, 0.0, 0
        self.seconds, self.cpu, self.wal, self.jobs, self.wanted = 0.0, 0.0, 0, 0, 0
        self.tenths: list[int] = []
        self.tenths_cpu: list[float] = []
        self.tenth_began, self.tenth_cpu_began = 0.0, 0.0
        self.probe_at: list[int] = []
        self.probes: list[dict[str, object]] = []
        self.promotions: list[float] = []

    def __enter__(self) -> Lane:
        return self

    def __exit__(self, *exception: object) -> None:
        self.connection.close()

    def load(
        self,
        count: int,
        status: str,
        run_after: str,
        *,
        waiting_for: str = "",
        priorities: int = 1,
        is_measured: bool = False,
    ) -> None:
        """Insert jobs of one status."""
        if not count:
            return
        cpu, wal = self.client.backend_seconds(), self.position()
        statement = self.design.load.format(
            count=count,
            status=f"'{status}'",
            run_after=run_after,
            waiting_for=f"'{waiting_for}'",
            priorities=priorities,
        )
        self.connection.execute(statement, prepare=False)
        if is_measured:
            self.loaded += count
            self.load_cpu += self.client.backend_seconds() - cpu
            self.load_wal += self.position() - wal

    def cost_of_load(self) -> dict[str, object]:
        return {"load_cpu_us": self.load_cpu / self.loaded * 1e6, "load_wal": self.load_wal / self.loaded}

    def start(self, wanted: int) -> None:
        """Say how many jobs will be drained; a look at the plans is taken half-way and near the end."""
        self.wanted = wanted
        self.probe_at = [wanted // 2, wanted - 3 * self.size]

    @property
    def is_drained(self) -> bool:
        return self.client.settled >= self.wanted

    @contextmanager
    def watch(self) -> Iterator[None]:
        wal, cpu, began = self.position(), self.client.backend_seconds(), time.perf_counter()
        yield
        self.seconds += time.perf_counter() - began
        self.cpu += self.client.backend_seconds() - cpu
        self.wal += self.position() - wal

    def work(self, jobs: int) -> None:
        """Drain some jobs on the watch."""
        until = min(self.wanted, self.client.settled + jobs)
        before = self.client.settled
        with self.watch():
            while self.client.settled < until:
                self.client.cycle()
        self.jobs += self.client.settled - before
        tenth = self.wanted / 10
        while self.client.settled >= tenth * (len(self.tenths) + 1):
            self.tenths.append(round(tenth / max(1e-6, self.seconds - self.tenth_began)))
            self.tenths_cpu.append(round((self.cpu - self.tenth_cpu_began) / tenth * 1e6, 1))
            self.tenth_began, self.tenth_cpu_began = self.seconds, self.cpu
        if self.probe_at and self.client.settled >= self.probe_at[0]:
            self.probe_at.pop(0)
            if self.client.settled + 2 * self.size <= self.wanted:
                self.probes.append(self.client.probe())

    def renew(self) -> None:
        """Renew the leases of the batch in hand on the watch."""
        with self.watch():
            renewed = self.connection.execute(self.design.renew, self.client.settle_parameters()).fetchall()
        self.jobs += len(renewed)
        if len(renewed) != len(self.client.ids):
            raise RuntimeError(f"{self.name}: a lease was not renewed though nobody else holds it")

    def promote_every_second(self) -> None:
        """Promote due jobs, on the watch, once for each second that it ran."""
        if self.design.promote and self.seconds > len(self.promotions) + 1:
            with self.watch():
                self.promotions.append(self.timed(self.design.promote))

    def result(self) -> dict[str, object]:
        """Return the rates and costs of the turns taken."""
        result: dict[str, object] = {"design": self.name, "jobs": self.jobs, "rate": self.jobs / self.seconds}
        result |= {"cpu_us": self.cpu / self.jobs * 1e6, "wal": self.wal / self.jobs}
        result |= {"tenths": self.tenths, "tenths_cpu_us": self.tenths_cpu}
        if self.design.rescue_since_last_scan:
            # Before the full scan, which would clear the dead entries out of the way.
            result["rescue_floor_ms"] = self.timed(self.design.rescue_since_last_scan) * 1e3
        if self.design.rescue:
            result["rescue_ms"] = self.timed(self.design.rescue) * 1e3
        if self.client.floor:
            result["rescan_ms"] = [round(cost * 1e3) for cost in self.client.floor.rescan_costs]
        if self.promotions:
            result["promote_ms"] = max(self.promotions) * 1e3
        if self.probes:
            for name in ("claim_buffers", "settle_buffers"):
                result[name] = max(probe[name] for probe in self.probes)
                result[name + "_by_probe"] = [round(probe[name], 1) for probe in self.probes]
            result["plans"] = " | ".join(dict.fromkeys(str(probe["plans"]) for probe in self.probes))
        return result

    def drain_by_processes(self, clients: int) -> dict[str, object]:
        """Drain by several processes that start together; the run ends with the last."""
        context = multiprocessing.get_context("fork")
        barrier, answers = context.Barrier(clients), context.SimpleQueue()
        processes = [context.Process(target=drain_beside, args=(self, barrier, answers)) for _ in range(clients)]
        for process in processes:
            process.start()
        spans = [answers.get() for _ in processes]
        for process in processes:
            process.join()
        jobs = sum(span[2] for span in spans)
        seconds = max(span[1] for span in spans) - min(span[0] for span in spans)
        return {
            "design": self.name,
            "jobs": jobs,
            "rate": jobs / seconds,
            "cpu_us": sum(span[3] for span in spans) / jobs * 1e6,
        }

    def sizes(self, rows: int) -> dict[str, object]:
        """Return bytes per job of tables and indexes, and the share of HOT updates."""
        tables, indexes, updates, hot = self.statistics()
        return {"table_bytes": tables / rows, "index_bytes": indexes / rows, "hot": hot / max(1, updates)}

    def hot_renewals(self) -> dict[str, object]:
        """Return the share of HOT updates among renewals: each job was updated once before, by its claim."""
        _, _, updates, hot = self.statistics()
        return {"hot": hot / (updates - len(self.client.ids))}

    def statistics(self) -> tuple[int, int, int, int]:
        self.connection.execute("SELECT pg_stat_force_next_flush()")
        sums = self.connection.execute(
            """SELECT sum(pg_table_size(relid)), sum(pg_indexes_size(relid)), sum(n_tup_upd), sum(n_tup_hot_upd)
               FROM pg_stat_user_tables WHERE schemaname = current_schema"""
        ).fetchone()
        return tuple(map(int, sums))

    def vacuum(self) -> None:
        for (table,) in self.connection.execute(
            "SELECT relname FROM pg_stat_user_tables WHERE schemaname = current_schema"
        ).fetchall():
            self.connection.execute(f"VACUUM {table}", prepare=False)

    def position(self) -> int:
        """Return how many bytes of WAL the server ever inserted."""
        return int(self.connection.execute("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')").fetchone()[0])

    def timed(self, statement: str) -> float:
        """Run a chore under the guards; return its seconds."""
        began = time.perf_counter()
        self.connection.execute("BEGIN")
        self.connection.execute(GUARDS)
        self.connection.execute(statement)
        self.connection.execute("COMMIT")
        return time.perf_counter() - began


def drain_beside(lane: Lane, barrier: object, answers: object) -> None:
    with Client(lane.dsn, lane.design, lane.size) as client:
        barrier.wait()
        began, cpu = time.perf_counter(), client.backend_seconds()
        while client.cycle() or client.ids:
            pass
        answers.put((began, time.perf_counter(), client.settled, client.backend_seconds() - cpu))
