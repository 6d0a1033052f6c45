"""The SQL of claim, settle, renew, promote and rescue for each layout.

All take the same parameters: ids, tokens, results (array literals of the last batch), token, worker, size, known.
"""

from __future__ import annotations

from .tables import Shape

# On a table without statistics the planner else reads and sorts every ready row for each batch.
GUARDS = "SELECT " + ", ".join(
    f"set_config('enable_{plan}', 'off', true)" for plan in ("bitmapscan", "sort", "seqscan", "hashjoin", "mergejoin")
)
# Where no other plan is left, one that is switched off costs 1e10 on paper, which starts the compiler for nothing.
GUARDS += ", set_config('jit', 'off', true)"

DUE = "run_after <= now() AND task = ANY(%(known)s::varchar[]) AND (expires_at IS NULL OR expires_at > now())"
ENDED = "unnest(%(ids)s::bigint[], %(tokens)s::uuid[], %(results)s::jsonb[]) AS ended (id, token, result)"
LEASED = "lease_token = %(token)s::uuid, lease_expires_at = now() + interval '30 s', worker_id = %(worker)s::uuid"
ANSWER = """j.id, j.attempt_count, j.task, j.version, j.args::text, j.kwargs::text, j.enqueued_at::text,
   j.priority, j.run_after::text"""


def pick(shape: Shape) -> str:
    return f"""SELECT id FROM job WHERE status = {shape.status("READY")} AND {DUE}
   ORDER BY priority DESC, run_after, id LIMIT %(size)s::integer FOR UPDATE SKIP LOCKED"""


def pick_above_floor(shape: Shape, table: str = "job", key: str = "id") -> str:
    """Start each priority at the last row that was claimed, past the dead entries that an old snapshot keeps."""
    return f"""SELECT above.{key}
   FROM unnest(%(priorities)s::smallint[], %(run_afters)s::timestamptz[], %(floor_ids)s::bigint[])
     AS floor (priority, run_after, id)
   CROSS JOIN LATERAL (SELECT {key} FROM {table}
     WHERE status = {shape.status("READY")} AND priority = floor.priority
     AND (run_after, {key}) > (floor.run_after, floor.id) AND {DUE}
     ORDER BY run_after, {key} LIMIT %(size)s::integer FOR UPDATE SKIP LOCKED) AS above LIMIT %(size)s::integer"""


def claim(shape: Shape, picked: str | None = None) -> str:
    return f"""UPDATE job j SET status = {shape.status("RUNNING")}, {LEASED},
   attempt_count = j.attempt_count + 1, last_attempted_at = now(), started_at = coalesce(j.started_at, now())
   WHERE j.id = ANY(ARRAY({picked or pick(shape)})) RETURNING {ANSWER}"""


def claim_by_place(shape: Shape) -> str:
    """Update the rows where they were found instead of through the primary key.

    A row that another worker changed meanwhile is locked in its new version, which the statement's snapshot cannot see
    at its new place: it is left READY for the next claim.
    """
    return claim(shape, pick(shape).replace("SELECT id", "SELECT ctid")).replace("j.id = ANY", "j.ctid = ANY")


def finish(shape: Shape, also: str = "") -> str:
    # No condition on status: the token implies RUNNING, and naming the status invites the running index,
    # which is full of dead entries.
    return f"""UPDATE job j SET status = {shape.status("SUCCESSFUL")}, finished_at = now(), result = ended.result,
   lease_token = NULL, lease_expires_at = NULL
   FROM {ENDED} WHERE j.id = ended.id AND j.lease_token = ended.token {also}
   RETURNING j.id, j.attempt_count, j.worker_id, j.last_attempted_at"""


def settle(shape: Shape, also: str = "") -> str:
    return f"""WITH settled AS ({finish(shape, also)}),
 attempted AS (INSERT INTO attempt (job_id, number, worker_id, started_at, finished_at, outcome)
   SELECT id, attempt_count, worker_id, last_attempted_at, now(), 'succeeded' FROM settled)
 SELECT count(*) FROM settled"""


def claim_with_attempt(shape: Shape) -> str:
    return f"""WITH claimed AS ({claim(shape)}),
 attempted AS (INSERT INTO attempt (job_id, number, worker_id, started_at)
   SELECT id, attempt_count, %(worker)s::uuid, now() FROM claimed)
 SELECT * FROM claimed"""


def settle_with_attempt(shape: Shape) -> str:
    return f"""WITH settled AS ({finish(shape)}),
 attempted AS (UPDATE attempt SET finished_at = now(), outcome = 'succeeded' FROM settled
   WHERE attempt.job_id = settled.id AND attempt.number = settled.attempt_count)
 SELECT count(*) FROM settled"""


def renew(table: str = "job", key: str = "id") -> str:
    return f"""WITH mine AS (SELECT j.{key} FROM unnest(%(ids)s::bigint[], %(tokens)s::uuid[]) AS held (id, token)
   JOIN {table} j ON j.{key} = held.id WHERE j.lease_token = held.token FOR NO KEY UPDATE OF j SKIP LOCKED)
 UPDATE {table} j SET lease_expires_at = now() + interval '30 s' FROM mine
   WHERE j.{key} = mine.{key} RETURNING j.{key}"""


def promote(shape: Shape, table: str = "job", key: str = "id") -> str:
    return f"""UPDATE {table} SET status = {shape.status("READY")}, waiting_for = ''
   WHERE {key} = ANY(ARRAY(SELECT {key} FROM {table}
     WHERE status = {shape.status("WAITING")} AND waiting_for IN ('time', 'retry', 'snooze')
     AND run_after <= now() ORDER BY run_after, {key} LIMIT 1000 FOR UPDATE SKIP LOCKED))"""


def rescue(shape: Shape, table: str = "job", key: str = "id") -> str:
    return f"""SELECT {key} FROM {table} WHERE status = {shape.status("RUNNING")} AND lease_expires_at < now()
   LIMIT 100 FOR UPDATE SKIP LOCKED"""


def rescue_since_last_scan(shape: Shape) -> str:
    """Look only at leases that ran out since shortly before the last scan: nobody sets a lease in the past."""
    return rescue(shape).replace("< now()", "< now() AND lease_expires_at > now() - interval '10 s'")


HOT_PICK = f"""SELECT job_id FROM entry WHERE status = 'READY' AND {DUE}
   ORDER BY priority DESC, run_after, job_id LIMIT %(size)s::integer FOR UPDATE SKIP LOCKED"""


def hot_claim(picked: str = HOT_PICK) -> str:
    return f"""WITH claimed AS (UPDATE entry SET status = 'RUNNING', claimed_at = now(), {LEASED}
   WHERE job_id = ANY(ARRAY({picked})) RETURNING job_id)
 SELECT {ANSWER.replace("j.attempt_count", "j.attempt_count + 1")} FROM claimed JOIN job j ON j.id = claimed.job_id"""


HOT_SETTLE = f"""WITH left_the_queue AS (DELETE FROM entry USING {ENDED}
   WHERE entry.job_id = ended.id AND entry.lease_token = ended.token
   RETURNING entry.job_id, entry.worker_id, entry.claimed_at, ended.result),
 settled AS (UPDATE job j SET status = 'SUCCESSFUL', finished_at = now(), result = q.result,
   attempt_count = j.attempt_count + 1, last_attempted_at = q.claimed_at,
   started_at = coalesce(j.started_at, q.claimed_at)
   FROM left_the_queue q WHERE j.id = q.job_id RETURNING j.id, j.attempt_count, q.worker_id, q.claimed_at),
 attempted AS (INSERT INTO attempt (job_id, number, worker_id, started_at, finished_at, outcome)
   SELECT id, attempt_count, worker_id, claimed_at, now(), 'succeeded' FROM settled)
 SELECT count(*) FROM settled"""

RAW_CLAIM = """UPDATE raw_job SET status = 2 WHERE id = ANY(ARRAY(
   SELECT id FROM raw_job WHERE status = 1 ORDER BY id LIMIT %(size)s::integer FOR UPDATE SKIP LOCKED))
   RETURNING id, kwargs::text"""
RAW_FINISH = "UPDATE raw_job SET status = 3, finished_at = now() WHERE id = ANY(%(ids)s::bigint[])"
