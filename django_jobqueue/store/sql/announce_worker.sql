-- moves      nothing of a job: writes that a worker is alive, or has stopped
-- index      the primary key of the workers
-- safe because  each worker writes its own row only
INSERT INTO {worker} AS worker (
    id, backend, hostname, pid, queues, tasks, processes, threads, coroutines, running, stale_refused, started_at, last_seen_at
) VALUES (
    %(id)s::uuid, %(backend)s, %(hostname)s, %(pid)s, %(queues)s::jsonb, %(tasks)s::jsonb, %(processes)s, %(threads)s, %(coroutines)s,
    %(running)s, %(stale_refused)s, statement_timestamp(), statement_timestamp()
)
ON CONFLICT (id) DO UPDATE
SET running = EXCLUDED.running,
    stale_refused = EXCLUDED.stale_refused,
    last_seen_at = statement_timestamp(),
    stopped_at = CASE WHEN %(stopped)s THEN statement_timestamp() END
RETURNING 1
