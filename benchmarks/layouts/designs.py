"""Name every layout that is measured: its DDL, its statements, how it is filled."""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import statements as sql
from . import tables
from .tables import Shape

DEFAULT = Shape()
FINISHED = "(finished_at, id) WHERE status IN ('SUCCESSFUL', 'CANCELLED')"

CHECKS = f"""
ALTER TABLE job ADD CHECK (status IN {tables.STATUSES}), ADD CHECK (status <> 'RUNNING' OR lease_token IS NOT NULL),
 ADD CHECK (attempt_count >= 0), ADD CHECK (failure_count >= 0), ADD CHECK (max_attempts > 0);"""
FOREIGN_KEY = "ALTER TABLE attempt ADD FOREIGN KEY (job_id) REFERENCES job DEFERRABLE INITIALLY DEFERRED;"
# Partial indexes that a plain job never enters: their price is that each new row version asks whether it should.
NEVER_ENTERED = (
    "(id) WHERE status = 'FAILED'",
    "(id) WHERE cancel_requested_at IS NOT NULL",
    "(order_key, id) WHERE order_key IS NOT NULL",
    "(concurrency_key, id) WHERE concurrency_key IS NOT NULL AND status IN ('READY', 'RUNNING')",
    "(expires_at, id) WHERE expires_at IS NOT NULL AND status IN ('WAITING', 'READY')",
)
DONE = "{status} = 'SUCCESSFUL'"
NUMBERS = f"FROM generate_series(1, {{count}}) g, (SELECT CASE WHEN {DONE} THEN now() END AS at) done"
LOAD_ATTEMPTS = f"""INSERT INTO attempt (job_id, number, worker_id, started_at, finished_at, outcome)
 SELECT id, 1, gen_random_uuid(), now(), now(), 'succeeded' FROM job
 WHERE {DONE} AND id > (SELECT coalesce(max(job_id), 0) FROM attempt) ORDER BY id;"""


@dataclass(frozen=True)
class Design:
    """One layout; all but the name are SQL.

    `load` takes {count}, {priorities}, {status}, {run_after} and {waiting_for}.
    """

    name: str
    ddl: str
    load: str
    claim: str
    settle: str
    renew: str = ""
    promote: str = ""
    rescue: str = ""
    rescue_since_last_scan: str = ""
    claim_above_floor: str = ""
    # False: claim and finish commit one by one, without a lease, an attempt or guards in the transaction.
    pipelined: bool = True
    guards: str = sql.GUARDS
    # A baseline keeps its own batch, whatever the others use.
    size: int | None = None


def load_jobs(shape: Shape) -> str:
    """Return the SQL that fills the job table, with an attempt for each job that is finished."""
    names = ", ".join(f"'{name}'" for name in tables.STATUSES)
    status = "{status}" if shape.text_statuses else f"(array_position(ARRAY[{names}], {{status}}) - 1)"
    return f"""INSERT INTO job (task, priority, run_after, status, waiting_for, kwargs,
   attempt_count, started_at, last_attempted_at, finished_at, worker_id)
 SELECT 'shop.tasks.charge', g % {{priorities}}, {{run_after}}, {status}, {{waiting_for}},
   jsonb_build_object('invoice_id', g), ({DONE})::integer, done.at, done.at, done.at,
   CASE WHEN {DONE} THEN gen_random_uuid() END {NUMBERS};
 {LOAD_ATTEMPTS}"""


def load_jobs_and_entries() -> str:
    """Return the SQL that fills the job table, and the narrow table with those that are not finished."""
    return f"""WITH new AS (INSERT INTO job (task, priority, run_after, status, kwargs,
   attempt_count, started_at, last_attempted_at, finished_at)
 SELECT 'shop.tasks.charge', g % {{priorities}}, {{run_after}}, {{status}}, jsonb_build_object('invoice_id', g),
   ({DONE})::integer, done.at, done.at, done.at {NUMBERS} RETURNING *)
 INSERT INTO entry (job_id, priority, status, waiting_for, run_after, expires_at, queue_name, backend, task, unique_key)
 SELECT id, priority, status, {{waiting_for}}, run_after, expires_at, queue_name, backend, task, unique_key
 FROM new WHERE NOT ({DONE});
 {LOAD_ATTEMPTS}"""


def plain(name: str, shape: Shape = DEFAULT) -> Design:
    """Keep all in one job table and write the attempt when it ends."""
    return Design(
        name=name,
        ddl=tables.one_table(shape),
        load=load_jobs(shape),
        claim=sql.claim(shape),
        settle=sql.settle(shape),
        renew=sql.renew(),
        promote=sql.promote(shape),
        rescue=sql.rescue(shape),
        rescue_since_last_scan=sql.rescue_since_last_scan(shape) if "lease" in shape.running_index else "",
        claim_above_floor=sql.claim(shape, sql.pick_above_floor(shape)),
    )


def hot(name: str, shape: Shape = DEFAULT) -> Design:
    """Keep what claims need in a narrow table of live jobs."""
    return Design(
        name=name,
        ddl=tables.hot_table(shape),
        load=load_jobs_and_entries(),
        claim=sql.hot_claim(),
        settle=sql.HOT_SETTLE,
        renew=sql.renew("entry", "job_id"),
        promote=sql.promote(shape, "entry", "job_id"),
        rescue=sql.rescue(shape, "entry", "job_id"),
        claim_above_floor=sql.hot_claim(sql.pick_above_floor(shape, "entry", "job_id")),
    )


def extra(name: str, *indexes: str) -> Design:
    return plain(name, Shape(extra_indexes=indexes))


RAW = Design(
    name="raw",
    ddl=tables.RAW,
    claim=sql.RAW_CLAIM,
    settle=sql.RAW_FINISH,
    pipelined=False,
    size=100,
    load="""INSERT INTO raw_job (status, kwargs)
 SELECT CASE {status} WHEN 'READY' THEN 1 WHEN 'WAITING' THEN 0 ELSE 3 END, jsonb_build_object('invoice_id', g)
 FROM generate_series(1, {count}) g;""",
)
PLAIN = plain("plain")

DESIGNS = {
    design.name: design
    for design in (
        RAW,
        PLAIN,
        plain("running-by-lease", Shape(running_index="(lease_expires_at, id)")),
        plain("running-by-lease-only", Shape(running_index="(lease_expires_at)")),
        plain("composite-attempt", Shape(surrogate_attempt_id=False)),
        plain("smallint-status", Shape(text_statuses=False)),
        plain("fillfactor-70", Shape(fillfactor=70)),
        plain("fillfactor-50", Shape(fillfactor=50)),
        replace(
            PLAIN,
            name="attempt-at-claim",
            claim=sql.claim_with_attempt(DEFAULT),
            settle=sql.settle_with_attempt(DEFAULT),
        ),
        replace(PLAIN, name="claim-by-place", claim=sql.claim_by_place(DEFAULT)),
        replace(PLAIN, name="without-guards", guards="SELECT 1"),
        replace(PLAIN, name="status-in-settle", settle=sql.settle(DEFAULT, also="AND j.status = 'RUNNING'")),
        hot("hot"),
        hot("hot-70", Shape(fillfactor=70)),
        replace(PLAIN, name="checks", ddl=PLAIN.ddl + CHECKS),
        replace(PLAIN, name="attempt-foreign-key", ddl=PLAIN.ddl + FOREIGN_KEY),
        plain("without-running", Shape(running_index="")),
        plain("without-waiting", Shape(waiting_index=False)),
        plain("without-unique", Shape(unique_index=False)),
        plain("without-attempt-unique", Shape(attempt_unique=False)),
        extra("finished", FINISHED),
        extra("finished-brin", "USING brin (finished_at)"),
        extra("status-id", "(status, id DESC)"),
        extra("queue-id", "(queue_name, id DESC)"),
        extra("task-id", "(task, id DESC)"),
        extra("five-never-entered", *NEVER_ENTERED),
        extra("all-four", FINISHED, "(status, id DESC)", "(queue_name, id DESC)", "(task, id DESC)"),
    )
}
